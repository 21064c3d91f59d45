"""Issues, checks, rotates and revokes tokens. Access tokens are GUIDs, opaque to everybody else (interface user.md section 6)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from app.contract import errors as e
from app.contract import errors_oauth as oauth
from app.contract.error_groups import OAUTH
from app.identity.credentials.tokens import store
from app.identity.credentials.tokens.store import AuthorizedClient
from app.identity.platform.context import Context, TokenHolder
from app.kit import randomness
from app.kit.operation import AnyOperation

ENDS_AT, SID = "ends_at", "sid"
"""Facts of a token: the end of its family in seconds since 1970, and the session that it outlives."""


@dataclass(frozen=True)
class IssuedTokens:
    """Tokens just made; the only moment at which their text exists."""

    access_token: str
    refresh_token: str | None
    access_expires_at: datetime
    family_id: str


@dataclass(frozen=True)
class SpentRefreshToken:
    """A refresh token that was good, and what it stood for."""

    uid: str | None
    client_id: str | None
    session_id: str | None
    scope: str
    facts: dict[str, Any]
    family_id: str


class RefreshRefused(Exception):
    """The refresh token is unknown, expired, of another client, or was used before (`is_reuse`)."""

    def __init__(self, is_reuse: bool = False) -> None:
        super().__init__("refresh token refused")
        self.is_reuse = is_reuse


def issue(
    context: Context,
    *,
    uid: str | None,
    client_id: str | None = None,
    session_id: str | None = None,
    scope: str = "",
    facts: dict[str, Any] | None = None,
    access_seconds: int | None = None,
    refresh_seconds: int | None = None,
    with_refresh: bool = True,
    family_id: str | None = None,
    access_token: str | None = None,
    session_ends_at: datetime | None = None,
) -> IssuedTokens:
    """Make an access token and, where asked and switched on, a refresh token of the same family.

    Args:
        session_id: the session with which they end; those that outlive it have it as `sid` in `facts` instead.
        facts: kept with both; `ends_at` of them is the end of the family, which is set where it is absent.
        access_token: a token made by the caller (a signed JWT) to store instead of a GUID.
        session_ends_at: neither is good for longer, nor for longer than the family.
    """
    settings, now = context.tenant.settings, context.now
    family = family_id or randomness.token(18)
    text = access_token or randomness.guid()
    last = absolute_end(context, facts or {})
    latest = min(last, session_ends_at) if session_ends_at is not None else last
    ends = min(now + timedelta(seconds=access_seconds or settings.access_token_minutes * 60), latest)
    row: dict[str, Any] = {
        "tenant_id": context.tenant.tenant_id,
        "token_hash": randomness.digest(text),
        "uid": uid,
        "client_id": client_id,
        "session_id": session_id,
        "family_id": family,
        "scope": scope,
        "facts": {**(facts or {}), ENDS_AT: int(last.timestamp())},
        "issued_at": now,
        "expires_at": ends,
    }
    store.add_access(context.work, row)
    refresh = None
    if with_refresh and settings.refresh_tokens:
        refresh = randomness.guid()
        until = min(now + timedelta(seconds=refresh_seconds or settings.refresh_token_minutes * 60), latest)
        store.add_refresh(context.work, {**row, "token_hash": randomness.digest(refresh), "expires_at": until})
    return IssuedTokens(text, refresh, ends, family)


def absolute_end(context: Context, facts: Mapping[str, object], since: datetime | None = None) -> datetime:
    """Return when the last token of a family ends, however often it is refreshed or slid.

    Args:
        facts: of one of its tokens; empty for a family that begins now.
        since: when a token without that fact was issued, by a version before.
    """
    kept = facts.get(ENDS_AT)
    if isinstance(kept, int):
        return datetime.fromtimestamp(kept, UTC)
    return (since or context.now) + timedelta(days=context.tenant.settings.token_absolute_days)


def holder_of(context: Context, shown: str | None, operation: AnyOperation) -> TokenHolder:
    """Return the account behind an access token.

    Raises 1409 on user operations, 905 and 906 where the operation names them, `invalid_token` in the OAuth family; the family's
    `access_refused` for an application's token that lacks what the operation declares.
    """
    found = store.access(context.work, randomness.digest(shown)) if shown else None
    if found is not None and found.expires_at > context.now and found.uid is not None:
        if not may_use(context, found):
            raise operation.error_profile.access_refused or e.NotAuthenticated
        return replace(found, token=shown or "")
    if operation.error_profile is OAUTH:
        raise oauth.InvalidToken
    if found is not None and e.ExpiredAccessToken in operation.errors:
        raise e.ExpiredAccessToken
    if e.InvalidAccessToken in operation.errors:
        raise e.InvalidAccessToken if shown else e.MissingAccessToken
    raise e.NotAuthenticated


def may_use(context: Context, holder: TokenHolder) -> bool:
    """Return whether the token may be used at this request's operation.

    Tokens of the API's own sign-ins always may. An application's token needs the scope that the operation declares, and its
    client must be active and still have that scope in its `interface_access`: a change there takes effect at once.
    """
    if holder.client_id is None:
        return True
    access = context.operation.admission.access if context.operation is not None else None
    if access is None or access.scope is None:
        return False
    if not access.scope:
        return True
    client = context.application(client_id=holder.client_id)
    is_allowed = client is not None and client.settings.is_active and access.scope in client.settings.interface_scopes
    return is_allowed and access.scope in holder.scope.split()


def rotate(context: Context, refresh_token: str, *, client_id: str | None) -> SpentRefreshToken:
    """Spend a refresh token; it works once, whoever races.

    Raises RefreshRefused. A token that was used before revokes its whole family, which outlives the refusal.
    """
    token_hash = randomness.digest(refresh_token)
    row = store.spend_refresh(context.work, token_hash, client_id, context.now)
    if row is not None:
        return SpentRefreshToken(row.uid, row.client_id, row.session_id, row.scope, dict(row.facts), row.family_id)
    known = store.refresh(context.work, token_hash)
    context.work.rollback()
    if known is not None and known.used_at is not None and known.client_id == client_id:
        with context.work.separate_transaction() as own:
            store.delete_family(own, known.family_id)
        context.audit.record("refresh_token.reused", uid=known.uid, client_id=client_id, family=known.family_id)
        raise RefreshRefused(is_reuse=True)
    raise RefreshRefused


def slide(context: Context, holder: TokenHolder) -> datetime:
    """Push the access token's end a full lifetime ahead, as far as its absolute end, and return it."""
    return prolong(context, holder, None)


def find(context: Context, shown: str) -> TokenHolder | None:
    """Return what an account's access token stands for, expired or not; None also for one that may not be used here."""
    found = store.access(context.work, randomness.digest(shown))
    is_usable = found is not None and may_use(context, found) and found.uid is not None
    return replace(found, token=shown) if found is not None and is_usable else None


def prolong(context: Context, holder: TokenHolder, seconds: int | None) -> datetime:
    """Let the access token end so many seconds from now, or a full lifetime, at most at its absolute end; return when."""
    wanted = context.now + timedelta(seconds=seconds or context.tenant.settings.access_token_minutes * 60)
    ends = min(wanted, absolute_end(context, holder.facts, holder.issued_at))
    store.set_expiry(context.work, holder.token_hash, ends)
    return ends


def record_step_up(context: Context, holder: TokenHolder) -> None:
    """Note that the person behind a token stepped up just now, for every token of its family."""
    store.record_step_up(context.work, holder.token_hash, int(context.now.timestamp()))


def revoke_access(context: Context, token_hash: str) -> bool:
    """End one access token; returns whether it lived."""
    return store.delete_access(context.work, token_hash)


def revoke_both(context: Context, token_hash: str) -> bool:
    """End an access token and the refresh tokens that came with it; returns whether it lived."""
    return store.delete_access_and_refresh(context.work, token_hash)


def revoke_refresh(context: Context, refresh_token: str) -> bool:
    """End one refresh token's rotation chain; its access tokens live on (interface account.md row A24)."""
    return store.delete_refresh(context.work, randomness.digest(refresh_token))


def revoke_family(context: Context, family_id: str) -> None:
    """End every token that came of one authorization."""
    store.delete_family(context.work, family_id)


def revoke_with_session(context: Context, session_id: str) -> None:
    """End the tokens that end with a session; those that outlive it go on."""
    store.delete_of_session(context.work, session_id)


def revoke_session(context: Context, uid: str, session_id: str) -> None:
    """End every token that a session of the account gave out, those that outlive it too."""
    store.delete_of_session(context.work, session_id)
    store.delete_outliving_session(context.work, uid, session_id)


def revoke_refresh_of_account(context: Context, uid: str) -> None:
    """End every refresh token of an account; its access tokens live on."""
    store.delete_refresh_of_account(context.work, uid)


def by_account(context: Context, uid: str) -> list[TokenHolder]:
    """Return the account's live access tokens, the newest first; their text is not known."""
    return store.by_account(context.work, uid, context.now)


def authorized_clients(context: Context, uid: str) -> list[AuthorizedClient]:
    """Return which applications hold live tokens of an account."""
    return store.authorized_clients(context.work, uid, context.now)


def revoke_client(context: Context, uid: str, client_id: str) -> None:
    """Delete every token that an application holds of an account."""
    store.delete_of_client(context.work, uid, client_id)


def count_program_sessions(context: Context, uid: str) -> int:
    """Return how many live sessions an account has with programs: access tokens of the interface's own sign-ins."""
    return store.count_program_sessions(context.work, uid, context.now)


def revoke_all(context: Context, uid: str, except_session: str | None = None, except_token: str | None = None) -> None:
    """End every token of an account, but for those that end with one session, and those that came with one access token.

    What outlives that session ends too: a password change must also lock out a thief with an offline token.
    """
    store.delete_all_except(context.work, uid, except_session, except_token)
