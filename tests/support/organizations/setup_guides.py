"""An organization whose administrator sets up its connection by a link, and their browser."""

from __future__ import annotations

import html
import re
from typing import Any
from urllib.parse import urlsplit

from tests.support.fakes.dns_server import FakeDns
from tests.support.fakes.identity_provider import CLIENT, SECRET, FakeProvider
from tests.support.oauth.world import World
from tests.support.organizations.connected_organization import DOMAIN, MINA
from tests.support.organizations.management import PATH, Business
from tests.support.tenants.tenant_server import answered
from tests.support.visitors.visitor import VisitedPage, Visitor


class SetupByLink:
    """A link of an organization, and the browser of its administrator."""

    def __init__(
        self, tenant: World, business: Business, visitor: Visitor, provider: FakeProvider, dns: FakeDns, **members: Any
    ) -> None:
        self.tenant, self.business, self.visitor, self.provider, self.dns = tenant, business, visitor, provider, dns
        self.org = business.create("Globex", Display={"Name": "Globex Gardens"})
        dns.mail_server(DOMAIN)
        self.link = self.new_link(**members)

    def new_link(self, **members: Any) -> dict[str, Any]:
        return answered(self.business.send("POST", f"{PATH}/{self.org}/setup-links", members))

    @property
    def path(self) -> str:
        """The address of the link on the tenant's host."""
        parts = urlsplit(self.link["Url"])
        return f"{parts.path}?{parts.query}"

    def stored(self) -> dict[str, Any]:
        """Return the link as the interface shows it now."""
        return answered(self.business.send("GET", f"{PATH}/{self.org}/setup-links/{self.link['Id']}"))

    def connections(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = answered(self.business.send("GET", f"{PATH}/{self.org}/connections"))["Data"]
        return found

    def open(self, visitor: Visitor | None = None) -> VisitedPage:
        """Open the link, and press its button."""
        return (visitor or self.visitor).open(self.path).press("Start setup")

    def publish(self, page: VisitedPage) -> None:
        """Add the record that the page shows to the domain."""
        (record,) = re.findall(r"gatehouse-domain-verification=\w+", html.unescape(page.html))
        self.dns.text(DOMAIN, record)

    def with_domain(self) -> VisitedPage:
        """Verify the domain; return the next page."""
        page = self.open().press("Add domain", name=DOMAIN)
        self.publish(page)
        return page.press(f"Verify {DOMAIN}")

    def with_product(self, name: str = "OpenID Connect") -> VisitedPage:
        return self.with_domain().press(name)

    def with_values(self, **values: str) -> VisitedPage:
        """Paste the values of the provider; return the page of the test."""
        typed = {"issuer": self.provider.url, "client_id": CLIENT, "client_secret": SECRET, **values}
        return self.with_product().press("Save and continue", **typed)

    def test(self, page: VisitedPage, button: str = "Sign in to test", **claims: Any) -> VisitedPage:
        """Sign in at the provider, by default as Mina; return the page that shows what came of it."""
        redirected = page.press(button)
        return self.visitor.open(self.provider.callback_url(redirected.address, **{**MINA, **claims}))

    def tested(self) -> VisitedPage:
        return self.test(self.with_values())

    def activated(self) -> VisitedPage:
        return self.tested().press("Save and continue").press("Activate")
