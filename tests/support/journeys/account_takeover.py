"""An attacker with the password changes everything that the account pages allow."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from flask import Flask

from tests.support.accounts.customers import NEW, OLD, PATH, Customer
from tests.support.accounts.mailbox import link_in, links_to, mails_to, token_in
from tests.support.tenants.tenant_server import answered
from tests.support.visitors.plain_client import PlainClient
from tests.support.visitors.visitor import VisitedPage, Visitor

OWN, EMAIL, DELETE = "/identity/v2/auth/account", "/identity/v2/auth/email", "/identity/v2/auth/account/delete"


NOT_ME, SAVE, OWNER_PASSWORD = "Secure my account", "Save password", "Amber-window-44"


@dataclass
class Takeover:
    """The owner's account and the attacker's changes."""

    c: Customer
    hub: Flask
    bearer: str = ""
    refresh: str = ""
    links: dict[str, str] = field(default_factory=dict)

    def browser(self) -> Visitor:
        return Visitor(PlainClient(self.hub), self.c.tenant.services.settings.hub_url(self.c.tenant.name))

    def mails(self, to: str) -> list[dict[str, Any]]:
        return mails_to(self.c.tenant.services, self.c.tenant.tenant_id, to)

    def alerts(self, to: str) -> list[str]:
        return [link for mail in self.mails(to) for link in links_to(mail["text"], "/not-me")]

    def own(self, method: str, path: str, body: object = None) -> Any:
        return self.c.tenant.send(method, path, body, bearer=self.bearer)

    def add_address(self, address: str) -> None:
        """Add and verify an address."""
        answered(self.own("POST", EMAIL, {"email": address, "type": "Secondary"}))
        token = token_in(self.mails(address)[-1])
        answered(self.c.tenant.send("GET", EMAIL, with_secret=False, verificationtoken=token))

    def open_link(self, link: str, visitor: Visitor | None = None) -> VisitedPage:
        parts = urlsplit(link)
        return (visitor or self.browser()).open(f"{parts.path}?{parts.query}")

    def revert(self, alert: str) -> None:
        """Close the account by an alert and set a new password from the reset mail."""
        owner = self.browser()
        assert self.open_link(alert, owner).press(NOT_ME).heading == "Check your email"
        result = self.open_link(link_in(self.mails(self.c.email)[-1]), owner).press(SAVE, password=OWNER_PASSWORD)
        assert result.address.endswith("/profile?changed=password")


def remove_owner_address(takeover: Takeover) -> None:
    answered(takeover.own("DELETE", EMAIL, {"email": takeover.c.email}))


def change_password(takeover: Takeover) -> None:
    answered(takeover.own("PUT", f"{PATH}/change", {"oldpassword": OLD, "newpassword": NEW}))
