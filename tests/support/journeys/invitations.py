"""Guests of an organization, and their use of the link. pytest loads it as a plugin."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.support.accounts.mailbox import links_to, mails_to, path_of
from tests.support.oauth.world import NewWorld, World
from tests.support.organizations.invitations import GUEST, PATH, InvitingBusiness
from tests.support.tenants.tenant_server import TenantServer, answered
from tests.support.visitors.visitor import NewVisitorAt, VisitedPage, Visitor

PASSWORD = "correct horse 7"


NewGuest = Callable[..., "Guest"]


class Guest:
    """A visitor with an invitation of Grace to the organization Acme."""

    def __init__(
        self, world: World, business: InvitingBusiness, visitor: Visitor, new_visitor: Callable[[], Visitor]
    ) -> None:
        self.world, self.business, self.visitor, self.new_visitor = world, business, visitor, new_visitor
        self.invitation = str(business.invite()["Id"])

    @property
    def link(self) -> str:
        (*_, mail) = [
            item for item in mails_to(self.world.services, self.world.tenant_id, GUEST) if links_to(item, "/invitation")
        ]
        return path_of(links_to(mail, "/invitation")[-1])

    def open(self, **query: str) -> VisitedPage:
        more = "&".join(f"{name}={value}" for name, value in query.items())
        return self.visitor.open(f"{self.link}?{more}" if more else self.link)

    def sign_in(self, email: str = GUEST) -> None:
        """Create an account with this verified address, and sign in to it."""
        self.world.person(email)
        self.visitor.open("/login").press("Sign in", identifier=email, password=PASSWORD)

    def status(self) -> str:
        return str(answered(self.business.send("GET", f"{PATH}/{self.invitation}"))["Status"])

    def members(self) -> list[str]:
        """Return the addresses of the members beside Grace."""
        return [member["Email"] for member in self.business.members() if member["Uid"] != self.business.grace]


@pytest.fixture
def new_guest(new_world: NewWorld, new_visitor_at: NewVisitorAt, identity_app: Any) -> NewGuest:
    def make(**settings: Any) -> Guest:
        world = new_world(limits={"register_per_minute_per_address": 0}, **settings)
        server = TenantServer(
            world.services, identity_app, world.tenant_id, world.name, world.api_key, world.api_secret
        )
        return Guest(world, InvitingBusiness(server), new_visitor_at(world), lambda: new_visitor_at(world))

    return make


@pytest.fixture
def guest(new_guest: NewGuest) -> Guest:
    return new_guest()
