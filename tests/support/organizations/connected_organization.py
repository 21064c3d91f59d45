"""An organization whose people sign in by its OpenID Connect connection, and their browsers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

from flask import Flask
from sqlalchemy import select

from app.identity.directory.accounts import accounts, linked_identities
from app.identity.directory.accounts.account import Account
from app.identity.directory.accounts.tables import accounts as stored_accounts
from app.identity.directory.organizations import active_policies
from app.identity.platform.store.unit_of_work import UnitOfWork
from tests.support.fakes.identity_provider import CLIENT, SECRET, FakeProvider
from tests.support.oauth.world import World
from tests.support.organizations.management import PATH, Business
from tests.support.tenants.audit_entries import Entry, entries_of
from tests.support.tenants.callers import call_of
from tests.support.tenants.tenant_server import TenantServer, answered
from tests.support.visitors.visitor import NewVisitorAt, VisitedPage, Visitor

DOMAIN = "globex.example"
MINA: dict[str, Any] = {
    "sub": "mina-1", "email": f"mina@{DOMAIN}", "email_verified": None, "given_name": "Mina", "family_name": "Harker",
    "name": None, "picture": None,
}  # fmt: skip
"""A person at the provider, which says nothing about the verification of addresses, as Entra ID does not."""


def business_of(tenant: World, app: Flask) -> Business:
    """Return the tenant's server."""
    key, secret = tenant.api_key, tenant.api_secret
    return Business(TenantServer(tenant.services, app, tenant.tenant_id, tenant.name, key, secret))


class ConnectedOrganization:
    """An organization with a verified domain and an active connection, and a browser at its tenant."""

    def __init__(
        self, tenant: World, business: Business, new_visitor_at: NewVisitorAt, provider: FakeProvider, *,
        name: str = "Globex", domain: str = DOMAIN, jit: bool = True, has_role: bool = True, **members: Any,
    ) -> None:  # fmt: skip
        self.tenant, self.business, self.provider = tenant, business, provider
        self.new_visitor_at, self.visitor = new_visitor_at, new_visitor_at(tenant)
        self.domain = domain
        self.org = business.create(name, Display={"Name": f"{name} Gardens"})
        answered(business.send("PUT", f"{PATH}/{self.org}", {"Domains": [{"DomainName": domain, "IsVerified": True}]}))
        body = {
            "Name": "sign-in", "ConnectionType": "oidc_custom", "Issuer": provider.url, "ClientId": CLIENT,
            "ClientSecret": SECRET, "Domain": domain, **members,
        }  # fmt: skip
        body = {name: value for name, value in body.items() if value is not None}
        self.connection = answered(business.send("POST", f"{PATH}/{self.org}/connections", body))
        self.id = str(self.connection["Id"])
        redirect_uri = str(self.connection.get("RedirectURI", ""))  # none of a SAML connection
        self.path = redirect_uri.partition("//")[2].partition("/")[2].removesuffix("/callback")
        self.member_role = business.role("Member", org=self.org) if has_role else ""
        policies: dict[str, Any] = {"JITPolicy": {"Enabled": jit}}
        policies |= {"MemberPolicy": {"DefaultMemberRole": self.member_role}} if has_role else {}
        self.set_policies(**policies)

    def set_policies(self, **policies: Any) -> None:
        answered(self.business.send("PUT", f"{PATH}/{self.org}/policy", policies))

    def change(self, **members: Any) -> None:
        answered(self.business.send("PUT", f"{PATH}/{self.org}/connections/{self.id}", members))

    def set_active(self, is_active: bool) -> None:
        path = f"{PATH}/{self.org}/connections/{self.id}/status"
        answered(self.business.send("PUT", path, {"Active": is_active}))

    def group_role(self, group: str, role_id: str) -> str:
        """Let a group grant a role; return the id of the group role."""
        body = {"GroupId": group, "Name": group, "RoleId": role_id}
        path = f"{PATH}/{self.org}/connections/{self.id}/grouproles"
        return str(answered(self.business.send("POST", path, body))["Id"])

    @property
    def login_url(self) -> str:
        return f"/{self.path}/login"

    def begin(self, visitor: Visitor | None = None, **query: str) -> VisitedPage:
        """Open the address that begins a sign-in, and return the redirect to the provider."""
        return (visitor or self.visitor).open(f"{self.login_url}?{urlencode(query)}" if query else self.login_url)

    def callback(self, redirected: VisitedPage, **claims: Any) -> str:
        """Sign in at the provider, by default as Mina; return the address of the callback."""
        return self.provider.callback_url(redirected.address, **{**MINA, **claims})

    def sign_in(self, visitor: Visitor | None = None, **claims: Any) -> VisitedPage:
        """Sign in by the connection."""
        browser = visitor or self.visitor
        return browser.open(self.callback(self.begin(browser), **claims))

    def sign_in_anew(self, **claims: Any) -> VisitedPage:
        """Sign in by the connection in a new browser."""
        return self.sign_in(self.new_visitor_at(self.tenant), **claims)

    def account(self, email: str = MINA["email"]) -> Account | None:
        """Return the account with an address."""
        with call_of(self.tenant.services, self.tenant.name) as call:
            return accounts.by_email(call, email)

    def linked(self, email: str = MINA["email"]) -> list[tuple[str, str]]:
        """Return the identities of the account with an address."""
        account = self.account(email)
        return [item.key for item in linked_identities.of(account)] if account is not None else []

    def roles(self, email: str = MINA["email"], org: str = "") -> set[str]:
        """Return the roles of the account with an address in the organization."""
        account = self.account(email)
        if account is None:
            return set()
        with call_of(self.tenant.services, self.tenant.name) as call:
            return set(active_policies.granted(call, account.uid).get(org or self.org, {}))

    def events(self, event: str) -> list[Entry]:
        """Return the account and the facts of each entry of the event."""
        return entries_of(self.business.tenant, event)

    def count_accounts(self) -> int:
        """Return how many accounts the tenant has."""
        where = stored_accounts.c.tenant_id == self.tenant.tenant_id
        with UnitOfWork(self.tenant.services.database, self.tenant.tenant_id).separate_transaction() as work:
            return len(work.all(select(stored_accounts.c.uid).where(where)))


NewConnected = Callable[..., ConnectedOrganization]
