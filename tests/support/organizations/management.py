"""A tenant's server that manages organizations, and one line per refusal of their operations."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from werkzeug.test import TestResponse

from app.contract.catalogue import CATALOGUE
from tests.support.tenants.tenant_server import NewTenantServer, TenantServer, answered, refused

PATH = "/v2/manage/organizations"
ROLES, PERMISSIONS = "/v2/manage/roles", "/v2/manage/permissions"
NO_ORG, NO_ROLE, NO_PERMISSION = f"org_{'0' * 16}", f"role_{'0' * 16}", f"perm_{'0' * 16}"
NO_UID = "0" * 32


@dataclass
class Business:
    """A tenant with organizations; only the requested parts are created."""

    tenant: TenantServer

    def send(self, method: str, path: str, body: Any = None, **query: Any) -> TestResponse:
        return self.tenant.send(method, path, body, **query)

    def create(self, name: str = "", **members: Any) -> str:
        """Create an organization and return its id."""
        body = {"Name": name or f"Org {secrets.token_hex(4)}", **members}
        return str(answered(self.send("POST", PATH, body))["Id"])

    def role(self, name: str = "", org: str = "", permissions: tuple[str, ...] = (), about: str = "") -> str:
        """Create a role of the tenant or of an organization and return its id."""
        body = {"Name": name or f"Role {secrets.token_hex(4)}", "Permissions": list(permissions), "Description": about}
        return str(answered(self.send("POST", f"{PATH}/{org}/roles" if org else ROLES, body))["Id"])

    def permission(self, name: str = "") -> str:
        """Create a permission and return its id."""
        return str(answered(self.send("POST", PERMISSIONS, {"Name": name or f"p:{secrets.token_hex(4)}"}))["Id"])

    def account(self, email: str = "") -> str:
        """Create an account and return its uid."""
        members = {"Email": [{"Type": "Primary", "Value": email}]} if email else {}
        return str(self.tenant.create(**members)["Uid"])

    def assign(self, uid: str, org: str, *role_ids: str) -> TestResponse:
        return self.send("PUT", f"/v2/manage/account/{uid}/orgcontext/{org}/roles", {"RoleIds": list(role_ids)})

    def member(self, org: str, *role_ids: str, email: str = "") -> str:
        """Create a member with these roles, by default with a new role of the organization, and return its uid."""
        uid = self.account(email)
        answered(self.assign(uid, org, *(role_ids or (self.role(org=org),))))
        return uid

    def deactivate(self, org: str) -> str:
        answered(self.send("PUT", f"{PATH}/{org}/status", {"Active": False}))
        return org

    @cached_property
    def org(self) -> str:
        return self.create("Acme")

    @cached_property
    def idle(self) -> str:
        """An inactive organization."""
        return self.deactivate(self.create("Idle"))

    @cached_property
    def uid(self) -> str:
        return self.account()


def a_business(make: NewTenantServer, **settings: Any) -> Business:
    return Business(make(**settings))


Act = Callable[[Business], TestResponse]


@dataclass(frozen=True)
class RefusedCall:
    """A refusal: the action, the operation, and its error."""

    operation: str
    code: int
    act: Act
    settings: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.operation} {self.code}"

    def check(self, make: NewTenantServer) -> None:
        declared = {item.code: item.status for item in CATALOGUE[self.operation].every_error}
        answer = self.act(a_business(make, **self.settings))
        assert refused(answer) == (declared[self.code], self.code), answer.text


OFF = {"organizations": {"enabled": False}}


def refusals(operation: str, *lines: tuple[Any, ...]) -> list[RefusedCall]:
    """Return the refusals of one operation: (code, act) or (code, act, settings) each."""
    return [RefusedCall(operation, line[0], line[1], *line[2:]) for line in lines]


def ask(method: str, path: str, body: Any = None, **query: Any) -> Act:
    """Send it; the path and the query may name members of the business in braces, such as {org}."""

    def act(business: Business) -> TestResponse:
        formatted = {name: value.format_map(_Members(business)) for name, value in query.items()}
        return business.send(method, path.format_map(_Members(business)), _formatted(body, business), **formatted)

    return act


class _Members(dict[str, Any]):
    def __init__(self, business: Business) -> None:
        super().__init__()
        self.business = business

    def __missing__(self, name: str) -> Any:
        return getattr(self.business, name)


def _formatted(value: Any, business: Business) -> Any:
    if isinstance(value, str):
        return value.format_map(_Members(business)) if "{" in value else value
    if isinstance(value, dict):
        return {name: _formatted(item, business) for name, item in value.items()}
    return [_formatted(item, business) for item in value] if isinstance(value, list) else value


OIDC = {
    "Name": "idp", "ConnectionType": "oidc_custom", "Issuer": "https://idp.example", "ClientId": "c", "ClientSecret": "s",
    "AuthorizationUrl": "https://idp.example/a", "TokenUrl": "https://idp.example/t",
}  # fmt: skip
