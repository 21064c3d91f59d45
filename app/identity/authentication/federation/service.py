"""The way to another provider and back: one ticket for each, bound to the attempt, to the tenant and to the connection."""

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
"""Where browsers come back to: the redirect URI that tenants state at their providers."""


class ConnectionRefused(Exception):
    """The person said no at the provider, or it let nobody in."""


class ConnectionBroken(Exception):
    """The provider does not answer, or answers what cannot be believed."""


class UnknownState(Exception):
    """Nobody was sent out with this state: it is over, was used, or is another tenant's."""


@dataclass(frozen=True)
class Connection:
    """One provider through which people of the tenant may sign in."""

    name: str
    title: str
    trusts_email: bool
    asks_anew: bool  # OpenID Connect knows how, but for Google; whether the provider did, it says itself


def active_connections(context: Context) -> tuple[Connection, ...]:
    """Return the connections of the tenant that are active: the usual ones first, then by name (a store keeps no order of keys)."""
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
    """Return what people call a connection, also of one that was taken away."""
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
    """Return the provider's address to which the browser is led.

    Args:
        again: whether the provider is to ask for a proof, whoever is signed in there.
        hint: whom the application expects.

    Raises:
        ConnectionBroken: the provider does not say where people sign in.
    """
    text = randomness.token()
    asked = AuthenticationRequest(
        f"{interaction_id}.{text}", randomness.token(16), randomness.token(48), f"{context.issuer}{CALLBACK}"
    )
    language = context.visit.language if context.visit else ""
    provider = _provider(context, connection.name)
    context.work.release_connection()
    try:
        address = provider.address(asked, hint=hint, again=again, language=language)
    except ProviderUnavailable as problem:
        raise _log_broken(connection.name, problem) from None
    kept = {
        "attempt": interaction_id, "connection": connection.name, "nonce": asked.nonce, "verifier": asked.verifier, "again": again,
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
    """Use a state up, and have the provider say whom the browser brought back.

    The connection that is returned trusts the address only where the provider gives mailboxes of that domain.

    Args:
        answer: the parameters with which the browser came back.

    Raises:
        UnknownState: see there.
        ConnectionRefused: see there.
        ConnectionBroken: see there.
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
        claimed = provider.claimed(asked, answer, context.now)
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
