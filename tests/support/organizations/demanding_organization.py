"""An organization that demands its connections, and what the pages of a sign-in offer its people."""

from __future__ import annotations

import re
from typing import Any

from tests.support.fakes.identity_provider import CLIENT, SECRET
from tests.support.oauth.relying_party import RelyingParty
from tests.support.organizations.connected_organization import DOMAIN, ConnectedOrganization, NewConnected
from tests.support.organizations.management import PATH
from tests.support.tenants.tenant_server import answered
from tests.support.visitors.visitor import VisitedPage

DEMAND: dict[str, Any] = {"MethodPolicy": {"AllowedMethods": ["connection"]}}
STRONG = "A staple & 9 horses"
NOBODY = f"nobody@{DOMAIN}"
FIRST, SECOND = "Continue with sign-in", "Continue with okta"
ONLY = "Globex Gardens requires a connected account"
ANOTHER_WAY = "Sign in another way"


def demanding(new_connected: NewConnected, *, connections: int = 1, **settings: Any) -> ConnectedOrganization:
    """Return an organization that demands its connections, none of which has a domain of its own."""
    globex = new_connected(settings=settings, Domain=None)
    if connections > 1:
        add_connection(globex)
    globex.set_policies(**DEMAND)
    return globex


def add_connection(globex: ConnectedOrganization, **members: Any) -> str:
    """Add a second connection; return its id."""
    body = {
        "Name": "okta", "ConnectionType": "oidc_custom", "Issuer": globex.provider.url, "ClientId": CLIENT,
        "ClientSecret": SECRET, **members,
    }  # fmt: skip
    return str(answered(globex.business.send("POST", f"{PATH}/{globex.org}/connections", body))["Id"])


def shop_of(globex: ConnectedOrganization) -> RelyingParty:
    return globex.tenant.application("shop", client_name="Shop", organization_usage="allow")


def at_provider(globex: ConnectedOrganization, page: VisitedPage) -> bool:
    return page.address.startswith(f"{globex.provider.url}/authorize")


def typed(globex: ConnectedOrganization, email: str, *, is_stepwise: bool) -> VisitedPage:
    """Type an address into the first page of a new browser."""
    page = globex.new_visitor_at(globex.tenant).open("/login")
    if is_stepwise:
        return page.press("Continue", identifier=email)
    return page.press("Sign in", identifier=email, password="correct horse 7")


def buttons(page: VisitedPage) -> list[str]:
    """Return the connections that a page offers."""
    return re.findall(r'<span dir="auto">(Continue with [^<]+)</span>', page.html)


def asks_password(page: VisitedPage) -> bool:
    return 'name="password"' in page.html


def policy_of(page: VisitedPage) -> str:
    assert page.answer is not None
    return page.answer.headers["Content-Security-Policy"]
