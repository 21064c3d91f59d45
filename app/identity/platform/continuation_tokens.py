"""Continuation tokens: opaque texts that continue a flow, such as a second-factor token or a WebAuthn challenge.

A token is unguessable, stored as a digest, bound to one tenant and one purpose, expires, and is spent by one statement, so
that only one of several concurrent uses succeeds. Short codes, which could be guessed, belong to `one_time_tokens`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum
from functools import cache
from operator import attrgetter
from typing import Any

from sqlalchemy import Column, ColumnElement, Index, String, bindparam, delete, select, update
from sqlalchemy.engine import Row
from sqlalchemy.sql import Select

from app.identity.platform.context import NO_ACCOUNT, Context
from app.identity.platform.store import upserts
from app.identity.platform.store.compiled_statements import TENANT, Compiled
from app.identity.platform.store.tables import Id, Instant, Json, tenant_table
from app.identity.platform.store.unit_of_work import UnitOfWork
from app.kit import randomness

token_table = tenant_table(
    "tickets",
    Column("kind", String(24), key="purpose", primary_key=True),  # ContinuationPurpose
    Column("ticket_hash", Id, key="token_hash", primary_key=True),
    Column("uid", Id, nullable=False),  # NO_ACCOUNT if it belongs to no account yet
    Column("facts", Json, nullable=False),
    Column("state", String(16), nullable=False),  # OPEN, or a state of its purpose
    Column("created_at", Instant, nullable=False),
    Column("expires_at", Instant, nullable=False),
    Index("ix_tickets_uid", "tenant_id", "uid", "purpose"),
    Index("ix_tickets_expiry", "tenant_id", "expires_at"),
)

T = token_table.c
HOLDER = T.uid
"""The account of a token, for statements that read it beside a token."""
_KEY = (
    T.tenant_id == bindparam("tenant"),
    T.purpose == bindparam("expected_purpose"),
    T.token_hash == bindparam("hash"),
)
COLUMNS = tuple(column for column in token_table.c if column.name != "tenant_id")
"""The columns of a token, in the order of the fields of `ContinuationToken`."""
_JOINED = tuple(f"continuation_{column.key}" for column in COLUMNS)
_joined_columns = attrgetter(*_JOINED)
_BY_HASH = Compiled(select(*COLUMNS).where(*_KEY))
_OF_ACCOUNT = Compiled(
    select(*COLUMNS)
    .where(
        T.tenant_id == bindparam("tenant"),
        T.uid == bindparam("account"),
        T.purpose == bindparam("expected_purpose"),
        T.expires_at > bindparam("now"),
    )
    .order_by(T.created_at.desc())
)
_SPEND = Compiled(delete(token_table).where(*_KEY, T.expires_at > bindparam("now")))
_CHANGE_STATE = Compiled(
    update(token_table)
    .where(*_KEY, T.state == bindparam("former_state"), T.expires_at > bindparam("now"))
    .values(state=bindparam("new_state"), facts=bindparam("new_facts", type_=T.facts.type))
)
OPEN = "open"
_MAX_LENGTH = 500


class ContinuationPurpose(StrEnum):
    """What a token continues; a token of one purpose is not accepted for another."""

    SECOND_FACTOR = "second_factor"  # `SecondFactorAuthenticationToken` of the interface
    STEP_UP = "step_up"  # `SecondFactorValidationToken`
    CONSENT = "consent"  # `ConsentToken`
    PIN_SETTING = "pin_setting"  # `PINAuthToken`
    PIN_SESSION = "pin_session"  # `session_token`
    PASSKEY_CREATION = "passkey_creation"  # the text is the challenge (WebAuthn section 7.1)
    PASSKEY_REQUEST = "passkey_request"  # the text is the challenge (WebAuthn section 7.2)
    TRUSTED_BROWSER = "trusted_browser"
    OWN_FACTOR = "own_factor"  # a code sent while an account adds a factor on the hosted pages
    SMART_LOGIN = "smart_login"  # `clientguid` of a smart login
    PUSH = "push"
    DUO = "duo"
    CONNECTION = "connection"  # one round trip to another provider
    JWT_LOGIN = "jwt_login"  # a browser at a JWT provider's login page; the text: the provider and the browser's secret
    PROVIDER_TOKENS = "provider_tokens"  # tokens of a provider until the identity is linked (decision 0132)
    USED_ID_TOKEN = "used_id_token"  # an `id_token` that signed in (decision 0182)
    USED_ASSERTION = "used_assertion"  # the `jti` of an assertion that got tokens (RFC 7523 section 3)
    SHARED_TOKEN = "shared_token"  # an access token that began a session of the hub
    CROSS_DEVICE = "cross_device"  # a device that shows a QR code
    REQUEST_TOKEN = "request_token"  # a sign-in at a provider, until a server exchanges it
    CANDIDATE = "candidate"  # `candidatetoken`: an identity that an account may link
    CLIENT_GUID = "client_guid"  # a sign-in at a provider, until the program fetches it
    PUSHED_REQUEST = "pushed_request"  # an authorization request (RFC 9126)
    DEVICE_CODE = "device_code"  # of a device that waits for approval (RFC 8628)
    USER_CODE = "user_code"  # the short code that the person types for it
    RETURN_CODE = "return_code"  # a code in a return address
    CLIENT_ASSERTION = "client_assertion"  # the jti of a client assertion that was used (RFC 7523)
    IDEMPOTENCY = "idempotency"  # the response to a request with an Idempotency-Key
    LOGOUT_TOKEN = "logout_token"  # the jti of a logout token of an organization's provider
    SAML_MESSAGE = "saml_message"  # the ID of a SAML assertion or request that was accepted
    SAML_REQUEST = "saml_request"  # a request of a service provider that was posted
    SAML_LOGOUT = "saml_logout"  # a sign-out that leads the browser from one service provider to the next
    SAML_SESSION = (
        "saml_session"  # whom a SAML provider signed in, to sign them out there; the text is our session's id
    )
    SAML_SIGN_OUT = "saml_sign_out"  # a sign-out at a SAML provider, until its answer
    UNSOLICITED = "unsolicited"  # an accepted SAML answer without request, until the person confirms it
    SETUP_SESSION = "setup_session"  # an administrator of an organization in the set-up guide
    SETUP_TRIAL = "setup_trial"  # the state of a sign-in that tries a connection of the guide
    SEEN = "seen"  # a device or place that an account signed in from


class TokenExists(Exception):
    """A token of this purpose with this text exists."""


@dataclass(frozen=True)
class ContinuationToken:
    """A stored token."""

    purpose: ContinuationPurpose
    token_hash: str
    uid: str
    facts: dict[str, Any]
    state: str
    created_at: datetime
    expires_at: datetime
    text: str = field(default="", repr=False)  # known only if it was presented or just issued

    def is_expired(self, now: datetime) -> bool:
        return self.expires_at <= now


_fields_of = attrgetter(*(name for name in ContinuationToken.__dataclass_fields__ if name != "text"))


def issue(
    context: Context,
    purpose: ContinuationPurpose,
    uid: str,
    *,
    lifetime: timedelta,
    facts: Mapping[str, Any] | None = None,
    text: str | None = None,
) -> ContinuationToken:
    """Store a new token and return it with its text, a GUID unless `text` is given. Raises TokenExists for a used text."""
    issued_text = text if text is not None else randomness.guid()
    token = ContinuationToken(
        purpose,
        randomness.digest(issued_text),
        uid,
        dict(facts or {}),
        OPEN,
        context.now,
        context.now + lifetime,
        issued_text,
    )
    row = {column.key: value for column, value in zip(COLUMNS, _fields_of(token), strict=True)}
    if not _add(context, context.work, {"tenant_id": context.tenant.tenant_id, **row}):
        raise TokenExists
    return token


def use_once(context: Context, purpose: ContinuationPurpose, text: str, lifetime: timedelta) -> bool:
    """Record the use of a text in a separate transaction, which a later error does not roll back; return True for the first use only.

    Not allowed after the request has written.
    """
    mark = {
        "tenant_id": context.tenant.tenant_id, "purpose": purpose, "token_hash": randomness.digest(text), "uid": NO_ACCOUNT, "facts": {},
        "state": OPEN, "created_at": context.now, "expires_at": context.now + lifetime,
    }  # fmt: skip
    with context.work.separate_transaction() as transaction:
        return _add(context, transaction, mark)


def _add(context: Context, work: UnitOfWork, row: dict[str, Any]) -> bool:
    """Insert a token; return False, and let the transaction go on, if its text is taken."""
    return work.changed(_insert_new(is_sqlite=context.services.database.is_sqlite), row) > 0


@cache
def _insert_new(*, is_sqlite: bool) -> Compiled:
    values = {column.key: bindparam(column.key, type_=column.type) for column in token_table.c}
    return Compiled(upserts.insert(token_table, is_sqlite=is_sqlite).values(values).on_conflict_do_nothing())


def renew(
    context: Context,
    purpose: ContinuationPurpose,
    uid: str,
    text: str,
    lifetime: timedelta,
    facts: Mapping[str, Any] | None = None,
) -> None:
    """Store a token with a given text in place of an existing one. Raises TokenExists if another request stores one at once, unless
    the caller locked the account.
    """
    context.work.run(delete(token_table).where(
        T.tenant_id == context.tenant.tenant_id, T.purpose == purpose, T.token_hash == randomness.digest(text)
    ))  # fmt: skip
    issue(context, purpose, uid, lifetime=lifetime, text=text, facts=facts)


def find(context: Context, purpose: ContinuationPurpose, text: str | None) -> ContinuationToken | None:
    """Return the token with this text, expired or not (`is_expired`); a spent token is deleted."""
    if not text or len(text) > _MAX_LENGTH:
        return None
    token = by_hash(context, purpose, randomness.digest(text))
    return replace(token, text=text) if token is not None else None


def by_hash(context: Context, purpose: ContinuationPurpose, token_hash: str) -> ContinuationToken | None:
    """Return the token with this digest."""
    key = {"tenant": context.tenant.tenant_id, "expected_purpose": purpose, "hash": token_hash}
    row = context.work.one(_BY_HASH, key)
    return _token(row) if row is not None else None


def with_token(statement: Select[Any], purpose: ContinuationPurpose, token_hash: ColumnElement[str]) -> Select[Any]:
    """Extend a statement of another area so that it also reads the token with the digest in its row; see `token_in`."""
    columns = (column.label(name) for column, name in zip(COLUMNS, _JOINED, strict=True))
    is_named = (T.tenant_id == TENANT) & (T.purpose == purpose) & (T.token_hash == token_hash)
    return statement.add_columns(*columns).outerjoin(token_table, is_named)


def token_in(row: Row[Any]) -> ContinuationToken | None:
    """Return the token in a row of `with_token`."""
    return _token(_joined_columns(row)) if row.continuation_token_hash is not None else None


def of_account(context: Context, purpose: ContinuationPurpose, uid: str) -> list[ContinuationToken]:
    """Return an account's unexpired tokens of a purpose, newest first, without their texts."""
    key = {"tenant": context.tenant.tenant_id, "expected_purpose": purpose, "account": uid, "now": context.now}
    rows = context.work.all(_OF_ACCOUNT, key)
    return [_token(row) for row in rows]


def spend(context: Context, token: ContinuationToken) -> bool:
    """Spend a token in the request's transaction, which a later error rolls back; return True for one of several concurrent uses."""
    return spend_hash(context, token.purpose, token.token_hash)


def spend_hash(context: Context, purpose: ContinuationPurpose, token_hash: str) -> bool:
    """Spend the token with this digest, as `spend` does."""
    key = {"tenant": context.tenant.tenant_id, "expected_purpose": purpose, "hash": token_hash, "now": context.now}
    return context.work.changed(_SPEND, key) > 0


def add_facts(context: Context, token: ContinuationToken, **facts: Any) -> ContinuationToken:
    """Add facts to a token and return it."""
    after = replace(token, facts={**token.facts, **facts})
    context.work.run(update(token_table).where(*_key_of(context, token)).values(facts=after.facts))
    return after


def change_state(context: Context, token: ContinuationToken, state: str, **facts: Any) -> bool:
    """Change the state unless another request changed it since it was read; return whether it was changed."""
    changed = {
        "tenant": context.tenant.tenant_id, "expected_purpose": token.purpose, "hash": token.token_hash, "now": context.now,
        "former_state": token.state, "new_state": state, "new_facts": {**token.facts, **facts},
    }  # fmt: skip
    return context.work.changed(_CHANGE_STATE, changed) > 0


def extend(context: Context, token: ContinuationToken, lifetime: timedelta, **facts: Any) -> bool:
    """Restart a token's lifetime and add facts, unless its state changed since it was read; return whether it was extended."""
    where = (*_key_of(context, token), T.state == token.state, T.expires_at > context.now)
    values = {"facts": {**token.facts, **facts}, "expires_at": context.now + lifetime}
    return context.work.changed(update(token_table).where(*where).values(values)) > 0


def revoke_all(context: Context, uid: str, *purposes: ContinuationPurpose) -> None:
    """Delete an account's tokens of some purposes."""
    context.work.run(
        delete(token_table).where(T.tenant_id == context.tenant.tenant_id, T.uid == uid, T.purpose.in_(purposes))
    )


def revoke_all_of(context: Context, uids: Collection[str], *purposes: ContinuationPurpose) -> None:
    """Delete the tokens of several accounts of some purposes."""
    where = (T.tenant_id == context.tenant.tenant_id, T.uid.in_(uids), T.purpose.in_(purposes))
    context.work.run(delete(token_table).where(*where))


def _token(row: Iterable[Any]) -> ContinuationToken:
    purpose, *fields = row
    return ContinuationToken(ContinuationPurpose(purpose), *fields)


def _key_of(context: Context, token: ContinuationToken) -> tuple[Any, ...]:
    return T.tenant_id == context.tenant.tenant_id, T.purpose == token.purpose, T.token_hash == token.token_hash
