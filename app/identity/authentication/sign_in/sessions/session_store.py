"""Queries of browser sessions, always within the tenant."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, String, bindparam, cast, delete, func, select, update
from sqlalchemy.engine import Row

from app.identity.authentication.sign_in.tables import sessions
from app.identity.credentials import credential_store
from app.identity.directory.accounts import account_store
from app.identity.directory.identity_provider import ProviderIdentity
from app.identity.platform.context import Context
from app.identity.platform.store.compiled_statements import Compiled, insert_row
from app.kit import randomness

S = sessions.c
_OF_COOKIE = select(sessions).where(S.tenant_id == bindparam("tenant"), S.session_hash == bindparam("hash"))
_BY_COOKIE = Compiled(account_store.with_ability(_OF_COOKIE, S.tenant_id, S.uid))
_OF_SIGNED_IN = account_store.with_account(_OF_COOKIE, S.uid)
_WITH_ACCOUNT = Compiled(_OF_SIGNED_IN)
_WITH_CREDENTIALS = Compiled(credential_store.with_credentials(_OF_SIGNED_IN, S.uid))
_BY_COOKIES = select(sessions).where(
    S.tenant_id == bindparam("tenant"), S.session_hash.in_(bindparam("hashes", expanding=True))
)
_LIVE = account_store.with_account(
    select(S.expires_at, S.client_id).where(
        S.tenant_id == bindparam("tenant"), S.session_id == bindparam("session"), S.expires_at > bindparam("now")
    ),
    S.uid,
)
_BY_ID = Compiled(_LIVE)
# Ending a session waits for requests that issue tokens in it, and then revokes those (SQLite has a single writer).
_LOCKED_BY_ID = Compiled(_LIVE.with_for_update(read=True, key_share=True, of=sessions))
_ADD = insert_row(sessions, is_deferred=True)
_OF_ACCOUNT = Compiled(
    select(sessions)
    .where(S.tenant_id == bindparam("tenant"), S.uid == bindparam("account"), S.expires_at > bindparam("now"))
    .order_by(S.seen_at.desc())
    .limit(200)
)
_ENDED = (S.session_id, S.uid, S.relying_parties, S.issuers, S.client_id, S.expires_at)


def by_cookie(context: Context, session_hash: str) -> Row[Any] | None:
    return context.work.one(_BY_COOKIE, {"tenant": context.tenant.tenant_id, "hash": session_hash})


def with_account(context: Context, session_hash: str, *, with_credentials: bool) -> Sequence[Row[Any]]:
    """Return the session with this cookie and its account, on request in a row for each of the account's credentials."""
    parameters = {"tenant": context.tenant.tenant_id, "hash": session_hash}
    return context.work.all(_WITH_CREDENTIALS if with_credentials else _WITH_ACCOUNT, parameters)


def by_cookies(context: Context, hashes: Collection[str]) -> Sequence[Row[Any]]:
    parameters = {"tenant": context.tenant.tenant_id, "hashes": list(hashes)}
    return context.work.run(_BY_COOKIES, parameters).all()


def live(context: Context, session_id: str, *, is_locked: bool = False) -> Row[Any] | None:
    """Return the end, the application and the account of a session that is not over; on request lock it."""
    parameters = {"tenant": context.tenant.tenant_id, "session": session_id, "now": context.now}
    return context.work.one(_LOCKED_BY_ID if is_locked else _BY_ID, parameters)


def of_account(context: Context, uid: str) -> Sequence[Row[Any]]:
    """Return the account's sessions before their absolute end, the most recently used first, at most 200."""
    parameters = {"tenant": context.tenant.tenant_id, "account": uid, "now": context.now}
    return context.work.run(_OF_ACCOUNT, parameters).all()


def lock_relying_parties(context: Context, session_hash: str) -> Row[Any] | None:
    """Return the applications of a session, which stays locked until the commit."""
    context.work.begin()  # on SQLite the lock comes before the read
    where = _with_hash(context, session_hash)
    return context.work.one(select(S.relying_parties, S.issuers).where(*where).with_for_update())


def lock_workflows(context: Context, session_hash: str) -> dict[str, Any] | None:
    """Return what a session stores of workflows, which stays locked until the commit; None for a session that ended, too."""
    context.work.begin()  # on SQLite the lock comes before the read
    row = context.work.one(select(S.workflows).where(*_with_hash(context, session_hash)).with_for_update())
    return row.workflows if row is not None else None


def add(context: Context, row: dict[str, Any]) -> None:
    context.work.run(_ADD, row)


def change(context: Context, session_hash: str, values: dict[str, Any]) -> bool:
    """Update columns of the session with this cookie. Return whether it exists."""
    return context.work.changed(update(sessions).where(*_with_hash(context, session_hash)).values(values)) > 0


def extend(context: Context, session_id: str, until: datetime) -> bool:
    """Record that the session was used and lasts until then. Return whether it exists."""
    where = (S.tenant_id == context.tenant.tenant_id, S.session_id == session_id)
    values = {"seen_at": context.now, "expires_at": until}
    return context.work.changed(update(sessions).where(*where).values(values)) > 0


def set_browser_state(context: Context, session_hash: str, state: str) -> str | None:
    """Return the session's state for Session Management: this one if it had none; None if the session has ended."""
    values = {"browser_state": func.coalesce(S.browser_state, state)}
    where = _with_hash(context, session_hash)
    row = context.work.one(update(sessions).where(*where).values(values).returning(S.browser_state))
    return str(row.browser_state) if row is not None else None


def remove_with_cookie(context: Context, session_hash: str) -> Sequence[Row[Any]]:
    """Delete the session with this cookie; this and the next three return the deleted rows."""
    return _remove(context, S.session_hash == session_hash)


def remove(context: Context, uid: str, session_id: str) -> Sequence[Row[Any]]:
    return _remove(context, S.uid == uid, S.session_id == session_id)


def remove_with_cookies(
    context: Context, uid: str, hashes: Collection[str], *, except_id: str = ""
) -> Sequence[Row[Any]]:
    return _remove(context, S.uid == uid, S.session_hash.in_(hashes), S.session_id != except_id)


def remove_of_account(context: Context, uid: str, *, except_id: str | None = None) -> Sequence[Row[Any]]:
    return _remove(context, S.uid == uid, *([S.session_id != except_id] if except_id is not None else []))


def upstream_value(identity: ProviderIdentity) -> str:
    """Return how a session stores the connection of an organization that began it, and the session of its provider."""
    return _upstream(identity.provider, identity.upstream_session)


def _upstream(connection_id: str, provider_session: str) -> str:
    return f"{connection_id} {randomness.digest(provider_session)}"


def of_upstream(context: Context, connection_id: str, upstream: str) -> Sequence[Row[Any]]:
    """Return account and id of the sessions that a session of an organization's provider began."""
    where = (S.tenant_id == context.tenant.tenant_id, S.upstream == _upstream(connection_id, upstream))
    return context.work.all(select(S.uid, S.session_id).where(*where))


def of_connection(context: Context, connection_id: str, uid: str) -> Sequence[Row[Any]]:
    """Return account and id of the account's sessions that a connection of an organization began."""
    began = S.upstream.startswith(f"{connection_id} ", autoescape=True)
    where = (S.tenant_id == context.tenant.tenant_id, S.uid == uid, began)
    return context.work.all(select(S.uid, S.session_id).where(*where))


def uids_of_connection(context: Context, connection_id: str) -> set[str]:
    """Return the accounts that have a session which a connection of an organization began."""
    began = S.upstream.startswith(f"{connection_id} ", autoescape=True)
    return {row.uid for row in context.work.all(select(S.uid).where(S.tenant_id == context.tenant.tenant_id, began))}


def remove_with_method(context: Context, uids: Collection[str], method: str) -> Sequence[Row[Any]]:
    """Delete the sessions of these accounts that have an `amr`, and return them as `remove` does."""
    return _remove(context, S.uid.in_(uids), cast(S.methods, String).contains(f'"{method}"', autoescape=True))


def remove_of_application(context: Context, uid: str, client_id: str, session_id: str | None = None) -> None:
    """Delete the sessions that an application's grants began for the account, or one of them."""
    where = [S.tenant_id == context.tenant.tenant_id, S.uid == uid, S.client_id == client_id]
    context.work.run(delete(sessions).where(*where, *([S.session_id == session_id] if session_id else [])))


def _with_hash(context: Context, session_hash: str) -> tuple[ColumnElement[bool], ...]:
    return (S.tenant_id == context.tenant.tenant_id, S.session_hash == session_hash)


def _remove(context: Context, *where: ColumnElement[bool]) -> Sequence[Row[Any]]:
    statement = delete(sessions).where(S.tenant_id == context.tenant.tenant_id, *where).returning(*_ENDED)
    return context.work.all(statement)
