"""A tenant whose accounts are members of organizations, and applications that sign in to them. pytest loads it as a plugin."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from flask import Flask

from app.contract.hub import Next
from tests.support.oauth_world import World
from tests.support.organizations import Business
from tests.support.relying_party import Browser, Person, RelyingParty, claims_in, code_of, parameters_of
from tests.support.tenant_server import TenantServer, answered


@dataclass(frozen=True)
class Company:
    """A tenant with organizations, as its server and its people use it."""

    world: World
    business: Business
    ada: Person
    browser: Browser

    def join(self, person: Person, org: str, name: str, *permissions: str) -> str:
        """Give a person a new role of an organization, with these permissions; return the role's id."""
        ids = tuple(self.permission(one) for one in permissions)
        role = self.business.role(name, org=org, permissions=ids)
        answered(self.business.assign(person.uid, org, role))
        return role

    def permission(self, name: str) -> str:
        """Return the id of a permission of this name, which may be there already."""
        found = answered(self.business.send("GET", "/v2/manage/permissions"))["Data"]
        known = next((one["Id"] for one in found if one["Name"] == name), None)
        return str(known or self.business.permission(name))

    def leave(self, person: Person, org: str, *roles: str) -> None:
        path = f"/v2/manage/account/{person.uid}/orgcontext/{org}/roles"
        answered(self.business.send("DELETE", path, {"RoleIds": list(roles)}))

    def open(self, client: RelyingParty, person: Person | None = None, **changed: str | None) -> Next:
        """Send a signed-in person's authorization request."""
        return self.browser.signed_in(person or self.ada).authorize(client.authorization_parameters(**changed))

    def error(self, client: RelyingParty, person: Person | None = None, **changed: str | None) -> tuple[str, str]:
        """Return the error response of a request."""
        held = parameters_of(self.open(client, person, **changed))
        return held["error"], held["error_description"]

    def tokens(self, client: RelyingParty, **changed: str | None) -> dict[str, Any]:
        """Return the token response of a request that needs no page."""
        return answered(client.redeem(code_of(self.open(client, None, **changed))))


def organization_in(token: str) -> dict[str, Any]:
    """Return a JWT's claims about the organization."""
    return {name: value for name, value in claims_in(token).items() if name.startswith("org_")}


@pytest.fixture
def company(world: World, identity_app: Flask, ada: Person, browser: Browser) -> Company:
    server = TenantServer(world.services, identity_app, world.tenant_id, world.name, world.api_key, world.api_secret)
    return Company(world, Business(server), ada, browser)
