"""How long tokens live: their settings, the end of their session, and the policies of organizations."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Final

from app.identity.credentials.tokens import tokens
from app.identity.directory.accounts.account import Account
from app.identity.directory.organizations import active_policies
from app.identity.platform.context import Context
from app.identity.platform.tenant import Application
from app.identity.platform.token_claims import NO_CLAIMS, TokenClaims

OFFLINE: Final = "offline_access"


def outlives_session(client: Application, scope: Iterable[str]) -> bool:
    """Return whether tokens of this scope outlive their session (OpenID Connect Core section 11), as all do for some clients.

    `offline_access` counts only while the client still has it.
    """
    return client.settings.tokens_outlive_session or (OFFLINE in scope and OFFLINE in client.scopes)


def has_refresh_token(client: Application, scope: Iterable[str]) -> bool:
    """Return whether a grant of this scope comes with a refresh token (OpenID Connect Core section 11, decision 0147)."""
    settings = client.settings
    return "refresh_token" in settings.grant_types and (settings.refresh_tokens == "always" or OFFLINE in scope)


def refresh_lifetime(context: Context, client: Application, claims: TokenClaims = NO_CLAIMS) -> timedelta:
    """Return the lifetime of a refresh token of the client, in the family with these claims or in a new family."""
    seconds = client.settings.refresh_token_seconds or context.tenant.settings.refresh_token_minutes * 60
    return min(timedelta(seconds=seconds), tokens.absolute_end(context, claims) - context.now)


def access_lifetime(context: Context, client: Application) -> timedelta:
    """Return the lifetime of the client's access tokens; a session or a family may end them sooner."""
    return timedelta(seconds=client.settings.access_token_seconds or context.tenant.settings.access_token_minutes * 60)


def token_lifetimes(
    context: Context,
    client: Application,
    account: Account | None,
    stored: TokenClaims,
    session_ends_at: datetime | None,
) -> tuple[int, int | None]:
    """Return the lifetimes of an access and a refresh token in seconds, shortened by the account's organizations."""
    own = client.settings
    access, refresh = active_policies.shortest_lifetimes(
        context, account, own.access_token_seconds, own.refresh_token_seconds
    )
    lifetime = _lifetime(context, client, stored, session_ends_at)
    return min(lifetime, access or lifetime), refresh


def _lifetime(context: Context, client: Application, stored: TokenClaims, session_ends_at: datetime | None) -> int:
    """Return the lifetime of an access token in seconds."""
    now = context.now
    ends_at = tokens.absolute_end(context, stored, since=now)
    remaining = (min(ends_at, session_ends_at) if session_ends_at else ends_at) - now
    return max(1, int(min(access_lifetime(context, client), remaining).total_seconds()))
