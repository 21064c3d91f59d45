"""The policies of an organization on the pages of a sign-in."""

from __future__ import annotations

import pytest
from flask import Flask

from tests.support.oauth_world import NewWorld, World
from tests.support.organizations import PATH, Business
from tests.support.relying_party import Person
from tests.support.tenant_server import TenantServer, answered
from tests.support.visitor import NewVisitorAt, VisitedPage


@pytest.fixture
def tenant(new_world: NewWorld) -> World:
    return new_world(two_factor="optional", second_factors={"email": False, "passkey": False})


@pytest.fixture
def ada(tenant: World) -> Person:
    return tenant.person("ada@example.test")


def join(tenant: World, identity_app: Flask, ada: Person, **policies: dict[str, object]) -> None:
    """Make her a member of an organization with these policies."""
    server = TenantServer(
        tenant.services, identity_app, tenant.tenant_id, tenant.name, tenant.api_key, tenant.api_secret
    )
    business = Business(server)
    answered(business.assign(ada.uid, business.org, business.role()))
    answered(business.send("PUT", f"{PATH}/{business.org}/policy", policies))


def sign_in(tenant: World, new_visitor_at: NewVisitorAt, ada: Person) -> VisitedPage:
    shop = tenant.application(f"shop{tenant.services.clock.now():%H%M%S%f}")
    return new_visitor_at(tenant).authorize(shop).press("Sign in", identifier=ada.email, password=ada.password)


def test_forced_second_factor_is_set_up(
    tenant: World, identity_app: Flask, new_visitor_at: NewVisitorAt, ada: Person
) -> None:
    before = sign_in(tenant, new_visitor_at, ada)
    assert "code" in before.query
    join(tenant, identity_app, ada, MFAPolicy={"EnforcementMode": "force"})
    page = sign_in(tenant, new_visitor_at, ada)
    assert "code" not in page.query
    assert 'class="key"' in page.html


def test_expired_password_is_replaced(
    tenant: World, identity_app: Flask, new_visitor_at: NewVisitorAt, ada: Person
) -> None:
    join(tenant, identity_app, ada, PasswordPolicy={"ExpiryDays": 30})
    tenant.set_password_age(ada, days=29)
    assert "code" in sign_in(tenant, new_visitor_at, ada).query
    tenant.set_password_age(ada, days=31)
    page = sign_in(tenant, new_visitor_at, ada)
    assert "code" not in page.query
    assert "new password" in page.text.lower()
