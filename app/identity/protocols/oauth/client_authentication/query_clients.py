"""Clients that authenticate by `clientID` and `clientSecret` in the query, at the operations of organizations (decision 0352).

The client needs the scope of the operation among its `audience_scopes` for the management operations.
"""

from __future__ import annotations

from typing import Final

from app.contract.errors import MachineRefused, TooManyRequests
from app.identity.platform import powers
from app.identity.platform.context import Context
from app.identity.platform.services import IdentityServices
from app.identity.platform.store.unit_of_work import Cost
from app.identity.platform.tenant import Application, Tenant
from app.identity.protocols.oauth.client_authentication import client_authentication
from app.identity.protocols.oauth.tokens import machine_tokens
from app.kit.limits.rate_limits import OverLimit, Rate
from app.kit.operations.request_parsing import RawRequest
from app.kit.web.proxies import network_of

_ID, _SECRET = "clientid", "clientsecret"
_REFUSED: Final = Rate(200, 60)
"""Refused pairs of one network, of all tenants together: without an API key, the pair names the tenant."""
_WRONG: Final = "The clientID and the clientSecret are not accepted."


def is_sent(raw: RawRequest) -> bool:
    """Return whether the request has a client's id or secret in its query."""
    return raw.first(_ID, _SECRET) is not None


def tenant_of(services: IdentityServices, raw: RawRequest, cost: Cost) -> Tenant:
    """Return the tenant whose client has this id and secret. Raises MachineRefused, TooManyRequests."""
    _limit_guesses(services, raw)
    client_id, secret = _pair(raw)
    tenant = services.directory.by_client(client_id, secret, cost) if client_id and secret else None
    if tenant is None:
        _limit_guesses(services, raw, is_wrong=True)
        raise MachineRefused(_WRONG)
    return tenant


def admit(context: Context, scope: str) -> tuple[Application, frozenset[str]]:
    """Authenticate the client of the request, and return it with its scopes. Raises MachineRefused, TooManyRequests."""
    _limit_guesses(context.services, context.raw)
    client_id, secret = _pair(context.raw)
    client = context.application(client_id=client_id) if client_id else None
    is_right = client_authentication.has_secret(context, client, secret or "")
    if client is None or not is_right or not client.settings.is_active:
        _limit_guesses(context.services, context.raw, is_wrong=True)
        context.audit.record("secret.refused", client_id=(client_id or "")[:128])
        raise MachineRefused(_WRONG)
    if client.settings.needs_bound_tokens:
        raise MachineRefused("The client's tokens are bound to their sender. Send a machine token with its proof.")
    scopes = machine_tokens.management_scopes(context.services, client)
    if scopes.isdisjoint({scope, powers.ALL}):
        raise MachineRefused(f"The client lacks the scope {scope}. Its AudienceScopes give it scopes.")
    return client, scopes


def _pair(raw: RawRequest) -> tuple[str | None, str | None]:
    """Return the id and the secret; neither if one of them is repeated, of which two parsers could pick different values."""
    names = [name.lower() for name, value in raw.query_pairs if value]
    if names.count(_ID) > 1 or names.count(_SECRET) > 1:
        return None, None
    return raw.first(_ID), raw.first(_SECRET)


def _limit_guesses(services: IdentityServices, raw: RawRequest, *, is_wrong: bool = False) -> None:
    """Refuse a network that guessed too often; `is_wrong` counts this request. Raises TooManyRequests."""
    network = network_of(raw.address)
    charge = services.limits.count_against if is_wrong else services.limits.refuse_over_limit
    try:
        charge("query_clients.refused", _REFUSED, "", network)
    except OverLimit as over:
        raise TooManyRequests(retry_after_seconds=over.retry_after_seconds) from None
