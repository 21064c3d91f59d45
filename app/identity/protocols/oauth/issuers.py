"""Issuers: the tenant-wide one, and one per application."""

from __future__ import annotations

from dataclasses import dataclass, replace
from urllib.parse import quote

from app.contract.applications.client_protocol import ClientProtocol
from app.contract.errors import UnknownAccount
from app.contract.oauth.oauth_errors import UnknownApplication
from app.contract.oauth.pages.authorization_pages import HubClient
from app.identity.directory.tenants import profile_client
from app.identity.platform.context import Context
from app.identity.platform.tenant import Application
from app.kit.operations.request_parsing import RawRequest


@dataclass(frozen=True)
class Issuer:
    """One issuer and its endpoints.

    `app` is the application's registered name, None for the tenant-wide issuer; `key` is the tenant's API key, which the
    token endpoint of an OAuth application requires, so the metadata publishes it.
    """

    hub_url: str
    protocol: ClientProtocol
    app: str | None
    key: str

    @property
    def url(self) -> str:
        """The `iss` value, never with a slash at its end."""
        return f"{self.hub_url}/service/{self.protocol.segment}/{quote(self.app)}" if self.app else self.hub_url

    @property
    def token_endpoint(self) -> str:
        address = self.client_endpoint("token")
        return f"{address}?apikey={quote(self.key)}" if self.protocol is ClientProtocol.OAUTH else address

    def browser_endpoint(self, name: str) -> str:
        """Return the address of an endpoint that browsers call, or of the keys."""
        return f"{self.hub_url}/service/{self._path(name)}"

    def client_endpoint(self, name: str) -> str:
        """Return the address of an endpoint that clients call."""
        return f"{self.hub_url}/api/{self._path(name)}"

    def _path(self, name: str) -> str:
        return f"{self.protocol.segment}/{quote(self.app)}/{name}" if self.app else f"{self.protocol.segment}/{name}"


def tenant_wide(context: Context) -> Issuer:
    """Return the tenant's issuer, for all of its applications."""
    return Issuer(context.issuer, ClientProtocol.OPENID, None, context.tenant.api_key)


def of_application(context: Context, client: Application) -> Issuer:
    """Return the application's own issuer."""
    return Issuer(context.issuer, client.settings.protocol, client.issuer_name, context.tenant.api_key)


def protocol_at(raw: RawRequest) -> ClientProtocol:
    """Return the protocol of the requested address. Its declared path says it, because an application or a tenant may be named `oauth`."""
    is_oauth = ClientProtocol.OAUTH.segment in raw.route.split("/")
    return ClientProtocol.OAUTH if is_oauth else ClientProtocol.OPENID


def is_addressed_by(client: Application, raw: RawRequest) -> bool:
    """Return whether the address belongs to the client: its issuer and its protocol, or the tenant-wide address."""
    app = raw.parameters.get("app")
    if app is None:
        return True
    return client.issuer_name.lower() == app.lower() and client.settings.protocol == protocol_at(raw)


def is_standard_endpoint(raw: RawRequest) -> bool:
    """Return whether the address is the standard endpoint, without an application and not for machine tokens."""
    return "app" not in raw.parameters and not raw.route.startswith("/service/oauth/")


def require_application(context: Context, app: str) -> Application:
    """Return the active application of that name; raises UnknownApplication for one of the other protocol."""
    client = context.application(name=app)
    if client is None or not client.settings.is_active or client.settings.protocol != protocol_at(context.raw):
        raise UnknownApplication
    return client


def requested_issuer(context: Context, client: Application) -> Issuer:
    """Return the issuer whose endpoint this client calls; client authentication checked that the address is the client's."""
    return of_application(context, client) if "app" in context.raw.parameters else tenant_wide(context)


def is_issuer_of(context: Context, url: object, client: Application) -> bool:
    """Return whether tokens for this client may have this `iss`, which depends on the address where they were issued."""
    names = (None, client.issuer_name)
    protocol, key = client.settings.protocol, context.tenant.api_key
    return url in {Issuer(address, protocol, name, key).url for address in context.own_urls for name in names}


def issuer_of_url(context: Context, client: Application, url: str) -> Issuer:
    """Return the issuer of this `iss` value, at which the client began its request."""
    own = of_application(context, client)
    return own if own.url == url else replace(tenant_wide(context), hub_url=url.split("/service/", 1)[0])


def hub_client(context: Context, name: str) -> HubClient:
    """Return the hub's own registration for the callback of that name; raises UnknownAccount for another name."""
    if f"/callback/{name}" != profile_client.CALLBACK:
        raise UnknownAccount
    issuer = tenant_wide(context)
    return HubClient(
        client_id=profile_client.CLIENT_ID,
        issuer=issuer.url,
        authorization_endpoint=issuer.browser_endpoint("authorize"),
        token_endpoint=issuer.token_endpoint,
        jwks_uri=issuer.browser_endpoint("jwks"),
    )
