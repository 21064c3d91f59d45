"""A tenant whose accounts are members of organizations, and applications that sign in to them. pytest loads it as a plugin."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import pytest
from flask import Flask

from app.kit.operations.errors import ApiError
from tests.support.oauth.relying_party import Browser, Person, RelyingParty, claims_in, code_of, parameters_of
from tests.support.oauth.world import World
from tests.support.organizations.management import Business
from tests.support.tenants.tenant_server import TenantServer, answered
from tests.support.visitors.answered_step import AnsweredStep

OWN = "/hub/own/organizations"


@dataclass(frozen=True)
class Company:
    """A tenant with organizations, as its server and its people use it."""

    world: World
    business: Business
    ada: Person
    browser: Browser

    def join(self, person: Person, org: str, name: str, *permissions: str) -> str:
        """Give a person a new role of an organization, with these permissions; return the role's id."""
        ids = tuple(self.permission(permission) for permission in permissions)
        role = self.business.role(name, org=org, permissions=ids)
        answered(self.business.assign(person.uid, org, role))
        return role

    def permission(self, name: str) -> str:
        """Return the id of a permission of this name, which may be there already."""
        found = answered(self.business.send("GET", "/v2/manage/permissions"))["Data"]
        known = next((item["Id"] for item in found if item["Name"] == name), None)
        return str(known or self.business.permission(name))

    def leave(self, person: Person, org: str, *roles: str) -> None:
        path = f"/v2/manage/account/{person.uid}/orgcontext/{org}/roles"
        answered(self.business.send("DELETE", path, {"RoleIds": list(roles)}))

    def open(self, client: RelyingParty, person: Person | None = None, **changed: str | None) -> AnsweredStep:
        """Send a signed-in person's authorization request."""
        return self.browser.signed_in(person or self.ada).authorize(client.authorization_parameters(**changed))

    def error(self, client: RelyingParty, person: Person | None = None, **changed: str | None) -> tuple[str, str]:
        """Return the error response of a request."""
        stored = parameters_of(self.open(client, person, **changed))
        return stored["error"], stored["error_description"]

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


@dataclass
class Team:
    """An organization with an owner, a manager and a member, each in a browser."""

    company: Company
    org: str
    roles: dict[str, str]
    people: dict[str, Person]

    def browser(self, name: str) -> Browser:
        return self.company.world.browser().signed_in(self.people[name])

    def send(self, name: str, path: str, **members: Any) -> tuple[int, Any]:
        """Post as one of the people; return the status and the error code, if any."""
        body = {"Organization": self.org, **members}
        answer = self.browser(name).send("POST", f"{OWN}{path}", json.dumps(body).encode())
        return answer.status_code, (answer.json or {}).get("ErrorCode")

    def leave(self, name: str) -> tuple[int, Any]:
        return self.send(name, "/leave")

    def remove(self, name: str, other: str) -> tuple[int, Any]:
        return self.send(name, "/members/remove", Uid=self.people[other].uid)

    def set_roles(self, name: str, other: str, *roles: str) -> tuple[int, Any]:
        ids = [self.roles.get(role, role) for role in roles]
        return self.send(name, "/members/roles", Uid=self.people[other].uid, RoleIds=ids)

    def read(self, name: str, path: str = "", status: int = 200) -> Any:
        answer = self.browser(name).send("GET", f"{OWN}{path}", b"")
        assert answer.status_code == status, answer.text
        return answer.json

    def members(self, name: str = "owner", query: str = "") -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.read(name, f"/{self.org}/members{query}")["Members"]
        return found

    def roles_of(self, name: str) -> list[str]:
        uid = self.people[name].uid
        return next((member["Roles"] for member in self.members() if member["Uid"] == uid), [])


def refused(error: type[ApiError]) -> tuple[int, int | str]:
    """Return the status and the code of a refusal."""
    return error.status, error.code


@pytest.fixture
def team(company: Company) -> Team:
    org = company.business.create("Globex")
    ids = {name: company.permission(name) for name in ("org:own", "org:manage")}
    roles = {
        "Owner": company.business.role("Owner", permissions=(ids["org:own"],)),
        "Manager": company.business.role("Manager", org=org, permissions=(ids["org:manage"],)),
        "Editor": company.business.role("Editor", org=org),
    }
    people = {name: company.world.person(f"{name}@globex.test") for name in ("owner", "manager", "editor", "outsider")}
    for name, role in (("owner", "Owner"), ("manager", "Manager"), ("editor", "Editor")):
        answered(company.business.assign(people[name].uid, org, roles[role]))
    return Team(company, org, roles, people)
