"""Enrolled credentials in the database, always inside the tenant."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from operator import attrgetter
from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Index,
    LargeBinary,
    String,
    bindparam,
    delete,
    select,
    update,
)
from sqlalchemy.engine import Row
from sqlalchemy.exc import IntegrityError
from sqlalchemy.sql import Select

from app.identity.platform.context import Context
from app.identity.platform.store.compiled_statements import TENANT, Compiled, change_row, changes, insert_row
from app.identity.platform.store.encrypted_columns import encrypted_columns
from app.identity.platform.store.tables import Id, Instant, Json, tenant_table
from app.kit import randomness

credentials = tenant_table(
    "credentials",
    Column("credential_id", Id, primary_key=True),  # 32 hex: the id in lists, never the WebAuthn id
    Column("uid", Id, nullable=False),
    Column("kind", String(24), nullable=False),  # contract.second_factors.FactorKind
    Column("lookup", Id),  # digest of a WebAuthn id or a backup code, to find the row
    Column("sealed", LargeBinary),  # an encrypted secret that must be read back, such as a seed
    Column("facts", Json, nullable=False),
    Column("is_enrolled", Boolean, nullable=False),  # verified once; pending before
    Column("counter", BigInteger, nullable=False, default=0),  # the last TOTP time step or signature counter
    Column("created_at", Instant, nullable=False),
    Column("used_at", Instant),
    Index("ix_credentials_uid", "tenant_id", "uid", "kind"),
    Index("uq_credentials_lookup", "tenant_id", "kind", "lookup", unique=True),
)


C = credentials.c


@dataclass(frozen=True)
class Credential:
    """One credential, enrolled or pending."""

    credential_id: str
    uid: str
    kind: str
    lookup: str | None
    sealed: bytes | None
    facts: dict[str, Any]
    is_enrolled: bool
    counter: int
    created_at: datetime
    used_at: datetime | None


class LookupTaken(Exception):
    """Another credential has the same kind and lookup."""


_FIELDS = tuple(Credential.__dataclass_fields__)
_JOINED = tuple(f"credential_{name}" for name in _FIELDS)
_joined_columns = attrgetter(*_JOINED)
_COLUMNS = tuple(C[name] for name in _FIELDS)
_BY_ACCOUNT = Compiled(
    select(*_COLUMNS)
    .where(C.tenant_id == bindparam("tenant"), C.uid == bindparam("account"))
    .order_by(C.created_at, C.credential_id)
)
_ADD = insert_row(credentials)


def by_account(context: Context, uid: str) -> list[Credential]:
    """Return all credentials of an account, the oldest first."""
    rows = context.work.all(_BY_ACCOUNT, {"tenant": context.tenant.tenant_id, "account": uid})
    return [_credential(row) for row in rows]


def enrolled_kinds(context: Context, uids: Collection[str]) -> dict[str, frozenset[str]]:
    """Return the kinds of the enrolled credentials of several accounts, by uid; accounts without one are absent."""
    where = (C.tenant_id == context.tenant.tenant_id, C.uid.in_(uids), C.is_enrolled.is_(True))
    kinds: dict[str, set[str]] = {}
    for row in context.work.all(select(C.uid, C.kind).where(*where).distinct()) if uids else ():
        kinds.setdefault(row.uid, set()).add(row.kind)
    return {uid: frozenset(found) for uid, found in kinds.items()}


def with_credentials(statement: Select[Any], uid: Any) -> Select[Any]:
    """Return a statement of another area that also reads an account's credentials, one in each row; see `credentials_in`."""
    columns = (column.label(name) for column, name in zip(_COLUMNS, _JOINED, strict=True))
    joined = statement.add_columns(*columns).outerjoin(credentials, (C.tenant_id == TENANT) & (C.uid == uid))
    return joined.order_by(C.created_at, C.credential_id)


def credentials_in(rows: Sequence[Row[Any]]) -> tuple[Credential, ...]:
    """Return the credentials in all the rows of `with_credentials`."""
    return tuple(Credential(*_joined_columns(row)) for row in rows if row.credential_credential_id is not None)


def by_kind(context: Context, uid: str, kind: str) -> list[Credential]:
    """Return an account's credentials of one kind, the oldest first."""
    return [item for item in by_account(context, uid) if item.kind == kind]


def by_lookup(context: Context, kind: str, lookup: str) -> Credential | None:
    """Return the credential with that lookup digest, of any account."""
    where = (C.tenant_id == context.tenant.tenant_id, C.kind == kind, C.lookup == lookup)
    row = context.work.one(select(*_COLUMNS).where(*where))
    return _credential(row) if row is not None else None


def by_kinds_and_lookup(context: Context, kinds: Collection[str], lookup: str) -> Credential | None:
    """Return the credential of one of the kinds with that lookup digest, of any account."""
    where = (C.tenant_id == context.tenant.tenant_id, C.kind.in_(kinds), C.lookup == lookup)
    rows = context.work.all(select(*_COLUMNS).where(*where).limit(1))
    return _credential(rows[0]) if rows else None


def add(
    context: Context,
    uid: str,
    kind: str,
    *,
    facts: Mapping[str, Any] | None = None,
    secret: bytes | None = None,
    lookup: str | None = None,
    is_enrolled: bool = False,
    counter: int = 0,
) -> Credential:
    """Add a credential; `secret` is stored encrypted, bound to its row. Raises LookupTaken."""
    credential_id = randomness.uid()
    sealed = (
        context.services.encryption.encrypt(secret, associated_data(context.tenant.tenant_id, credential_id))
        if secret is not None
        else None
    )
    row = {
        "credential_id": credential_id,
        "uid": uid,
        "kind": kind,
        "lookup": lookup,
        "sealed": sealed,
        "facts": dict(facts or {}),
        "is_enrolled": is_enrolled,
        "counter": counter,
        "created_at": context.now,
        "used_at": None,
    }
    try:
        context.work.run(_ADD, {"tenant_id": context.tenant.tenant_id, **row})
    except IntegrityError:
        raise LookupTaken from None
    return Credential(**row)  # type: ignore[arg-type]  # the row has the fields' types


def decrypt_secret(context: Context, credential: Credential) -> bytes:
    """Return the secret of a credential. Raises DecryptionError."""
    return context.services.encryption.decrypt(
        credential.sealed or b"", associated_data(context.tenant.tenant_id, credential.credential_id)
    )


def mark_enrolled(context: Context, credential: Credential, **values: Any) -> bool:
    """Mark a credential enrolled now, in the request's transaction. Of concurrent calls one returns True."""
    where = (*_key(context, credential.credential_id), C.is_enrolled.is_(False))
    enrolled = {"is_enrolled": True, "created_at": context.now, "used_at": context.now, **values}
    return context.work.changed(update(credentials).where(*where).values(enrolled)) > 0


def advance_counter(context: Context, credential: Credential, counter: int, **values: Any) -> bool:
    """Record a use with a counter that only rises; return False if it is not higher. Only one of several concurrent calls succeeds."""
    where = (*_key(context, credential.credential_id), C.counter < counter)
    statement = update(credentials).where(*where).values(counter=counter, used_at=context.now, **values)
    return context.work.changed(statement) > 0


def set_values(context: Context, credential: Credential, **values: Any) -> bool:
    """Write columns of a credential; return False if it no longer exists."""
    key = {"tenant_id": context.tenant.tenant_id, "credential_id": credential.credential_id}
    return context.work.changed(change_row(credentials, tuple(key), frozenset(values)), changes(key, values)) > 0


def remove(
    context: Context,
    uid: str,
    kinds: Collection[str],
    credential_id: str | None = None,
    *,
    except_id: str | None = None,
) -> int:
    """Remove an account's credentials of some kinds: all, one, or all except `except_id`. Return how many were removed."""
    where = [C.tenant_id == context.tenant.tenant_id, C.uid == uid, C.kind.in_(kinds)]
    where += [C.credential_id == credential_id] if credential_id is not None else []
    where += [C.credential_id != except_id] if except_id is not None else []
    return context.work.changed(delete(credentials).where(*where))


def remove_all(context: Context, uid: str) -> int:
    """Remove all credentials of an account, enrolled and pending. Return how many were removed."""
    of_uid = (C.tenant_id == context.tenant.tenant_id, C.uid == uid)
    return context.work.changed(delete(credentials).where(*of_uid))


def remove_pending(context: Context, uid: str, kind: str | None = None) -> None:
    """Remove an account's pending credentials, of one kind or all: an attacker may have started their enrolment."""
    where = [C.tenant_id == context.tenant.tenant_id, C.uid == uid, C.is_enrolled.is_(False)]
    where += [C.kind == kind] if kind is not None else []
    context.work.run(delete(credentials).where(*where))


def replace_by_pending(context: Context, uid: str, kind: str) -> None:
    """Enrol an account's pending credentials of one kind, and remove those that were enrolled before."""
    of_kind = _of_kind(context, uid, kind)
    context.work.run(delete(credentials).where(*of_kind, C.is_enrolled.is_(True)))
    context.work.run(update(credentials).where(*of_kind).values(is_enrolled=True, created_at=context.now))


def remove_since(context: Context, uid: str, at: datetime) -> int:
    """Remove credentials enrolled at `at` or later, and all pending ones. Return how many enrolled ones were removed."""
    remove_pending(context, uid)
    of_uid = (C.tenant_id == context.tenant.tenant_id, C.uid == uid)
    return context.work.changed(delete(credentials).where(*of_uid, C.created_at >= at))


def spend(context: Context, uid: str, kind: str, lookup: str) -> bool:
    """Remove the enrolled one-time credential with that digest. Of concurrent calls one returns True."""
    where = (*_of_kind(context, uid, kind), C.lookup == lookup, C.is_enrolled.is_(True))
    return context.work.changed(delete(credentials).where(*where)) > 0


def associated_data(tenant_id: str, credential_id: str) -> str:
    """Return the associated data of an encrypted secret."""
    return f"{tenant_id} credential {credential_id}"


ENCRYPTED_COLUMNS = encrypted_columns(
    credentials, "sealed", associated_data=lambda row: associated_data(row["tenant_id"], row["credential_id"])
)


def _of_kind(context: Context, uid: str, kind: str) -> tuple[Any, Any, Any]:
    return C.tenant_id == context.tenant.tenant_id, C.uid == uid, C.kind == kind


def _key(context: Context, credential_id: str) -> tuple[Any, Any]:
    return C.tenant_id == context.tenant.tenant_id, C.credential_id == credential_id


def _credential(row: Row[Any]) -> Credential:
    return Credential(**row._mapping)
