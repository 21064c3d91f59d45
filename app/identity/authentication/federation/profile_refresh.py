"""Reads the profile of a linked identity from its provider again, with the tokens of its last sign-in (decision 0132)."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from app.contract import errors
from app.contract.errors import TooManyRequests
from app.contract.federation.connection_checks import ConnectionCheck
from app.identity.authentication.federation import connection_traces, federated_sign_in, provider_clients
from app.identity.directory.accounts import linked_identities, provider_tokens
from app.identity.directory.accounts.account import Account
from app.identity.directory.accounts.linked_identities import Identity
from app.identity.directory.accounts.provider_tokens import StoredTokens
from app.identity.directory.identity_provider import (
    ProfileUnsupported,
    ProviderIdentity,
    ProviderTokens,
    UpstreamProvider,
)
from app.identity.platform.context import Context
from app.identity.platform.outbound.outbound_http import ProviderUnavailable
from app.kit.limits.rate_limits import Rate

log = logging.getLogger("gatehouse.identity")

_READS: Final = Rate(10, 60)  # per account
_SKEW: Final = timedelta(seconds=10)
_UNAUTHORIZED: Final = 401


def refresh(context: Context, account: Account) -> Account:
    """Read the profile of the current identity again and return the changed account.

    The current identity is that of the access token's session, otherwise that of the profile's
    `UpstreamProvider`. The provider is asked outside of the transaction, for at most five seconds per request.

    Raises:
        NoProviderProfile: there is no such identity, its tokens are not kept, or its provider has no profile endpoint.
        ProviderFailed: the provider refused or did not respond.
        TooManyRequests: ten reads of the account in a minute, or another request is renewing its tokens.
    """
    context.count_against("provider_profile", _READS, account.uid)
    linked = _current_identity(account, context.token_holder.claims.provider or "")
    stored = provider_tokens.usable(context, account, linked.key) if linked is not None else None
    if linked is None or stored is None:
        raise errors.NoProviderProfile
    context.work.release_connection()
    try:
        provider = provider_clients.for_website(context, linked.provider)
        identity = _Reader(context, provider, account.uid, linked, stored).read()
    except ProfileUnsupported:
        raise errors.NoProviderProfile from None
    except ProviderUnavailable as problem:
        secrets = (stored.tokens.access_token, stored.tokens.refresh_token)
        connection_traces.record(context, linked.provider, problem, secrets=secrets)
        log.warning("profile of connection %s: %s", linked.provider, problem)
        raise errors.ProviderFailed(provider_response=federated_sign_in.provider_response(problem)) from None
    is_partial = provider.has_id_token
    try:
        return linked_identities.update_profile(context, account, identity, is_partial=is_partial)
    except linked_identities.NotLinked:
        raise errors.NoProviderProfile from None


@dataclass(frozen=True)
class _Reader:
    """Reads one identity, and renews its tokens once if they have expired."""

    context: Context
    provider: UpstreamProvider
    uid: str
    linked: Identity
    stored: StoredTokens

    def read(self) -> ProviderIdentity:
        """Return the identity as the provider has it now. Raises ProfileUnsupported, ProviderUnavailable, TooManyRequests."""
        tokens = self.stored.tokens
        has_expired = tokens.expires_at is not None and tokens.expires_at <= self.context.now + _SKEW
        if has_expired and tokens.refresh_token:
            return self._read_with(self._renew())
        try:
            return self._read_with(tokens)
        except ProviderUnavailable as problem:
            if problem.status != _UNAUTHORIZED or not tokens.refresh_token:
                raise
        return self._read_with(self._renew())

    def _read_with(self, tokens: ProviderTokens) -> ProviderIdentity:
        identity = self.provider.read_identity(tokens.access_token)
        if identity.subject != self.linked.subject:  # OpenID Connect Core section 5.3.2
            text = "the profile is about another subject"
            raise ProviderUnavailable(text, check=ConnectionCheck.USERINFO, expected="the subject of the identity")
        return identity

    def _renew(self) -> ProviderTokens:
        """Return new tokens; they are committed at once, because the provider may have revoked the former ones."""
        context, key = self.context, self.linked.key
        with context.work.separate_transaction() as work:
            latest = provider_tokens.begin_renewal(context.within(work), self.uid, key, self.stored)
        if latest is None:
            raise TooManyRequests(retry_after_seconds=int(provider_tokens.RENEWAL.total_seconds()))
        if latest.encrypted != self.stored.encrypted:
            return latest.tokens
        tokens = self.provider.renew_tokens(self.stored.tokens, context.now)
        with context.work.separate_transaction() as work:
            provider_tokens.replace_tokens(context.within(work), self.uid, key, self.stored, tokens)
        return tokens


def _current_identity(account: Account, provider: str) -> Identity | None:
    """Return the identity of a provider that signed in last; without one, that of the profile's `UpstreamProvider`."""
    linked = linked_identities.of(account)
    names = (provider, linked_identities.provider_name(account))
    of_provider = next(
        (found for name in names if (found := [identity for identity in linked if identity.provider == name])), []
    )
    return max(of_provider, key=lambda name: name.used_at or name.linked_at, default=None)
