"""The services that all visits of a hub process share, and the identity client of the current visit."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Final

from flask import Flask, current_app

from app.contract.sessions.models import Session
from app.contract.visitor_claims import SESSION_HEADER, VisitorClaims
from app.hub.client.identity_client import IdentityClient
from app.hub.encryption import CookieCipher, derive_key
from app.hub.locale import COOKIE, current_language
from app.hub.tenants.tenant_cache import TenantCache
from app.hub.web.cached_responses import ResponseCache
from app.hub.web.csrf import FormTokens
from app.hub.web.interaction import InteractionCookies
from app.hub.web.visit import current_visit
from app.kit.clock import Clock, SystemClock
from app.kit.operations.client import Client, ResponseHeaders
from app.settings import Settings

if TYPE_CHECKING:
    import httpx  # noqa: TID251 - for its types alone

    from app.hub.client.known_names import KnownNames
    from app.hub.client.theme_failures import ThemeFailureReports
    from app.hub.client.theme_files import ThemeFileCache
    from app.kit.operations.server import OperationServer

COST_HEADER: Final = "X-Gatehouse-Cost"


@dataclass(frozen=True)
class HubServices:
    """The services of one hub process."""

    settings: Settings
    clock: Clock
    identity_client: IdentityClient
    tenancy: TenantCache
    cookie_cipher: CookieCipher
    cached_pages: ResponseCache = field(default_factory=ResponseCache)

    @cached_property
    def cookie_prefix(self) -> str:
        """`__Host-` over https: browsers then keep the cookie to this host (RFC 6265bis §4.1.3.2). Empty over http."""
        return "__Host-" if self.is_https else ""

    @cached_property
    def is_https(self) -> bool:
        """Whether browsers reach the hub over https."""
        return self.settings.public_scheme == "https"

    @cached_property
    def language_cookie(self) -> str:
        """Name of the cookie with the language chosen last in this browser."""
        return f"{self.cookie_prefix}{COOKIE}"

    @cached_property
    def brand_cookie(self) -> str:
        """Name of the cookie with the key of the brand chosen last in this browser."""
        return f"{self.cookie_prefix}gatehouse-brand"

    @cached_property
    def session_cookie(self) -> str:
        return f"{self.cookie_prefix}gatehouse-session"

    @cached_property
    def other_sessions_cookie(self) -> str:
        """Name of the cookie with the sessions of other accounts that this browser stays signed in to."""
        return f"{self.cookie_prefix}gatehouse-accounts"

    @cached_property
    def trusted_cookie(self) -> str:
        """Name of the cookie with which a browser is not asked for a second factor."""
        return f"{self.cookie_prefix}gatehouse-trusted"

    @cached_property
    def passkey_cookie(self) -> str:
        """Name of the cookie with a digest of the passkey that this device holds; the list of passkeys marks it."""
        return f"{self.cookie_prefix}gatehouse-passkey"

    @cached_property
    def browser_cookie(self) -> str:
        """Name of the cookie with the secret of this browser, to which interactions and forms outside of one are bound."""
        return f"{self.cookie_prefix}gatehouse-browser"

    @cached_property
    def last_application_cookie(self) -> str:
        """Name of the cookie with the application that this browser signed in to last."""
        return f"{self.cookie_prefix}gatehouse-application"

    @cached_property
    def last_method_cookie(self) -> str:
        """Name of the cookie with the sign-in method that this browser used last."""
        return f"{self.cookie_prefix}gatehouse-method"

    @cached_property
    def identifier_cookie(self) -> str:
        """Name of the cookie with the identifier that was typed on the sign-in page, for its other pages."""
        return f"{self.cookie_prefix}gatehouse-identifier"

    @cached_property
    def invitation_link_cookie(self) -> str:
        """Name of the cookie with the invitation link that was just created, for the page that shows it."""
        return f"{self.cookie_prefix}gatehouse-invitation-link"

    @cached_property
    def setup_cookie(self) -> str:
        """Name of the cookie with the session of the set-up guide, which a link opened."""
        return f"{self.cookie_prefix}gatehouse-setup"

    @cached_property
    def state_cookie(self) -> str:
        """Name of the session iframe's cookie. Its path is the iframe's, which `__Host-` does not allow."""
        return f"{'__Secure-' if self.cookie_prefix else ''}gatehouse-state"

    @cached_property
    def form_tokens(self) -> FormTokens:
        return FormTokens([derive_key(secret, "hub form tokens") for secret in self.settings.secrets])

    @cached_property
    def interactions(self) -> InteractionCookies:
        return InteractionCookies(self.cookie_cipher, self.cookie_prefix)

    @cached_property
    def theme_failures(self) -> ThemeFailureReports:
        """The reports of themes that fail on pages; loaded with the first one."""
        from app.hub.client.theme_failures import ThemeFailureReports  # noqa: PLC0415 - decision 0366

        def client(tenant: str) -> Client:
            claims = VisitorClaims(host=f"{tenant}.{self.settings.hub_domain}", scheme=self.settings.public_scheme)
            return self.identity_client.for_visit(claims, None)

        return ThemeFailureReports(client)

    @cached_property
    def theme_files(self) -> ThemeFileCache:
        """The files of themes; loaded with the first one."""
        from app.hub.client.theme_files import ThemeFileCache  # noqa: PLC0415 - as above

        return ThemeFileCache(self.known_names)

    @cached_property
    def known_names(self) -> KnownNames:
        """The names of files that tenants have; loaded with the first one."""
        from app.hub.client.known_names import KnownNames  # noqa: PLC0415 - as above

        return KnownNames()

    def now(self) -> int:
        """Return the time in seconds since 1970."""
        return int(self.clock.now().timestamp())


def make_services(
    settings: Settings,
    transport: httpx.BaseTransport | None,
    clock: Clock | None,
    server: OperationServer | None,
    *,
    watches_tenants: bool = False,
) -> HubServices:
    """Return the services of a process; `create_app` describes the arguments."""
    time, address = clock or SystemClock(), settings.api_url or settings.base_url
    keys = tuple(derive_key(secret, "hub calls") for secret in settings.secrets)
    identity_client = IdentityClient(address, keys, time, transport, server)
    return HubServices(
        settings=settings,
        clock=time,
        identity_client=identity_client,
        tenancy=TenantCache(identity_client.for_hub, is_watched=watches_tenants),
        cookie_cipher=CookieCipher(settings.secrets),
    )


def services() -> HubServices:
    """Return the services of this process."""
    app: Flask = current_app._get_current_object()  # type: ignore[attr-defined]  # each access through the proxy costs a look-up
    shared: HubServices = app.extensions["gatehouse"]
    return shared


def api(password: str | None = None) -> Client:
    """Return the client of the identity service for the current visit.

    `password`: the one typed to reauthenticate; the session is renewed if it was needed, and the change is made.
    """
    shared, visit = services(), current_visit()

    def on_response(headers: ResponseHeaders) -> None:
        shared.tenancy.on_response(visit.host, headers)
        if cost := headers.get(COST_HEADER):
            visit.costs.append(cost)
        if renewed := headers.get(SESSION_HEADER):
            visit.renew(Session.model_validate_json(renewed))

    return shared.identity_client.for_visit(visit.to_visitor_claims(current_language(), password), on_response)
