"""One-time tokens in the database, always inside the tenant.

The open tokens of one purpose, account and subject are one message: `add` replaces them and `mark_used` spends them, all at once.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, TypedDict

from sqlalchemy import Boolean, Column, Index, Integer, String, bindparam, exists, select, update
from sqlalchemy.engine import Row
from sqlalchemy.sql.dml import ReturningUpdate, Update

from app.identity.directory.accounts import account_store
from app.identity.platform.context import Context
from app.identity.platform.store.compiled_statements import Compiled, insert_row
from app.identity.platform.store.tables import Id, Instant, Json, tenant_table
from app.identity.platform.store.unit_of_work import UnitOfWork

one_time_tokens = tenant_table(
    "proofs",
    Column("proof_id", Id, key="token_id", primary_key=True),  # of a link: the digest of its text
    Column("kind", String(24), key="purpose", nullable=False),  # Purpose
    Column("is_code", Boolean, nullable=False),
    Column("uid", Id, nullable=False),
    Column("subject", String(320), nullable=False),  # the address or number that it verifies
    Column("code_hash", Id),  # keyed, because six digits have too little entropy
    Column("facts", Json, nullable=False),
    Column("state", String(12), nullable=False),  # open, used, void, replaced
    Column("tries", Integer, nullable=False),
    Column("created_at", Instant, nullable=False),
    Column("expires_at", Instant, nullable=False),
    Index("ix_proofs_subject", "tenant_id", "uid", "purpose", "subject", "created_at"),
    Index("ix_proofs_address", "tenant_id", "subject", "purpose"),
    Index("ix_proofs_expiry", "tenant_id", "expires_at"),
)


P = one_time_tokens.c
_ADD = insert_row(one_time_tokens)
OPEN, USED, VOID, REPLACED = "open", "used", "void", "replaced"


class Purpose(StrEnum):
    """The action that a token allows. A token of one purpose is invalid for every other."""

    EMAIL = "email"
    PHONE = "phone"
    RESET_PASSWORD = "reset_password"
    RESET_PASSKEY = "reset_passkey"
    RESET_PIN = "reset_pin"
    STEP_UP_EMAIL = "step_up_email"
    ALARM = "password_alarm"
    DELETE_ACCOUNT = "delete_account"
    ADD_EMAIL = "add_email"
    ADD_PHONE = "add_phone"
    FACTOR_SMS = "factor_sms"
    FACTOR_EMAIL = "factor_email"
    SIGN_IN = "sign_in"
    SMART_LOGIN = "smart_login"
    ONE_TOUCH = "one_touch"
    CAPTCHA = "captcha"


class OneTimeTokenFacts(TypedDict, total=False):
    """What a token stores for its redemption. Its purpose decides which of them it has."""

    email: str | None  # where the message went, as it is written to
    phone: str | None
    attempt: str | None  # the interaction that it continues
    type: str  # of an email address that it adds
    name: str  # of an account that it registers
    registers: bool
    welcome: str | None  # the template of the mail after the first verification
    is_silent: bool  # its request asked that no webhook receives the event of the change
    ticket: str  # the digest of the continuation token of the device that waits
    reason: str | None  # why a password must be replaced
    methods: list[str]  # the `amr` of the sign-in that must replace it
    use: str  # of the captcha that a link solves
    identifier: str  # that was typed into its form
    typed: dict[str, str]  # the form's other fields
    remember: bool  # whether that sign-in's session outlives the browser


@dataclass(frozen=True)
class StoredToken:
    """One link or code with its state."""

    token_id: str
    purpose: Purpose
    uid: str
    subject: str
    code_hash: str | None
    facts: OneTimeTokenFacts
    state: str
    tries: int
    created_at: datetime
    expires_at: datetime


_COLUMNS = (
    P.token_id, P.purpose, P.uid, P.subject, P.code_hash, P.facts, P.state, P.tries, P.created_at, P.expires_at
)  # fmt: skip
"""In the order of the fields of `StoredToken`."""


@dataclass(frozen=True)
class NewOneTimeToken:
    """A link, or a code if `code_hash` is given."""

    token_id: str
    code_hash: str | None
    minutes: int

    @property
    def is_code(self) -> bool:
        return self.code_hash is not None


def add(
    context: Context, new: Sequence[NewOneTimeToken], purpose: str, uid: str, subject: str, *, facts: OneTimeTokenFacts
) -> None:
    """Store the link, the code or both of one message, which replaces the open one, in two statements."""
    account_store.lock_before_own_rows(context, uid)  # lock order: the account, then its tokens
    context.work.run(_REPLACE, _message(context, purpose, uid, subject))
    common = {
        "tenant_id": context.tenant.tenant_id,
        "purpose": purpose,
        "uid": uid,
        "subject": subject,
        "facts": dict(facts),
        "state": OPEN,
        "tries": 0,
        "created_at": context.now,
    }
    rows = [
        {
            **common,
            "token_id": item.token_id,
            "is_code": item.is_code,
            "code_hash": item.code_hash,
            "expires_at": context.now + timedelta(minutes=item.minutes),
        }
        for item in new
    ]
    context.work.run(_ADD, rows if len(rows) > 1 else rows[0])


def link(context: Context, purpose: str, token_id: str) -> StoredToken | None:
    """Return the link with that digest, in any state."""
    where = (
        P.tenant_id == context.tenant.tenant_id,
        P.token_id == token_id,
        P.purpose == purpose,
        P.is_code.is_(False),
    )
    return _token(context.work.one(select(*_COLUMNS).where(*where)))


def code(context: Context, purpose: str, code_id: str) -> StoredToken | None:
    """Return the code with that id, in any state."""
    where = (P.tenant_id == context.tenant.tenant_id, P.token_id == code_id[:64], P.purpose == purpose, P.is_code)
    return _token(context.work.one(select(*_COLUMNS).where(*where)))


def newest_code(context: Context, purpose: str, uid: str, subject: str) -> StoredToken | None:
    """Return the newest code, in any state."""
    where = (*_same_recipient(context, purpose, uid, subject), P.is_code)
    newest_first = (P.created_at.desc(), P.token_id)
    return _token(context.work.one(select(*_COLUMNS).where(*where).order_by(*newest_first).limit(1)))


def newest_to_address(
    context: Context, purposes: Collection[str], subject: str, *, uid: str | None = None
) -> StoredToken | None:
    """Return the newest token of these purposes for an address: of any account, or with `uid` the newest code of that account."""
    where = [P.tenant_id == context.tenant.tenant_id, P.subject == subject, P.purpose.in_(purposes)]
    where += [P.uid == uid, P.is_code] if uid is not None else []
    newest_first = (P.created_at.desc(), P.token_id)
    return _token(context.work.one(select(*_COLUMNS).where(*where).order_by(*newest_first).limit(1)))


def sent_since(context: Context, purposes: Collection[str], uid: str, since: datetime) -> list[StoredToken]:
    """Return the tokens sent to an account after `since` that are neither used nor replaced, the oldest first."""
    where = (P.tenant_id == context.tenant.tenant_id, P.uid == uid, P.purpose.in_(purposes), P.created_at > since)
    rows = context.work.all(select(*_COLUMNS).where(*where, P.state.in_((OPEN, VOID))).order_by(P.created_at))
    return [_stored(row) for row in rows]


def count_attempt(work: UnitOfWork, token_id: str, now: datetime, max_attempts: int) -> int | None:
    """Count an attempt at a code before it is compared. Return its number, or None if the code is not open."""
    guard = (*_key(work, token_id), P.state == OPEN, P.expires_at > now, P.tries < max_attempts)
    row = work.one(update(one_time_tokens).where(*guard).values(tries=P.tries + 1).returning(P.tries))
    return int(row[0]) if row else None


def uncount_attempt(work: UnitOfWork, token_id: str) -> None:
    """Take back the attempt with the right code: a request that fails for another reason may be repeated."""
    work.run(update(one_time_tokens).where(*_key(work, token_id), P.state == OPEN).values(tries=P.tries - 1))


def void(work: UnitOfWork, token_id: str) -> None:
    """Close a code after too many attempts."""
    work.run(update(one_time_tokens).where(*_key(work, token_id), P.state == OPEN).values(state=VOID))


def mark_used(context: Context, token_id: str, purpose: str, uid: str, subject: str) -> bool:
    """Spend a token and the link or code of the same message, in the request's transaction; return True for the first use only."""
    presented = {"presented": token_id, "now": context.now}
    return bool(context.work.all(_SPEND, _message(context, purpose, uid, subject) | presented))


def close_all(
    context: Context, uid: str, purpose: str | None, subject: str | None, except_purpose: str | None = None
) -> None:
    """Close the open tokens of an account."""
    where = [P.tenant_id == context.tenant.tenant_id, P.uid == uid, P.state == OPEN]
    where += [P.purpose == purpose] if purpose is not None else []
    where += [P.purpose != except_purpose] if except_purpose is not None else []
    where += [P.subject == subject] if subject is not None else []
    _replace(context, *where)


def close_addressed(
    context: Context, uid: str, purpose: str, address: str, until: datetime | None, spared: str
) -> None:
    """Close open tokens whose subject begins with that address, except with `spared`; with `until` only those that expire by then."""
    where = (P.tenant_id == context.tenant.tenant_id, P.uid == uid, P.state == OPEN, P.purpose == purpose)
    is_for_address = P.subject.startswith(f"{address} ", autoescape=True)
    is_earlier = () if until is None else (P.expires_at <= until,)
    is_other = (~P.subject.startswith(spared, autoescape=True),) if spared else ()
    _replace(context, *where, is_for_address, *is_earlier, *is_other)


def close_later(context: Context, purpose: str, uid: str, expires_at: datetime) -> None:
    """Close open tokens of one purpose that expire at `expires_at` or later."""
    where = (P.tenant_id == context.tenant.tenant_id, P.uid == uid, P.state == OPEN, P.purpose == purpose)
    _replace(context, *where, P.expires_at >= expires_at)


def _replace(context: Context, *where: Any) -> None:
    context.work.run(_replacement(context.tenant.tenant_id, *where))


def _replacement(tenant_id: Any, *where: Any) -> Update:
    """Build the statement that closes tokens, always in the same order: that of the index over account, purpose and subject.

    Unknown identifiers share one uid, so no account row can be locked first. In the order of the primary key, SQLite would
    read all tokens of the tenant.
    """
    ids = select(P.token_id).where(*where).order_by(P.created_at, P.token_id).with_for_update()
    return update(one_time_tokens).where(P.tenant_id == tenant_id, P.token_id.in_(ids)).values(state=REPLACED)


def _message(context: Context, purpose: str, uid: str, subject: str) -> dict[str, str]:
    """Return the parameters of `_OPEN`."""
    return {"tenant": context.tenant.tenant_id, "account": uid, "expected_purpose": purpose, "recipient": subject}


_OPEN = (
    P.tenant_id == bindparam("tenant"), P.uid == bindparam("account"), P.purpose == bindparam("expected_purpose"),
    P.subject == bindparam("recipient"), P.state == OPEN,
)  # fmt: skip
_REPLACE = Compiled(_replacement(bindparam("tenant"), *_OPEN))


def _spending() -> ReturningUpdate[Any]:
    """Build the statement that spends a message, if the presented token is still open in it.

    A common table expression locks the rows, in the order of `_replacement`: PostgreSQL then reads what the lock's former
    holder left, so that of a link and its code only one finds itself open.
    """
    message = (
        select(P.token_id, P.expires_at)
        .where(*_OPEN)
        .order_by(P.created_at, P.token_id)
        .with_for_update()
        .cte("message")
    )
    is_presented = (message.c.token_id == bindparam("presented"), message.c.expires_at > bindparam("now"))
    where = (P.tenant_id == bindparam("tenant"), P.token_id.in_(select(message.c.token_id)))
    spending = update(one_time_tokens).where(*where, exists().where(*is_presented)).values(state=USED)
    return spending.returning(P.token_id)  # SQLite's driver counts no rows of a statement that begins with WITH


_SPEND = Compiled(_spending())


def _key(work: UnitOfWork, token_id: str) -> tuple[Any, Any]:
    return P.tenant_id == work.tenant_id, P.token_id == token_id


def _same_recipient(context: Context, purpose: str, uid: str, subject: str) -> tuple[Any, ...]:
    return P.tenant_id == context.tenant.tenant_id, P.uid == uid, P.purpose == purpose, P.subject == subject


def _token(row: Row[Any] | None) -> StoredToken | None:
    return _stored(row) if row is not None else None


def _stored(row: Iterable[Any]) -> StoredToken:
    token_id, purpose, *fields = row
    return StoredToken(token_id, Purpose(purpose), *fields)
