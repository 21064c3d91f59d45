"""Clients that authenticate by `clientID` and `clientSecret` in the query, at the operations of organizations.

The client is one that may have machine tokens: it needs the scope of the operation there.
"""

from __future__ import annotations

from typing import Final

from app.contract.errors import MachineRefused, TooManyRequests
from app.identity.platform import powers
from app.identity.platform.context import Context
from app.identity.platform.services import Services
from app.identity.platform.store.unit import Cost
from app.identity.platform.tenant import Application, Tenant
from app.identity.protocols.oauth import machine_tokens
from app.identity.protocols.oauth.client_authentication import service as client_authentication
from app.kit.limits import OverLimit, Rate
from app.kit.proxies import network_of
from app.kit.reading import RawRequest

_ID, _SECRET = "clientid", "clientsecret"
_REFUSED: Final = Rate(200, 60)
"""Refused pairs of one network, of all tenants together: the pair names the tenant."""


def is_sent(raw: RawRequest) -> bool:
    """Return whether the request has a client's id or secret in its query."""
    return raw.first(_ID, _SECRET) is not None


def tenant_of(services: Services, raw: RawRequest, cost: Cost) -> Tenant:
    """Return the tenant whose client has this id and secret. Raises MachineRefused, TooManyRequests."""
    limit = ("query_clients.refused", _REFUSED, "", network_of(raw.address))
    try:
        services.limits.demand(*limit)
        client_id, secret = raw.first(_ID), raw.first(_SECRET)
        tenant = services.directory.by_client(client_id, secret, cost) if client_id and secret else None
        if tenant is None:
            services.limits.spend(*limit)
            raise MachineRefused
    except OverLimit as over:
        raise TooManyRequests(retry_after_seconds=over.retry_after_seconds) from None
    return tenant


def admit(context: Context, scope: str) -> Application:
    """Authenticate the client of the request and return it. Raises MachineRefused."""
    client_id, secret = context.raw.first(_ID), context.raw.first(_SECRET)
    client = context.application(client_id=client_id) if client_id else None
    is_right = client_authentication.has_secret(context, client, secret or "")
    if client is None or not is_right or not client.settings.is_active:
        context.audit.record("secret.refused", client_id=(client_id or "")[:128])
        raise MachineRefused("The clientID and the clientSecret are not accepted.")
    if machine_tokens.scopes_of_client(context.services, client).isdisjoint({scope, powers.ALL}):
        raise MachineRefused(f"The client lacks the scope {scope}.")
    return client
