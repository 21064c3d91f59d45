"""No sign-in holds a database connection while a provider answers: a slow one would stop every other request."""

from __future__ import annotations

from typing import Any

import pytest

from app.identity.platform.outbound.openid_metadata import ProviderMetadataCache
from tests.support.fakes.identity_provider import FakeProvider, ReceivedRequest
from tests.support.organizations.connected_organization import MINA, ConnectedOrganization
from tests.support.visitors.visitor import VisitedPage

DISCOVERY = "/.well-known/openid-configuration"
Held = list[tuple[str, int]]


@pytest.fixture
def held(globex: ConnectedOrganization) -> Held:
    """The path of each request to the provider from now on, with the connections that were in use meanwhile."""
    provider, database, held = globex.provider, globex.tenant.services.database, Held()
    cache = provider.services.provider_metadata
    provider.services.provider_metadata = ProviderMetadataCache(provider.services.clock, cache.resolver)

    def count(request: ReceivedRequest) -> None:
        pool = database.engine.pool.checkedout() - len(database.idle._idle)  # type: ignore[attr-defined]  # the pool's own count
        held.append((request.path, pool))

    provider.for_apps = count
    return held


def tenants_connection(globex: ConnectedOrganization, settings: dict[str, Any], **who: Any) -> VisitedPage:
    globex.provider.known_to(globex.business.tenant, "partner")
    globex.business.tenant.change_settings(connections={"partner": settings})
    redirected = globex.visitor.open("/sign-in/with?provider=partner")
    return globex.visitor.open(globex.provider.callback_url(redirected.address, **{**MINA, **who}))


@pytest.mark.both_databases
def test_organizations_connection_holds_none(globex: ConnectedOrganization, held: Held) -> None:
    assert globex.sign_in().heading == "Profile"
    assert held == [(path, 0) for path in (DISCOVERY, "/token", "/keys", "/userinfo")]


def test_refused_organizations_connection_holds_none(globex: ConnectedOrganization, held: Held) -> None:
    globex.provider.answers["/token"] = (503, {}, b"down")
    assert "This provider isn’t responding" in globex.sign_in().text
    assert held == [(DISCOVERY, 0)]


@pytest.mark.both_databases
def test_openid_provider_holds_none(globex: ConnectedOrganization, held: Held) -> None:
    page = tenants_connection(globex, globex.provider.openid(trusts_email=True), email=None)
    assert page.heading == "Create your account"
    assert held == [(path, 0) for path in (DISCOVERY, "/token", "/keys", "/userinfo")]


def test_oauth_provider_holds_none(globex: ConnectedOrganization, held: Held) -> None:
    page = tenants_connection(globex, globex.provider.oauth2())
    assert page.heading == "Create your account"
    assert held == [(path, 0) for path in ("/token", "/user")]


def test_upstream_logout_holds_none(globex: ConnectedOrganization, held: Held) -> None:
    answer = globex.tenant.wsgi.open(
        f"/{globex.path}/backchannel-logout", method="POST", data={"logout_token": UNSIGNED},
        base_url=globex.visitor.home,
    )  # fmt: skip
    assert answer.status_code == 400
    assert held == [(path, 0) for path in (DISCOVERY, "/keys")]


UNSIGNED = "eyJhbGciOiJSUzI1NiIsImtpZCI6ImtleS0xIn0.eyJpc3MiOiJ4In0.eA"
"""A logout token whose key must be asked for, with a wrong signature."""


def test_counter_sees_a_held_connection(globex: ConnectedOrganization, held: Held, fake_provider: FakeProvider) -> None:
    """The other tests would pass with a counter that always says 0."""
    with globex.tenant.services.database.engine.connect() as connection:
        connection.exec_driver_sql("SELECT 1")
        globex.begin()
    assert held == [(DISCOVERY, 1)]
