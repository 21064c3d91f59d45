"""Issues, checks, rotates and revokes tokens. Access tokens are GUIDs, opaque to everybody else (interface user.md section 6)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from app.contract import errors as e
from app.contract import errors_oauth as oauth
from app.contract.families import OAUTH
from app.identity.call import Call, TokenHolder
from app.identity.tokens import store
from app.identity.tokens.store import HeldBy
from app.kit import randomness
from app.kit.operation import AnyOperation


@dataclass(frozen=True)
class Issued:
    """Tokens just made; the only moment at which their text exists."""

    access_token: str
    refresh_token: str | None
    access_expires_at: datetime
    family_id: str


@dataclass(frozen=True)
class Rotated:
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
    call: Call,
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
) -> Issued:
    """Make an access token and, where asked and switched on, a refresh token of the same family.

    `access_token` is a text made elsewhere (a signed JWT) to keep instead of a GUID.
    """
    settings = call.tenant.settings
    now = call.now
    family = family_id or randomness.token(18)
    text = access_token or randomness.guid()
    ends = now + timedelta(seconds=access_seconds or settings.access_token_minutes * 60)
    row: dict[str, Any] = {
        "tenant_id": call.tenant.tenant_id,
        "token_hash": randomness.digest(text),
        "uid": uid,
        "client_id": client_id,
        "session_id": session_id,
        "family_id": family,
        "scope": scope,
        "facts": facts or {},
        "issued_at": now,
        "expires_at": ends,
    }
    store.add_access(call.work, row)
    refresh = None
    if with_refresh and settings.refresh_tokens:
        refresh = randomness.guid()
        life = timedelta(seconds=refresh_seconds or settings.refresh_token_minutes * 60)
        store.add_refresh(call.work, {**row, "token_hash": randomness.digest(refresh), "expires_at": now + life})
    return Issued(text, refresh, ends, family)


def holder_of(call: Call, shown: str | None, operation: AnyOperation) -> TokenHolder:
    """Return the account behind an access token.

    Raises 1409 on user operations, 905 and 906 where the operation names them, `invalid_token` in the OAuth family.
    """
    found = store.access(call.work, randomness.digest(shown)) if shown else None
    if found is not None and found.expires_at > call.now and found.uid is not None:
        return replace(found, token=shown or "")
    if operation.family is OAUTH:
        raise oauth.InvalidToken
    if found is not None and e.ExpiredAccessToken in operation.errors:
        raise e.ExpiredAccessToken
    if e.InvalidAccessToken in operation.errors:
        raise e.InvalidAccessToken if shown else e.MissingAccessToken
    raise e.NotAuthenticated


def rotate(call: Call, refresh_token: str, *, client_id: str | None) -> Rotated:
    """Spend a refresh token; it works once, whoever races.

    Raises RefreshRefused. A token that was used before revokes its whole family, which outlives the refusal.
    """
    token_hash = randomness.digest(refresh_token)
    row = store.spend_refresh(call.work, token_hash, client_id, call.now)
    if row is not None:
        return Rotated(row.uid, row.client_id, row.session_id, row.scope, dict(row.facts), row.family_id)
    known = store.refresh(call.work, token_hash)
    call.work.rollback()
    if known is not None and known.used_at is not None and known.client_id == client_id:
        with call.work.apart() as own:
            store.drop_family(own, known.family_id)
        call.ledger.record("refresh_token.reused", uid=known.uid, client_id=client_id, family=known.family_id)
        raise RefreshRefused(is_reuse=True)
    raise RefreshRefused


def slide(call: Call, holder: TokenHolder) -> datetime:
    """Push the access token's end a full lifetime ahead and return it."""
    ends = call.now + timedelta(minutes=call.tenant.settings.access_token_minutes)
    store.set_expiry(call.work, holder.token_hash, ends)
    return ends


def find(call: Call, shown: str) -> TokenHolder | None:
    """Return what an account's access token stands for, expired or not."""
    found = store.access(call.work, randomness.digest(shown))
    return replace(found, token=shown) if found is not None and found.uid is not None else None


def prolong(call: Call, holder: TokenHolder, seconds: int | None) -> datetime:
    """Let the access token end so many seconds from now, or a full lifetime, and return when."""
    ends = call.now + timedelta(seconds=seconds or call.tenant.settings.access_token_minutes * 60)
    store.set_expiry(call.work, holder.token_hash, ends)
    return ends


def revoke_access(call: Call, token_hash: str) -> bool:
    """End one access token; returns whether it lived."""
    return store.drop_access(call.work, token_hash)


def revoke_both(call: Call, token_hash: str) -> bool:
    """End an access token and the refresh tokens that came with it; returns whether it lived."""
    return store.drop_access_and_refresh(call.work, token_hash)


def revoke_refresh(call: Call, refresh_token: str) -> bool:
    """End one refresh token's rotation chain; its access tokens live on (interface account.md row A24)."""
    return store.drop_refresh(call.work, randomness.digest(refresh_token))


def revoke_family(call: Call, family_id: str) -> None:
    """End every token that came of one authorization."""
    store.drop_family(call.work, family_id)


def revoke_session(call: Call, session_id: str) -> None:
    """End the access and refresh tokens that a browser session gave out, offline ones too."""
    store.drop_session(call.work, session_id)


def revoke_refresh_of_account(call: Call, uid: str) -> None:
    """End every refresh token of an account; its access tokens live on."""
    store.drop_refresh_of_account(call.work, uid)


def of_account(call: Call, uid: str) -> list[TokenHolder]:
    """Return the account's live access tokens, the newest first; their text is not known."""
    return store.of_account(call.work, uid, call.now)


def clients(call: Call, uid: str) -> list[HeldBy]:
    """Return which applications hold live tokens of an account."""
    return store.clients(call.work, uid, call.now)


def revoke_client(call: Call, uid: str, client_id: str) -> None:
    """Delete every token that an application holds of an account."""
    store.drop_client(call.work, uid, client_id)


def signed_in(call: Call, uid: str) -> int:
    """Return how many live sessions an account has with programs: access tokens of the interface's own sign-ins."""
    return store.signed_in(call.work, uid, call.now)


def revoke_others(call: Call, uid: str, session_id: str | None, holder: TokenHolder | None) -> None:
    """End every token of an account, but for those of this session and the one that was shown, with its refresh tokens."""
    store.drop_others(call.work, uid, session_id, holder.token_hash if holder else None)


def revoke_all(call: Call, uid: str, except_session: str | None = None, except_token: str | None = None) -> None:
    """End every token of an account, but for those of one session, and those that came with one access token."""
    store.drop_account(call.work, uid, except_session, except_token)
