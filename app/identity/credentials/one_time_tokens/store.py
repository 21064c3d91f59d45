"""The queries of links and codes, always inside the tenant."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import insert, select, update
from sqlalchemy.engine import Row

from app.identity.credentials.one_time_tokens.tables import one_time_tokens
from app.identity.directory.accounts import store as accounts_store
from app.identity.platform.context import Context
from app.identity.platform.store.unit import UnitOfWork

P = one_time_tokens.c
OPEN, USED, VOID, REPLACED = "open", "used", "void", "replaced"


@dataclass(frozen=True)
class StoredToken:
    """One link or code, and where it stands."""

    proof_id: str
    kind: str
    uid: str
    subject: str
    code_hash: str | None
    facts: dict[str, Any]
    state: str
    tries: int
    created_at: datetime
    expires_at: datetime


_COLUMNS = tuple(P[name] for name in StoredToken.__dataclass_fields__)


def add(
    context: Context,
    proof_id: str,
    kind: str,
    uid: str,
    subject: str,
    *,
    code_hash: str | None,
    facts: Mapping[str, Any],
    minutes: int,
) -> None:
    """Keep a link, or with `code_hash` a code; older ones of the same kind, account and subject are over."""
    accounts_store.lock(context, uid)  # everybody locks the account first, and its proofs after it
    _replace(context, *_same_recipient(context, kind, uid, subject, is_code=code_hash is not None), P.state == OPEN)
    row = {
        "tenant_id": context.tenant.tenant_id,
        "proof_id": proof_id,
        "kind": kind,
        "is_code": code_hash is not None,
        "uid": uid,
        "subject": subject,
        "code_hash": code_hash,
        "facts": dict(facts),
        "state": OPEN,
        "tries": 0,
        "created_at": context.now,
        "expires_at": context.now + timedelta(minutes=minutes),
    }
    context.work.run(insert(one_time_tokens), row)


def link(context: Context, kind: str, proof_id: str) -> StoredToken | None:
    """Return the link of that digest, whatever became of it."""
    where = (P.tenant_id == context.tenant.tenant_id, P.proof_id == proof_id, P.kind == kind, P.is_code.is_(False))
    return _token(context.work.one(select(*_COLUMNS).where(*where)))


def code(context: Context, kind: str, code_id: str) -> StoredToken | None:
    """Return the code of that id, whatever became of it."""
    where = (P.tenant_id == context.tenant.tenant_id, P.proof_id == code_id[:64], P.kind == kind, P.is_code)
    return _token(context.work.one(select(*_COLUMNS).where(*where)))


def newest_code(context: Context, kind: str, uid: str, subject: str) -> StoredToken | None:
    """Return the code that was sent last, whatever became of it."""
    where = _same_recipient(context, kind, uid, subject, is_code=True)
    last_first = (P.created_at.desc(), P.proof_id)
    return _token(context.work.one(select(*_COLUMNS).where(*where).order_by(*last_first).limit(1)))


def newest_to_address(
    context: Context, kinds: Collection[str], subject: str, *, uid: str | None = None
) -> StoredToken | None:
    """Return what was sent last to an address of these kinds: a code to this account, or anything to anybody."""
    where = [P.tenant_id == context.tenant.tenant_id, P.subject == subject, P.kind.in_(kinds)]
    where += [P.uid == uid, P.is_code] if uid is not None else []
    last_first = (P.created_at.desc(), P.proof_id)
    return _token(context.work.one(select(*_COLUMNS).where(*where).order_by(*last_first).limit(1)))


def sent_since(context: Context, kinds: Collection[str], uid: str, since: datetime) -> list[StoredToken]:
    """Return what was sent to an account after a moment and still stands, tried in vain or not; the oldest first."""
    where = (P.tenant_id == context.tenant.tenant_id, P.uid == uid, P.kind.in_(kinds), P.created_at > since)
    found = context.work.all(select(*_COLUMNS).where(*where, P.state.in_((OPEN, VOID))).order_by(P.created_at))
    return [StoredToken(**row._mapping) for row in found]


def count_attempt(work: UnitOfWork, proof_id: str, now: datetime, most: int) -> int | None:
    """Take one try from a code, before it is compared; returns which it is, None where the code is not open any more."""
    guard = (*_key(work, proof_id), P.state == OPEN, P.expires_at > now, P.tries < most)
    row = work.one(update(one_time_tokens).where(*guard).values(tries=P.tries + 1).returning(P.tries))
    return int(row[0]) if row else None


def uncount_attempt(work: UnitOfWork, proof_id: str) -> None:
    """A try with the right code does not count: what is refused for another reason may come again."""
    work.run(update(one_time_tokens).where(*_key(work, proof_id), P.state == OPEN).values(tries=P.tries - 1))


def void(work: UnitOfWork, proof_id: str) -> None:
    """Close a code for good."""
    work.run(update(one_time_tokens).where(*_key(work, proof_id), P.state == OPEN).values(state=VOID))


def mark_used(context: Context, proof_id: str) -> bool:
    """Mark it used in the call's own transaction; of many at once one is told True."""
    guard = (*_key(context.work, proof_id), P.state == OPEN, P.expires_at > context.now)
    return context.work.changed(update(one_time_tokens).where(*guard).values(state=USED)) > 0


def close_all(context: Context, uid: str, kind: str | None, subject: str | None, but: str | None = None) -> None:
    """End what is open of an account."""
    where = [P.tenant_id == context.tenant.tenant_id, P.uid == uid, P.state == OPEN]
    where += [P.kind == kind] if kind is not None else []
    where += [P.kind != but] if but is not None else []
    where += [P.subject == subject] if subject is not None else []
    _replace(context, *where)


def close_addressed(context: Context, uid: str, kind: str, address: str, until: datetime | None) -> None:
    """End what is open of an account whose subject is that address and a moment; no later than another that lives as long."""
    where = (P.tenant_id == context.tenant.tenant_id, P.uid == uid, P.state == OPEN, P.kind == kind)
    begins = P.subject.startswith(f"{address} ", autoescape=True)
    earlier = () if until is None else (P.expires_at <= until,)
    _replace(context, *where, begins, *earlier)


def close_later(context: Context, kind: str, uid: str, expires_at: datetime) -> None:
    """End what is open of one kind that was sent no earlier than another that lives as long."""
    where = (P.tenant_id == context.tenant.tenant_id, P.uid == uid, P.state == OPEN, P.kind == kind)
    _replace(context, *where, P.expires_at >= expires_at)


def _replace(context: Context, *where: Any) -> None:
    """End several at once, in one order for everybody: names that no account has share an id, and there is nothing to lock before."""
    found = select(P.proof_id).where(*where).order_by(P.proof_id).with_for_update()
    same = (P.tenant_id == context.tenant.tenant_id, P.proof_id.in_(found))
    context.work.run(update(one_time_tokens).where(*same).values(state=REPLACED))


def _key(work: UnitOfWork, proof_id: str) -> tuple[Any, Any]:
    return P.tenant_id == work.tenant_id, P.proof_id == proof_id


def _same_recipient(context: Context, kind: str, uid: str, subject: str, *, is_code: bool) -> tuple[Any, ...]:
    same = (P.tenant_id == context.tenant.tenant_id, P.uid == uid, P.kind == kind, P.subject == subject)
    return (*same, P.is_code.is_(is_code))


def _token(row: Row[Any] | None) -> StoredToken | None:
    return StoredToken(**row._mapping) if row is not None else None
