"""A SCIM connection of a tenant or an organization, and an identity provider that sends requests by it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from werkzeug.test import TestResponse

from tests.support.organizations.management import PATH, Business
from tests.support.tenants.tenant_server import answered
from tests.support.visitors.plain_client import PlainClient

CONNECTIONS = "/v2/manage/scim/connections"
DOMAIN = "globex.example"
USER = "urn:ietf:params:scim:schemas:core:2.0:User"
GROUP = "urn:ietf:params:scim:schemas:core:2.0:Group"
ENTERPRISE = "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User"
PATCH = "urn:ietf:params:scim:api:messages:2.0:PatchOp"


@dataclass
class ScimClient:
    """An identity provider with a token, which sends no user agent."""

    business: Business
    connection: str
    token: str
    org: str = ""
    role: str = ""

    def send(
        self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None, **query: Any
    ) -> TestResponse:
        tenant = self.business.tenant
        client = PlainClient(tenant.app, use_cookies=False)
        return client.open(
            f"/scim/v2{path}", method=method, query_string=query or None, json=body,
            base_url=f"http://{tenant.name}.{tenant.services.settings.hub_domain}",
            headers={
                "Authorization": f"Bearer {self.token}",
                **({"Content-Type": "application/scim+json"} if body is not None else {}), **(headers or {}),
            },
        )  # fmt: skip

    def ok(self, method: str, path: str, body: Any = None, **query: Any) -> dict[str, Any]:
        response = self.send(method, path, body, **query)
        assert response.status_code in (200, 201), response.text
        shown: dict[str, Any] = response.get_json()
        return shown

    def create(self, name: str, **attributes: Any) -> dict[str, Any]:
        email = f"{name}@{DOMAIN}"
        return self.ok(
            "POST", "/Users",
            {"schemas": [USER], "userName": email, "active": True, "emails": [{"value": email, "type": "work", "primary": True}],
             "name": {"givenName": name.title(), "familyName": "Harker"}, **attributes},
        )  # fmt: skip

    def patch(self, path: str, *operations: dict[str, Any], **headers: str) -> TestResponse:
        return self.send("PATCH", path, {"schemas": [PATCH], "Operations": list(operations)}, headers=headers)

    def change(self, **members: Any) -> None:
        answered(self.business.send("PUT", f"{CONNECTIONS}/{self.connection}", members))

    def requests(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = answered(self.business.send("GET", f"{CONNECTIONS}/{self.connection}/requests"))[
            "Data"
        ]
        return found


def connect(business: Business, org: str = "", scopes: list[str] | None = None) -> ScimClient:
    """Connect an organization, or the whole tenant."""
    body = {"Name": "Entra ID", **({"OrgId": org} if org else {})}
    connection = str(answered(business.send("POST", CONNECTIONS, body))["Id"])
    scoped = {"Scopes": scopes} if scopes else {}
    token = answered(business.send("POST", f"{CONNECTIONS}/{connection}/tokens", scoped))["Token"]
    return ScimClient(business, connection, str(token), org)


def connect_organization(business: Business, name: str = "Globex", domain: str = DOMAIN) -> ScimClient:
    """Connect a new organization with a verified domain and a role of new members."""
    org = business.create(name)
    answered(business.send("PUT", f"{PATH}/{org}", {"Domains": [{"DomainName": domain, "IsVerified": True}]}))
    role = business.role("Member", org=org)
    answered(business.send("PUT", f"{PATH}/{org}/policy", {"MemberPolicy": {"DefaultMemberRole": role}}))
    client = connect(business, org)
    client.role = role
    return client
