"""Issuers: the tenant-wide one, and one per application (design section 3)."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import quote

from app.contract.errors import UnknownAccount
from app.contract.hub import HubClient
from app.identity.directory.tenants import profile_client
from app.identity.platform.context import Context
from app.identity.platform.tenant import Application

OIDC, OAUTH = "oidc", "oauth"
_PROTOCOLS = {"openid": OIDC, "oauth": OAUTH}


@dataclass(frozen=True)
class Issuer:
    """One issuer and its endpoints.

    `app` is the application's name as registered, None for the tenant-wide one; `key` the tenant's API key, which the
    token address of an OAuth application must carry, so it is published with it.
    """

    hub_url: str
    protocol: str
    app: str | None
    key: str

    @property
    def url(self) -> str:
        """The `iss` value; no slash at its end, anywhere."""
        return f"{self.hub_url}/service/{self.protocol}/{quote(self.app)}" if self.app else self.hub_url

    @property
    def token_endpoint(self) -> str:
        address = self.back("token")
        return f"{address}?apikey={quote(self.key)}" if self.protocol == OAUTH else address

    def front(self, what: str) -> str:
        """Return the address of an endpoint that browsers and key readers call."""
        return f"{self.hub_url}/service/{self._path(what)}"

    def back(self, what: str) -> str:
        """Return the address of an endpoint that clients call."""
        return f"{self.hub_url}/api/{self._path(what)}"

    def _path(self, what: str) -> str:
        return f"{self.protocol}/{quote(self.app)}/{what}" if self.app else f"{self.protocol}/{what}"


def tenant_wide(context: Context) -> Issuer:
    """Return the issuer of all of the tenant's applications."""
    return Issuer(context.issuer, OIDC, None, context.tenant.api_key)


def of_application(context: Context, client: Application) -> Issuer:
    """Return the application's own issuer."""
    return Issuer(context.issuer, _PROTOCOLS[client.settings.protocol], client.name, context.tenant.api_key)


def at(context: Context, client: Application) -> Issuer:
    """Return the issuer whose endpoint this client calls. Client authentication has checked that the address is the client's."""
    return of_application(context, client) if "app" in context.raw.parameters else tenant_wide(context)


def is_ours(context: Context, url: object, client: Application) -> bool:
    """Return whether this client gets tokens under this `iss`."""
    return url in (tenant_wide(context).url, of_application(context, client).url)


def own_client(context: Context, name: str) -> HubClient:
    """Return the hub's own registration for the callback of that name; raises UnknownAccount for any other."""
    if f"/callback/{name}" != profile_client.CALLBACK:
        raise UnknownAccount
    issuer = tenant_wide(context)
    return HubClient(
        client_id=profile_client.CLIENT_ID,
        issuer=issuer.url,
        authorization_endpoint=issuer.front("authorize"),
        token_endpoint=issuer.token_endpoint,
        jwks_uri=issuer.front("jwks"),
    )
