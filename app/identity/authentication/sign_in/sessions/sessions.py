"""Browser sessions: the hub has an opaque cookie, the table has everything else."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from operator import attrgetter
from typing import Any, Final

from sqlalchemy.engine import Row

from app.contract import errors
from app.contract.applications.logout_settings import LogoutReason
from app.contract.sessions.models import Session
from app.identity.authentication.federation import token_handoff
from app.identity.authentication.sign_in.sessions import session_ends, session_store
from app.identity.authentication.sign_in.sessions.session_ends import EndedSession, Ending
from app.identity.authentication.workflows.workflow_run import NO_WORKFLOWS, SessionWorkflows
from app.identity.credentials import credential_store
from app.identity.credentials.credential_store import Credential
from app.identity.credentials.tokens import tokens
from app.identity.directory.accounts import account_store
from app.identity.directory.accounts.account import Account, can_sign_in
from app.identity.directory.identity_provider import ProviderIdentity
from app.identity.platform import continuation_tokens
from app.identity.platform.context import Context
from app.identity.platform.continuation_tokens import ContinuationPurpose
from app.kit import randomness

FEDERATED: Final = "fed"
"""The `amr` of a sign-in at another provider: RFC 8176 has no name for it."""
MAX_RELYING_PARTIES: Final = 100
"""Applications that a session remembers, the most recent ones: sign-out notifies them."""
_TOUCH_INTERVAL = timedelta(minutes=1)  # the precision of the idle time: at most one write a minute


@dataclass(frozen=True)
class BrowserSession:
    """A live session of an account in one browser, or of an application's grant."""

    session_hash: str
    session_id: str
    uid: str
    methods: tuple[str, ...]  # amr (RFC 8176)
    authenticated_at: datetime
    created_at: datetime
    seen_at: datetime
    expires_at: datetime
    is_remembered: bool
    address: str
    agent: str
    relying_parties: tuple[str, ...]
    client_id: str | None = None  # the application whose grant began it; no browser has its cookie
    issuers: tuple[tuple[str, str], ...] = ()  # client id and `iss` of its tokens
    browser_state: str | None = None  # None until an application asks with Session Management switched on
    workflows: SessionWorkflows = NO_WORKFLOWS
    upstream: str | None = None  # the connection of an organization that began it, and a digest of its provider's `sid`

    @property
    def connection_id(self) -> str:
        """The connection of an organization that began it; empty for any other sign-in."""
        return (self.upstream or "").partition(" ")[0]


@dataclass(frozen=True)
class SignedIn:
    """A live session with its account, as one statement read them."""

    session: BrowserSession
    account: Account
    credentials: tuple[Credential, ...] | None = None
    """Of the account; None unless they were asked for."""


@dataclass(frozen=True)
class LiveSession:
    """The absolute end of a session that is not over, and its account, as one statement read them."""

    ends_at: datetime
    account: Account | None


def current(context: Context) -> BrowserSession | None:
    """Return the session of this visit if it is live: neither idle too long nor past its absolute end.

    None, too, while its account cannot sign in: nothing goes on from the session of a blocked or disabled one.

    Raises:
        AnotherAccount: the form that was posted is one of another account, and another tab made this one current.
    """
    visit = context.visit
    session = by_cookie(context, visit.session) if visit and visit.session else None
    return _of_visit(context, session)


def signed_in(context: Context, *, with_credentials: bool = False) -> SignedIn | None:
    """Return the session of this visit as `current` does, with its account, in one statement."""
    visit = context.visit
    if not (visit and visit.session):
        return None
    rows = session_store.with_account(context, randomness.digest(visit.session), with_credentials=with_credentials)
    session = _of_visit(context, _live(context, rows[0]) if rows else None)
    account = account_store.account_in(context, rows[0]) if session is not None else None
    if session is None or account is None or not can_sign_in(account):
        return None
    return SignedIn(session, account, credential_store.credentials_in(rows) if with_credentials else None)


def by_cookie(context: Context, cookie: str) -> BrowserSession | None:
    """Return the live session with this cookie, if its account can sign in."""
    row = session_store.by_cookie(context, randomness.digest(cookie))
    return _live(context, row) if row is not None and row.can_sign_in else None


def by_cookies(context: Context, cookies: Iterable[str]) -> dict[str, BrowserSession]:
    """Return the live sessions with these cookies by cookie, in one statement."""
    hashes = {randomness.digest(cookie): cookie for cookie in cookies}
    found = [_from_row(row) for row in session_store.by_cookies(context, hashes)] if hashes else []
    return {hashes[item.session_hash]: item for item in found if _is_live(context, item)}


def _of_visit(context: Context, session: BrowserSession | None) -> BrowserSession | None:
    """Raise AnotherAccount if the visit's form is one of another account."""
    if context.visit and session is not None and context.visit.account not in ("", session.uid):
        raise errors.AnotherAccount
    return session


def _live(context: Context, row: Row[Any]) -> BrowserSession | None:
    session = _from_row(row)
    return session if _is_live(context, session) else None


def _is_live(context: Context, session: BrowserSession) -> bool:
    now = context.now
    idle = now - timedelta(minutes=context.tenant.settings.session_idle_minutes)
    return now < session.expires_at and (session.is_remembered or session.seen_at >= idle)


def current_of(context: Context, uid: str) -> BrowserSession | None:
    """Return the session of this visit if it belongs to this account; its next sign-in is a reauthentication."""
    session = current(context)
    return session if session is not None and session.uid == uid else None


def lock_expiry(context: Context, session_id: str) -> datetime | None:
    """Return the absolute end of a live session and lock it until the commit; None where it is over."""
    live = lock_live(context, session_id)
    return live.ends_at if live is not None else None


def lock_live(context: Context, session_id: str) -> LiveSession | None:
    """Return a live session and lock it until the commit; None where it is over."""
    row = session_store.live(context, session_id, is_locked=True)
    return LiveSession(row.expires_at, account_store.account_in(context, row)) if row is not None else None


def extend_on_refresh(context: Context, session_id: str, lifetime: timedelta) -> LiveSession | None:
    """Return a live session, None where it is over. A session that an application's grant began is extended by each refresh."""
    row = session_store.live(context, session_id)
    if row is None:
        return None
    ends_at = row.expires_at
    if row.client_id is not None:
        ends_at = context.now + lifetime
        if not session_store.extend(context, session_id, ends_at):
            return None
    return LiveSession(ends_at, account_store.account_in(context, row))


def touch(context: Context, session: BrowserSession) -> None:
    """Record that the session was used, at most once a minute."""
    if context.now - session.seen_at > _TOUCH_INTERVAL:
        session_store.change(context, session.session_hash, {"seen_at": context.now})


def start(
    context: Context,
    uid: str,
    methods: tuple[str, ...],
    remember: bool,
    *,
    authenticated_at: datetime | None = None,
    ends_at: datetime | None = None,
    keeps_current: bool = False,
    workflows: SessionWorkflows = NO_WORKFLOWS,
    upstream: ProviderIdentity | None = None,
) -> tuple[BrowserSession, str]:
    """Begin a session and return it with its cookie; the session of the old cookie ends, against session fixation.

    Args:
        keeps_current: the person asked in this browser to sign in to one more account.
        authenticated_at: when the user authenticated, if that was not within this request.
        ends_at: the session ends no later.
        upstream: the identity of an organization's provider that signed in.
    """
    if context.visit and context.visit.session and not keeps_current:
        removed = session_store.remove_with_cookie(context, randomness.digest(context.visit.session))
        for ended in _end(context, removed, "idp_logout"):
            tokens.revoke_with_session(context, ended.uid, ended.session_id)
    end_in_browser(context, uid)
    lifetime = lifetime_of(context, remember)
    if ends_at is not None:
        lifetime = min(lifetime, ends_at - context.now)
    return _insert(
        context, uid, methods, lifetime, remember=remember, authenticated_at=authenticated_at, workflows=workflows,
        upstream=session_store.upstream_value(upstream) if upstream is not None else None,
    )  # fmt: skip


def start_for_grant(
    context: Context,
    uid: str,
    methods: tuple[str, ...],
    client_id: str,
    lifetime: timedelta,
    *,
    issuer: str | None = None,
    authenticated_at: datetime | None = None,
    workflows: SessionWorkflows = NO_WORKFLOWS,
) -> BrowserSession:
    """Begin a session without a browser for an application's grant; it is listed and ended like others.

    Args:
        issuer: `iss` of the tokens that it gets.
        authenticated_at: when the user authenticated, if that was not within this request.
    """
    issuers = {client_id: issuer} if issuer else {}
    session, _ = _insert(
        context, uid, methods, lifetime, remember=True, client_id=client_id, issuers=issuers,
        authenticated_at=authenticated_at, workflows=workflows,
    )  # fmt: skip
    return session


def _insert(
    context: Context,
    uid: str,
    methods: tuple[str, ...],
    lifetime: timedelta,
    *,
    remember: bool,
    client_id: str | None = None,
    issuers: dict[str, str] | None = None,
    authenticated_at: datetime | None = None,
    workflows: SessionWorkflows = NO_WORKFLOWS,
    upstream: str | None = None,
) -> tuple[BrowserSession, str]:
    now, text = context.now, randomness.token()
    row: dict[str, Any] = {
        "tenant_id": context.tenant.tenant_id,
        "session_hash": randomness.digest(text),
        "session_id": randomness.token(18),
        "uid": uid,
        "methods": list(methods),
        "authenticated_at": authenticated_at or now,
        "created_at": now,
        "seen_at": now,
        "expires_at": now + lifetime,
        "is_remembered": remember,
        "address": context.ip_address[:64],
        "agent": context.agent,
        "relying_parties": [],
        "client_id": client_id,
        "issuers": issuers or {},
        "browser_state": None,
        "workflows": workflows.to_stored(),
        "upstream": upstream,
    }
    session_store.add(context, row)
    fields = {name: value for name, value in row.items() if name != "tenant_id"}
    read = {"methods": methods, "relying_parties": (), "issuers": tuple((issuers or {}).items())}
    return BrowserSession(**{**fields, **read, "workflows": workflows}), text


def cookie(context: Context, session: BrowserSession, text: str) -> Session:
    """Return the session for the hub's cookie: it outlives the browser only if the session is remembered."""
    lifetime_seconds = int((session.expires_at - context.now).total_seconds()) if session.is_remembered else None
    return Session(token=text, lifetime_seconds=lifetime_seconds)


def add_relying_party(context: Context, session: BrowserSession, client_id: str, issuer: str) -> None:
    """Remember that this relying party received a response of this issuer in the session, so that sign-out notifies it."""
    if dict(session.issuers).get(client_id) == issuer and client_id in session.relying_parties:
        return
    row = session_store.lock_relying_parties(context, session.session_hash)
    if row is None:
        return
    recent = [*(party for party in row.relying_parties if party != client_id), client_id][-MAX_RELYING_PARTIES:]
    issuers = {name: known for name, known in (row.issuers or {}).items() if name in recent} | {client_id: issuer}
    session_store.change(context, session.session_hash, {"relying_parties": recent, "issuers": issuers})


def of_account(context: Context, uid: str) -> list[BrowserSession]:
    """Return the account's live sessions, the most recently used first."""
    rows = session_store.of_account(context, uid)
    idle = context.now - timedelta(minutes=context.tenant.settings.session_idle_minutes)
    return [_from_row(row) for row in rows if row.is_remembered or row.seen_at > idle]


def end(context: Context, uid: str, session_id: str, reason: LogoutReason = "idp_logout") -> EndedSession | None:
    """End one session of the account and notify its applications; returns None if there is no such session."""
    return next(iter(_end(context, session_store.remove(context, uid, session_id), reason)), None)


def end_in_browser(context: Context, uid: str, *, except_id: str = "") -> tuple[EndedSession, ...]:
    """End the account's sessions that this browser holds beside the current one, so that a sign-out leaves none behind."""
    keys = [randomness.digest(text) for text in (context.visit.others if context.visit else ()) if text]
    if not keys:
        return ()
    found = _end(context, session_store.remove_with_cookies(context, uid, keys, except_id=except_id), "idp_logout")
    for ended in found:
        tokens.revoke_with_session(context, ended.uid, ended.session_id)
        context.audit.record("session.ended", uid=uid, session=ended.session_id)
    return found


def end_for_application(context: Context, uid: str, client_id: str, session_id: str | None = None) -> None:
    """End the sessions that an application's grants began for the account, or one of them; it ended its access itself."""
    session_store.remove_of_application(context, uid, client_id, session_id)


def end_all(context: Context, uid: str, except_id: str | None = None, *, reason: LogoutReason = "idp_logout") -> None:
    """End every session of the account but one, its PIN sessions and its pending handoffs; notify the applications."""
    continuation_tokens.revoke_all(
        context, uid, ContinuationPurpose.PIN_SESSION, ContinuationPurpose.STEP_UP, *token_handoff.KINDS
    )
    _end(
        context,
        session_store.remove_of_account(context, uid, except_id=except_id),
        reason,
        is_complete=except_id is None,
    )


def _end(
    context: Context, removed: Sequence[Row[Any]], reason: LogoutReason, *, is_complete: bool = False
) -> tuple[EndedSession, ...]:
    """Announce the end of removed sessions of one account; those that ended by themselves before are not announced."""
    ended = tuple(session_ends.from_row(row) for row in removed)
    alive = tuple(item for item, row in zip(ended, removed, strict=True) if row.expires_at > context.now)
    session_ends.announce(context, Ending(alive, reason, is_complete))
    return ended


def lifetime_of(context: Context, remember: bool) -> timedelta:
    """Return how long a new session lasts at most."""
    settings = context.tenant.settings
    return timedelta(days=settings.remember_days) if remember else timedelta(hours=settings.session_absolute_hours)


_FIELDS: Final = tuple(BrowserSession.__dataclass_fields__)
_columns: Final = attrgetter(*_FIELDS)


def _from_row(row: Row[Any]) -> BrowserSession:
    fields = dict(zip(_FIELDS, _columns(row), strict=True))
    lists = {"methods": tuple(row.methods), "relying_parties": tuple(row.relying_parties)}
    texts = {"address": row.address or "", "agent": row.agent or ""}
    issuers, workflows = tuple((row.issuers or {}).items()), SessionWorkflows.from_stored(row.workflows)
    return BrowserSession(**{**fields, **lists, **texts, "issuers": issuers, "workflows": workflows})
