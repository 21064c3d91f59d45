"""An account at a tenant of its own, with everything that the ways to sign in need: programs, browsers, applications, a provider."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from flask import Flask

from tests.support.accounts.customers import OLD
from tests.support.credentials.passkeys import PasskeyHolder, origin_of
from tests.support.credentials.software_authenticator import Authenticator
from tests.support.fakes.identity_provider import FakeProvider
from tests.support.oauth.relying_party import Person, RelyingParty
from tests.support.oauth.world import World
from tests.support.operation_cases.cases import account_holder
from tests.support.tenants.tenant_server import NewTenantServer
from tests.support.visitors.plain_client import PlainClient
from tests.support.visitors.visitor import VisitedPage, Visitor


@dataclass
class SigningAccount(PasskeyHolder):
    """An account that signs in in every way."""

    hub: Flask | None = field(default=None, repr=False)
    provider: FakeProvider | None = field(default=None, repr=False)

    @property
    def world(self) -> World:
        """The tenant, as applications see it."""
        at = self.tenant
        return World(at.services, PlainClient(at.app), at.tenant_id, at.name, at.api_key)

    @property
    def person(self) -> Person:
        return Person(self.tenant.services, self.tenant.tenant_id, self.uid, self.email, OLD)

    def browser(self) -> Visitor:
        """Open a new browser at the tenant."""
        assert self.hub is not None
        return Visitor(PlainClient(self.hub), origin_of(self.tenant))

    def signed_in_browser(self) -> Visitor:
        visitor = self.browser()
        page = self.types_password(visitor.open("/login"))
        assert page.address.endswith("/profile"), page.text
        return visitor

    def types_password(self, page: VisitedPage) -> VisitedPage:
        return page.sign_in(self.email, OLD)

    def application(self, **settings: Any) -> RelyingParty:
        return self.world.application("Shop", client_uri="https://shop.example/", **settings)

    def block(self) -> None:
        """Block the account and nothing else: its sessions and tokens stay, so that each path must ask."""
        self.set_columns(is_active=False)


def signing_account(make: NewTenantServer, hub: Flask, provider: FakeProvider, **settings: Any) -> SigningAccount:
    """Return an account of a new tenant with these settings."""
    who = SigningAccount(**vars(account_holder(make, **settings)), hub=hub, provider=provider)
    who.device = Authenticator(origin_of(who.tenant))
    return who
