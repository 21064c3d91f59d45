"""A visitor at a provider of any kind, and what a tenant stores after it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from flask import Flask
from sqlalchemy import func, select

from app.identity.directory.accounts.tables import accounts, identifiers
from app.identity.directory.organizations.tables import organization_user_roles
from app.identity.platform.continuation_tokens import ContinuationPurpose, token_table
from app.identity.platform.store.unit_of_work import UnitOfWork
from tests.support.fakes.custom_upstreams import CUSTOM_OPENID
from tests.support.fakes.identity_provider import FakeProvider
from tests.support.oauth.world import NewWorld, World
from tests.support.organizations.connected_organization import ConnectedOrganization, business_of
from tests.support.refused_answers.providers import ConnectedProvider, connected
from tests.support.visitors.visitor import NewVisitorAt, VisitedPage, Visitor

CALLBACK = "/socialauth/validate.sauth"
ORGANIZATION = "organization"
"""The kind of an organization's connection by OpenID Connect; the other kinds are the names of providers."""
DOMAIN = "example.test"
"""The organization's domain, which the person's address has."""


@dataclass
class ProviderVisit:
    """A visitor who was led to a provider, and comes back."""

    world: World
    visitor: Visitor
    provider: ConnectedProvider
    another_browser: Callable[[], Visitor]
    name: str
    """The connection's, which linked identities have."""
    start: str
    callback: str = CALLBACK
    redirected: VisitedPage = field(init=False)
    before: dict[str, int] = field(init=False)
    """What the tenant stored before anything went wrong."""
    accounts_before: dict[str, int] = field(init=False)

    def __post_init__(self) -> None:
        self.begin()
        self.remember()

    @property
    def fake(self) -> FakeProvider:
        return self.provider.fake

    def begin(self) -> None:
        self.redirected = self.visitor.open(self.start)

    def remember(self) -> None:
        self.before = stored_rows(self.world)
        self.accounts_before = stored_accounts(self.world)

    def answer(self, **who: Any) -> dict[str, str]:
        """Sign in at the provider and return the parameters of the callback."""
        return self.provider.signs_in(self.redirected.address, **who)

    def back(self, parameters: dict[str, str] | list[tuple[str, str]] | None = None) -> VisitedPage:
        return self.visitor.open(f"{self.callback}?{urlencode(self.answer() if parameters is None else parameters)}")

    @property
    def state(self) -> str:
        return dict(parse_qsl(urlsplit(self.redirected.address).query))["state"]


def stored_rows(world: World) -> dict[str, int]:
    """Return how many accounts, identifiers, roles in organizations and pending provider tokens the tenant has."""
    tenant = world.tenant_id
    pending = token_table.c.purpose == ContinuationPurpose.PROVIDER_TOKENS
    with UnitOfWork(world.services.database, tenant).separate_transaction() as work:
        return {
            table.name: work.run(select(func.count()).select_from(table).where(*where)).scalar_one()
            for table, where in (
                (accounts, (accounts.c.tenant_id == tenant,)),
                (identifiers, (identifiers.c.tenant_id == tenant,)),
                (organization_user_roles, (organization_user_roles.c.tenant_id == tenant,)),
                (token_table, (token_table.c.tenant_id == tenant, pending)),
            )
        }


def stored_accounts(world: World) -> dict[str, int]:
    """Return how many accounts and identifiers the tenant has."""
    return {name: count for name, count in stored_rows(world).items() if name in (accounts.name, identifiers.name)}


@dataclass(frozen=True)
class NewVisit:
    """Leads a visitor to a provider of a kind, whose addresses the tenant trusts and whose tokens it keeps."""

    new_world: NewWorld
    new_visitor_at: NewVisitorAt
    identity_app: Flask
    fake: FakeProvider

    def __call__(self, kind: str, **settings: Any) -> ProviderVisit:
        world = self.new_world(**settings)
        if kind == ORGANIZATION:
            return self._at_organization(world)
        provider = connected(kind, self.fake, trusts_email=True, keep_provider_tokens=True)
        provider.store(world)
        return self._led(world, provider, kind, f"/sign-in/with?provider={kind}")

    def _at_organization(self, world: World) -> ProviderVisit:
        provider = connected(CUSTOM_OPENID.name, self.fake)
        business = business_of(world, self.identity_app)
        made = ConnectedOrganization(world, business, self.new_visitor_at, self.fake, domain=DOMAIN)
        return self._led(world, provider, made.id, made.login_url, f"/{made.path}/callback")

    def _led(self, world: World, provider: ConnectedProvider, name: str, *paths: str) -> ProviderVisit:
        new_visitor_at = self.new_visitor_at
        return ProviderVisit(world, new_visitor_at(world), provider, lambda: new_visitor_at(world), name, *paths)
