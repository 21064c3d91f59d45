"""The policies of an organization on the pages of a sign-in."""

from __future__ import annotations

import pytest
from flask import Flask

from tests.pages.security.test_password_rules import BUTTON
from tests.support.accounts.mailbox import link_in, mails_to
from tests.support.oauth.relying_party import Person
from tests.support.oauth.world import NewWorld, World
from tests.support.organizations.invitations import InvitingBusiness
from tests.support.organizations.management import OIDC, PATH, Business
from tests.support.tenants.tenant_server import TenantServer, answered
from tests.support.visitors.visitor import NewVisitorAt, VisitedPage


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


def server_of(tenant: World, identity_app: Flask) -> Business:
    key, secret = tenant.api_key, tenant.api_secret
    return Business(TenantServer(tenant.services, identity_app, tenant.tenant_id, tenant.name, key, secret))


def set_policy(business: Business, **policies: dict[str, object]) -> None:
    answered(business.send("PUT", f"{PATH}/{business.org}/policy", policies))


def test_password_rules_are_listed_and_enforced(
    tenant: World, identity_app: Flask, new_visitor_at: NewVisitorAt, ada: Person
) -> None:
    business = server_of(tenant, identity_app)
    answered(business.assign(ada.uid, business.org, business.role()))
    visitor = new_visitor_at(tenant)
    page = visitor.open("/change-password").press("Sign in", identifier=ada.email, password=ada.password)
    set_policy(business, PasswordPolicy={"MinLength": 20})
    refused = page.press(BUTTON, old_password=ada.password, new_password="Quartz-lantern-58")
    assert (refused.status, "At least 20 characters" in refused.text) == (422, True)
    assert "At least 20 characters" in visitor.open("/change-password").text
    new_visitor_at(tenant).open("/forgot-password").press("Send reset link", identifier=ada.email)
    link = link_in(mails_to(tenant.services, tenant.tenant_id, ada.email)[-1])
    reset = new_visitor_at(tenant).open(link)
    assert "At least 20 characters" in reset.text
    assert reset.press(BUTTON, password="Quartz-lantern-58").status == 422
    set_policy(business, PasswordPolicy={"MinLength": None})
    changed = page.press(BUTTON, old_password=ada.password, new_password="Quartz-lantern-58")
    assert "Password changed" in changed.text


def test_session_policy_shortens_tokens_of_page_sign_ins(
    tenant: World, identity_app: Flask, new_visitor_at: NewVisitorAt, ada: Person
) -> None:
    business = server_of(tenant, identity_app)
    answered(business.assign(ada.uid, business.org, business.role()))
    shop = tenant.application("shop")

    def lifetime() -> int:
        page = new_visitor_at(tenant).authorize(shop).press("Sign in", identifier=ada.email, password=ada.password)
        return int(answered(shop.redeem(page.query["code"]))["expires_in"])

    default = lifetime()
    set_policy(business, SessionPolicy={"AccessTokenTTL": 90, "RefreshTokenTTL": 3600})
    assert lifetime() == 90 < default
    set_policy(business, SessionPolicy={"AccessTokenTTL": None, "RefreshTokenTTL": None})
    assert lifetime() == default


@pytest.mark.both_databases
def test_page_sign_in_joins_with_the_default_role(
    tenant: World, identity_app: Flask, new_visitor_at: NewVisitorAt, ada: Person
) -> None:
    business, visitor = server_of(tenant, identity_app), new_visitor_at(tenant)
    business.org = business.create("Globex", Domains=[{"DomainName": "example.test", "IsVerified": True}])
    answered(business.send("POST", f"{PATH}/{business.org}/connections", OIDC))
    roles = {name: business.role(name, org=business.org) for name in ("Reader", "Editor")}

    def signs_in() -> str:
        visitor.forget("session")
        return visitor.open("/organizations").press("Sign in", identifier=ada.email, password=ada.password).text

    set_policy(business, JITPolicy={"Enabled": False}, MemberPolicy={"DefaultMemberRole": roles["Reader"]})
    assert "Globex" not in signs_in()
    set_policy(business, JITPolicy={"Enabled": True})
    assert "Globex Reader" in signs_in()
    answered(business.send("DELETE", f"/v2/manage/account/{ada.uid}/orgcontext/{business.org}"))
    set_policy(business, MemberPolicy={"DefaultMemberRole": roles["Editor"]})
    assert "Globex Editor" in signs_in()


@pytest.mark.both_databases
def test_seats_close_and_open_the_invitation_page(
    tenant: World, identity_app: Flask, new_visitor_at: NewVisitorAt, ada: Person
) -> None:
    server = server_of(tenant, identity_app)
    business = InvitingBusiness(server.tenant)
    business.invite(ada.email)
    set_policy(business, MemberPolicy={"Seats": 1})  # Grace has it
    link = f"/auth.aspx?invitation_token={business.token(ada.email)}"
    visitor = new_visitor_at(tenant)
    assert visitor.open(link).heading == "No seats left"
    set_policy(business, MemberPolicy={"Seats": 2})
    joined = visitor.open(link).press("Sign in to join").press("Sign in", identifier=ada.email, password=ada.password)
    assert joined.address.endswith("/profile")
    assert ada.uid in {member["Uid"] for member in business.members()}
