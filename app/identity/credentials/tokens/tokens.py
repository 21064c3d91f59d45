"""Issues, checks, rotates and revokes tokens.

Access tokens have the form of a GUID; no table gives refresh tokens one.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from app.contract import errors
from app.contract.error_profiles import OAUTH
from app.contract.oauth import oauth_errors
from app.identity.credentials.tokens import token_store
from app.identity.credentials.tokens.token_store import AuthorizedClient
from app.identity.directory.organizations.memberships import memberships
from app.identity.platform.context import Context, TokenHolder
from app.identity.platform.token_claims import TokenClaims
from app.kit import randomness
from app.kit.operations.operation import AnyOperation


@dataclass(frozen=True, kw_only=True)
class TokenGrant:
    """The subject, client, claims and lifetimes of new tokens."""

    uid: str | None  # None: a client's own token
    claims: TokenClaims
    """Stored with both tokens; `ends_at`, the absolute end of the family, is set if absent."""
    client_id: str | None = None  # None: a token of the API's own sign-ins
    session_id: str | None = None
    """The session with which the tokens end; tokens that outlive a session have it as their claim `sid` instead."""
    session_ends_at: datetime | None = None
    """No token expires later than this, or than the family."""
    scope: str = ""
    family_id: str | None = None  # None: a new family
    access_seconds: int | None = None  # None: the tenant's lifetime
    refresh_seconds: int | None = None
    has_refresh_token: bool = True
    signed_access_token: str | None = None
    """A JWT to store instead of a new GUID."""
    retained_refresh_token: str | None = None
    """The refresh token that stays, extended like a new one."""


@dataclass(frozen=True)
class IssuedTokens:
    """New tokens. Only their digests are stored."""

    access_token: str
    refresh_token: str | None
    access_expires_at: datetime
    family_id: str


@dataclass(frozen=True)
class SpentRefreshToken:
    """The grant of a valid refresh token, which was spent or stays valid."""

    uid: str | None
    client_id: str | None
    session_id: str | None
    scope: str
    claims: TokenClaims
    family_id: str
    is_repeated: bool = False  # a further use within the reuse interval


class RefreshRefused(Exception):
    """The refresh token is unknown, expired, of another client, or was used before (`is_reuse`)."""

    def __init__(self, is_reuse: bool = False) -> None:
        super().__init__("refresh token refused")
        self.is_reuse = is_reuse


def issue(context: Context, grant: TokenGrant) -> IssuedTokens:
    """Issue an access token and, if requested and enabled, a refresh token of the same family."""
    settings, now = context.tenant.settings, context.now
    family = grant.family_id or randomness.token(18)
    text = grant.signed_access_token or randomness.guid()
    last = absolute_end(context, grant.claims, since=now)
    latest = min(last, grant.session_ends_at) if grant.session_ends_at is not None else last
    ends = min(now + timedelta(seconds=grant.access_seconds or settings.access_token_minutes * 60), latest)
    row: dict[str, Any] = {
        "tenant_id": context.tenant.tenant_id,
        "token_hash": randomness.digest(text),
        "uid": grant.uid,
        "client_id": grant.client_id,
        "session_id": grant.session_id,
        "family_id": family,
        "scope": grant.scope,
        "facts": replace(grant.claims, ends_at=int(last.timestamp())).to_stored(),
        "issued_at": now,
        "expires_at": ends,
    }
    token_store.add_access(context.work, row)
    refresh = None
    if grant.has_refresh_token and settings.refresh_tokens:
        until = min(now + timedelta(seconds=grant.refresh_seconds or settings.refresh_token_minutes * 60), latest)
        refresh = _store_refresh(context, {**row, "expires_at": until}, grant.retained_refresh_token)
    return IssuedTokens(text, refresh, ends, family)


def _store_refresh(context: Context, row: dict[str, Any], retained: str | None) -> str:
    """Store a new refresh token, or extend the existing one, and return its text."""
    if retained is not None:
        token_store.extend_refresh(context.work, randomness.digest(retained), row["expires_at"])
        return retained
    text = randomness.token()
    token_store.add_refresh(context.work, {**row, "token_hash": randomness.digest(text)})
    return text


def absolute_end(context: Context, claims: TokenClaims, since: datetime | None = None) -> datetime:
    """Return when the last token of a family expires, however often it is refreshed or extended.

    Args:
        claims: of one of its tokens; NO_CLAIMS for a new family.
        since: the issue time of a token without `ends_at`; by default now.
    """
    if claims.ends_at is not None:
        return datetime.fromtimestamp(claims.ends_at, UTC)
    return (since or context.now) + timedelta(days=context.tenant.settings.token_absolute_days)


def holder_of(context: Context, token: str | None, operation: AnyOperation) -> TokenHolder:
    """Return the account behind an access token.

    Raises:
        NotAuthenticated: on user operations.
        InvalidAccessToken, ExpiredAccessToken: if the operation declares them.
        `invalid_token` in the OAuth error profile; the profile's `access_refused` for an application's token without the
        scope that the operation declares.
    """
    holder = token_store.access_with_account(context, token) if token else None
    if holder is not None and not is_member(context, holder):
        holder = None
    if holder is not None and holder.expires_at > context.now and holder.uid is not None:
        if not may_use(context, holder):
            raise operation.error_profile.access_refused or errors.NotAuthenticated
        return holder
    if operation.error_profile is OAUTH:
        raise oauth_errors.InvalidToken if token else oauth_errors.MissingToken
    if holder is not None and errors.ExpiredAccessToken in operation.errors:
        raise errors.ExpiredAccessToken
    raise errors.NotAuthenticated


def is_member(context: Context, holder: TokenHolder) -> bool:
    """Return whether the account is still a member of the active organization that the token is for, if it is for one."""
    org_id = holder.claims.org_id
    return org_id is None or memberships.of_uid(context, holder.uid, org_id) is not None


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


def rotate(context: Context, refresh_token: str, *, client_id: str | None, reuse_seconds: int) -> SpentRefreshToken:
    """Spend a refresh token. Only one of several concurrent calls succeeds, and a few reuses within the reuse interval.

    Raises RefreshRefused. Any other reuse of a token revokes its whole family, even though the request fails.
    """
    token_hash = randomness.digest(refresh_token)
    spent = token_store.spend_refresh(context.work, token_hash, client_id, context.now)
    if spent is not None:
        return _spent(spent)
    interval = timedelta(seconds=reuse_seconds)
    again = token_store.reuse_refresh(context.work, token_hash, client_id, context.now, interval) if interval else None
    if again is not None:
        return replace(_spent(again), is_repeated=True)
    known = token_store.refresh(context.work, token_hash)
    context.work.rollback()
    if known is not None and known.used_at is not None and known.client_id == client_id:
        with context.work.separate_transaction() as transaction:
            token_store.delete_family(transaction, known.family_id)
        context.audit.record("refresh_token.reused", uid=known.uid, client_id=client_id, family=known.family_id)
        raise RefreshRefused(is_reuse=True)
    raise RefreshRefused


def retain(context: Context, refresh_token: str, *, client_id: str) -> SpentRefreshToken:
    """Return the grant of a refresh token that stays valid. Raises RefreshRefused."""
    row = token_store.lock_refresh(context.work, randomness.digest(refresh_token), client_id, context.now)
    if row is None:
        raise RefreshRefused
    return _spent(row)


def record_repeated(context: Context, spent: SpentRefreshToken) -> None:
    """Record that a further pair was issued for a replaced refresh token; called after the last check."""
    if spent.is_repeated:
        context.audit.record("refresh_token.repeated", uid=spent.uid, client_id=spent.client_id, family=spent.family_id)


def _spent(row: Any) -> SpentRefreshToken:
    claims = TokenClaims.from_stored(row.facts)
    return SpentRefreshToken(row.uid, row.client_id, row.session_id, row.scope, claims, row.family_id)


def slide(context: Context, holder: TokenHolder) -> datetime:
    """Extend the access token by a full lifetime, at most to its absolute end, and return its expiry."""
    return prolong(context, holder, None)


def find(context: Context, token: str) -> TokenHolder | None:
    """Return the holder of an access token, expired or not; None also if the token may not be used at this operation.

    A sender-constrained token is found only if it authenticated the request; in a parameter its sender is not verified.
    """
    holder = token_store.access(context.work, randomness.digest(token))
    if holder is None or not holder.uid or not may_use(context, holder) or not is_member(context, holder):
        return None
    is_own = context.holder is not None and context.holder.token_hash == holder.token_hash
    if holder.claims.cnf is not None and not is_own:
        return None
    return replace(holder, token=token)


def prolong(context: Context, holder: TokenHolder, seconds: int | None) -> datetime:
    """Let the access token expire in `seconds` or a full lifetime, at most at its absolute end; return its expiry."""
    requested = context.now + timedelta(seconds=seconds or context.tenant.settings.access_token_minutes * 60)
    ends = min(requested, absolute_end(context, holder.claims, holder.issued_at))
    token_store.set_expiry(context.work, holder.token_hash, ends)
    return ends


def record_reauthentication(context: Context, holder: TokenHolder) -> None:
    """Record a step-up at this moment on every token of the token's family."""
    token_store.record_reauthentication(context.work, holder.token_hash, int(context.now.timestamp()))


def revoke_access(context: Context, token_hash: str) -> bool:
    """Revoke one access token. Return whether it was valid."""
    return token_store.delete_access(context.work, token_hash)


def revoke_both(context: Context, token_hash: str) -> bool:
    """Revoke an access token and the refresh tokens of its family. Return whether it was valid."""
    return token_store.delete_access_and_refresh(context.work, token_hash)


def revoke_refresh(context: Context, refresh_token: str) -> bool:
    """Revoke the rotation chain of a refresh token, used or not. Its access tokens stay valid."""
    return token_store.delete_refresh(context.work, randomness.digest(refresh_token))


def revoke_family(context: Context, family_id: str) -> None:
    """Revoke every token of one authorization."""
    token_store.delete_family(context.work, family_id)


def revoke_with_session(context: Context, uid: str, session_id: str) -> None:
    """Revoke the tokens that end with a session of the account, not those that outlive it."""
    token_store.delete_of_session(context.work, uid, session_id)


def revoke_session(context: Context, uid: str, session_id: str) -> None:
    """Revoke every token issued in a session of the account, also those that outlive it."""
    token_store.delete_of_session(context.work, uid, session_id)
    token_store.delete_outliving_session(context.work, uid, session_id)


def revoke_with_method(context: Context, uids: Collection[str], method: str, session_ids: Collection[str]) -> None:
    """Revoke the tokens of these accounts whose sign-in had an `amr`, also those that outlive its session, and those of these sessions."""
    token_store.delete_with_method(context.work, uids, method, session_ids)


def revoke_refresh_of_account(context: Context, uid: str) -> None:
    """Revoke every refresh token of an account. Its access tokens stay valid."""
    token_store.delete_refresh_of_account(context.work, uid)


def by_account(context: Context, uid: str) -> list[TokenHolder]:
    """Return the account's valid access tokens, the newest first, without their text."""
    return token_store.by_account(context.work, uid, context.now)


def authorized_clients(context: Context, uid: str) -> list[AuthorizedClient]:
    """Return the applications that have valid tokens of an account."""
    return token_store.authorized_clients(context.work, uid, context.now)


def revoke_client(context: Context, uid: str, client_id: str) -> None:
    """Revoke every token that an application has of an account."""
    token_store.delete_of_client(context.work, uid, client_id)


def count_program_sessions(context: Context, uid: str) -> int:
    """Return the number of an account's sessions with programs: access tokens of the API's own sign-ins."""
    return token_store.count_program_sessions(context.work, uid, context.now)


def revoke_all(context: Context, uid: str, except_session: str | None = None, except_token: str | None = None) -> None:
    """Revoke every token of an account, except those that end with one session and those of one access token's family.

    Tokens that outlive that session are revoked too: a password change must also lock out an attacker with an offline token.
    """
    token_store.delete_all_except(context.work, uid, except_session, except_token)
