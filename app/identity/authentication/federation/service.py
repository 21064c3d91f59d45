"""Federated sign-in: the redirect to a provider and back, with one state token bound to interaction, tenant and
connection.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Final

from app.contract.connections import PRESETS, ConnectionSettings, resolved
from app.contract.errors import federation as e
from app.contract.linking import PROVIDERS
from app.identity.authentication.federation.providers.oauth2 import OAuth2Provider
from app.identity.authentication.federation.providers.openid import OpenIdProvider, supports_reauthentication
from app.identity.directory.identity_provider import AuthenticationRequest, Provider, ProviderDenied, ProviderIdentity
from app.identity.directory.tenants import tenant_secrets
from app.identity.platform import continuation_tokens
from app.identity.platform.context import Context
from app.identity.platform.continuation_tokens import ContinuationPurpose, ContinuationToken
from app.identity.platform.outbound import ProviderUnavailable
from app.kit import randomness
from app.kit.clock import aware

log = logging.getLogger("gatehouse.identity")

LIFETIME: Final = timedelta(minutes=10)
CALLBACK: Final = "/socialauth/validate.sauth"
"""The callback path: the redirect URI that tenants register at their providers."""


class ConnectionRefused(Exception):
    """The visitor declined at the provider, or the provider refused the sign-in."""


class ConnectionBroken(Exception):
    """The provider does not respond, or its response is invalid."""


class UnknownState(Exception):
    """The state was never issued, expired, was used, or belongs to another tenant."""


@dataclass(frozen=True)
class Connection:
    """A provider through which the tenant's accounts may sign in."""

    name: str
    title: str
    trusts_email: bool
    asks_anew: bool  # OpenID Connect supports it, except Google; `auth_time` tells whether the provider did


def active_connections(context: Context) -> tuple[Connection, ...]:
    """Return the tenant's active connections: presets first, then by name, because stored keys have no order."""
    stated, usual = context.tenant.settings.connections, list(PRESETS)
    names = sorted(stated, key=lambda name: (usual.index(name) if name in usual else len(usual), name))
    return tuple(_connection(name, stated[name]) for name in names if stated[name].is_active)


def find(context: Context, name: str) -> Connection:
    """Return an active connection by its name. Raises UnknownConnection (1190), ConnectionNotConfigured (1223)."""
    wanted = name.strip().lower()
    stated = context.tenant.settings.connections.get(wanted)
    if stated is None and wanted not in PROVIDERS:
        raise e.UnknownConnection
    if stated is None or not stated.is_active:
        raise e.ConnectionNotConfigured
    return _connection(wanted, stated)


def title_for(context: Context, name: str) -> str:
    """Return the display name of a connection, also of a removed one."""
    stated, preset = context.tenant.settings.connections.get(name), PRESETS.get(name)
    if stated is not None:
        return _connection(name, stated).title
    return preset.title if preset else name


def begin(
    context: Context,
    connection: Connection,
    interaction_id: str,
    *,
    again: bool = False,
    hint: str = "",
) -> str:
    """Return the provider's authorization URL for the browser.

    Args:
        again: whether the provider must authenticate anew, even with a session there.
        hint: the expected account's identifier.

    Raises:
        ConnectionBroken: the provider's metadata names no authorization endpoint.
    """
    text = randomness.token()
    asked = AuthenticationRequest(
        f"{interaction_id}.{text}", randomness.token(16), randomness.token(48), f"{context.issuer}{CALLBACK}"
    )
    language = context.visit.language if context.visit else ""
    provider = _provider(context, connection.name)
    context.work.release_connection()
    try:
        address = provider.authorization_url(asked, hint=hint, is_reauthentication=again, language=language)
    except ProviderUnavailable as problem:
        raise _log_broken(connection.name, problem) from None
    kept = {
        "attempt": interaction_id, "connection": connection.name, "nonce": asked.nonce, "verifier": asked.code_verifier, "again": again,
    }  # fmt: skip
    continuation_tokens.issue(
        context,
        ContinuationPurpose.CONNECTION,
        continuation_tokens.NO_ACCOUNT,
        lifetime=LIFETIME,
        facts=kept,
        text=text,
    )
    return address


def finish(context: Context, state: str, answer: Mapping[str, str]) -> tuple[ProviderIdentity, Connection]:
    """Use the state up, and return the identity that the provider authenticated.

    The returned connection trusts the address only where the provider owns mailboxes of its domain.

    Args:
        answer: the parameters of the callback.

    Raises:
        UnknownState, ConnectionRefused, ConnectionBroken: see their docstrings.
    """
    ticket = _spend_state(context, state)
    name = str(ticket.facts["connection"])
    try:
        connection = find(context, name)
    except (e.UnknownConnection, e.ConnectionNotConfigured):
        raise ConnectionBroken(f"{name} was taken away") from None
    since = aware(ticket.created_at) if ticket.facts["again"] else None
    asked = AuthenticationRequest(
        state, ticket.facts["nonce"], ticket.facts["verifier"], f"{context.issuer}{CALLBACK}", since
    )
    provider = _provider(context, name)
    context.work.release_connection()
    try:
        claimed = provider.fetch_identity(asked, answer, context.now)
    except ProviderDenied as reason:
        log.info("connection %s refused: %s", name, reason)
        raise ConnectionRefused from None
    except ProviderUnavailable as problem:
        raise _log_broken(name, problem) from None
    trusts_email = connection.trusts_email and claimed.gives_email
    return claimed, replace(connection, trusts_email=trusts_email)


def _spend_state(context: Context, state: str) -> ContinuationToken:
    interaction_id, _, text = state.rpartition(".")
    found = continuation_tokens.find(context, ContinuationPurpose.CONNECTION, text)
    if found is None or found.is_expired(context.now) or found.facts["attempt"] != interaction_id:
        raise UnknownState
    with context.work.separate_transaction() as own:
        if not continuation_tokens.spend(replace(context, work=own), found):
            raise UnknownState
    return found


def _log_broken(name: str, problem: ProviderUnavailable) -> ConnectionBroken:
    log.warning("connection %s: %s", name, problem)
    return ConnectionBroken(name)


def _connection(name: str, stated: ConnectionSettings) -> Connection:
    whole = resolved(name, stated)
    return Connection(name, whole.title or name, bool(whole.trusts_email), supports_reauthentication(whole.issuer))


def _provider(context: Context, name: str) -> Provider:
    whole = resolved(name, context.tenant.settings.connections[name])
    secret = tenant_secrets.secrets_of(context.services.encryption, context.tenant, tenant_secrets.CONNECTIONS).get(
        name, ""
    )
    if whole.issuer:
        return OpenIdProvider(name, whole, secret, context.services.provider_metadata)
    return OAuth2Provider(name, whole, secret, context.services.provider_metadata.resolver)
