"""The policies of an organization are in force for its members alone."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import select

from app.identity.credentials.tokens.token_store import refresh_tokens
from app.identity.directory.organizations.tables import organizations
from app.identity.platform.audit import audit
from app.identity.platform.store.unit_of_work import UnitOfWork
from app.kit import randomness
from tests.support.accounts.customers import LOGIN, NEW, OLD, Customer, a_customer
from tests.support.oauth.world import NewWorld
from tests.support.organizations.management import OIDC, PATH, ROLES, Business
from tests.support.races import at_once
from tests.support.tenants.tenant_server import NewTenantServer, TenantServer, answered, refused

DOMAIN = "example.test"


@pytest.fixture
def customer(new_tenant_server: NewTenantServer) -> Customer:
    return a_customer(new_tenant_server)


@pytest.fixture
def business(customer: Customer) -> Business:
    return Business(customer.tenant)


def joined(business: Business, customer: Customer, **policies: Any) -> str:
    """Make the customer a member of an organization with these policies."""
    org = business.create()
    answered(business.assign(customer.uid, org, business.role(org=org)))
    answered(business.send("PUT", f"{PATH}/{org}/policy", policies))
    return org


def is_challenged(customer: Customer) -> bool:
    body = answered(customer.ask("POST", {"email": customer.email, "password": OLD}, path=f"{LOGIN}/2fa"))
    return body["SecondFactorAuthentication"] is not None


def test_forced_second_factor_holds_for_members_alone(new_tenant_server: NewTenantServer) -> None:
    customer = a_customer(new_tenant_server, two_factor="optional")
    business = Business(customer.tenant)
    other = business.create()
    answered(business.send("PUT", f"{PATH}/{other}/policy", {"MFAPolicy": {"EnforcementMode": "force"}}))
    assert not is_challenged(customer)
    org = joined(business, customer, MFAPolicy={"EnforcementMode": "force"})
    assert is_challenged(customer)
    business.deactivate(org)
    assert not is_challenged(customer)
    answered(business.send("PUT", f"{PATH}/{org}/status", {"Active": True}))
    assert is_challenged(customer)
    answered(business.send("DELETE", f"/v2/manage/account/{customer.uid}/orgcontext/{org}"))
    assert not is_challenged(customer)


def test_switched_off_organizations_force_nothing(new_tenant_server: NewTenantServer) -> None:
    customer = a_customer(new_tenant_server, two_factor="optional")
    business = Business(customer.tenant)
    joined(business, customer, MFAPolicy={"EnforcementMode": "force"})
    customer.tenant.change_settings(organizations={"enabled": False})
    assert not is_challenged(customer)


def test_stricter_password_rule_holds(customer: Customer, business: Business) -> None:
    joined(business, customer, PasswordPolicy={"MinLength": 20, "RequireUppercase": True})
    joined(business, customer, PasswordPolicy={"MinLength": 1})
    answer = customer.reset(resettoken=customer.issued_token(), password=NEW)
    assert refused(answer) == (400, 1134)
    assert "20" in answer.text
    long = "quartz-lantern-58-and-more"
    assert refused(customer.reset(resettoken=customer.issued_token(), password=long)) == (400, 1134)
    answered(customer.reset(resettoken=customer.issued_token(), password=long.title()))


def test_password_rule_of_another_organization_does_not_hold(customer: Customer, business: Business) -> None:
    other = business.create()
    answered(business.send("PUT", f"{PATH}/{other}/policy", {"PasswordPolicy": {"MinLength": 40}}))
    joined(business, customer)
    answered(customer.reset(resettoken=customer.issued_token(), password=NEW))
    assert answered(customer.logs_in(NEW))["Profile"]["Uid"] == customer.uid


def test_own_change_and_server_change_obey_the_rule(customer: Customer, business: Business) -> None:
    joined(business, customer, PasswordPolicy={"MinLength": 20})
    token = str(customer.tenant.tokens(customer.uid)["access_token"])
    body = {"oldpassword": OLD, "newpassword": NEW}
    path = f"/identity/v2/manage/account/{customer.uid}"
    for answer in (
        customer.tenant.send("PUT", "/identity/v2/auth/password/change", body, bearer=token),
        customer.tenant.send("PUT", f"{path}/password", {"password": NEW}),
        customer.tenant.send("PUT", path, {"Password": NEW}),
    ):
        assert refused(answer)[1] == 1134, answer.text


def expiry(customer: Customer) -> datetime | None:
    """Return the expiry of the password as programs read it in the profile."""
    shown = answered(customer.logs_in())["Profile"]["PasswordExpirationDate"]
    return datetime.fromisoformat(shown) if shown else None


@pytest.mark.both_databases
def test_shortest_password_expiry_is_in_the_profile(customer: Customer, business: Business) -> None:
    now = customer.tenant.services.clock.now()
    customer.set_columns(password_changed_at=now)
    assert expiry(customer) is None
    org = joined(business, customer, PasswordPolicy={"ExpiryDays": 30})
    first = expiry(customer)
    assert first is not None
    assert round((first - now).total_seconds()) == 30 * 86_400
    joined(business, customer, PasswordPolicy={"ExpiryDays": 60})
    assert expiry(customer) == first
    answered(business.send("PUT", f"{PATH}/{org}/policy", {"PasswordPolicy": {"ExpiryDays": 7}}))
    last = expiry(customer)
    assert last is not None
    assert round((last - now).total_seconds()) == 7 * 86_400
    answered(business.send("DELETE", f"/v2/manage/account/{customer.uid}/orgcontext"))
    assert expiry(customer) is None


def lifetimes(customer: Customer) -> tuple[float, float]:
    """Sign in and return the lifetimes of both tokens in seconds."""
    return lifetimes_in(customer, answered(customer.logs_in()))


def lifetimes_in(customer: Customer, body: Any) -> tuple[float, float]:
    """Return the lifetimes of both tokens of a response in seconds."""
    now = customer.tenant.services.clock.now()
    work = UnitOfWork(customer.tenant.services.database, customer.tenant.tenant_id)
    try:
        where = refresh_tokens.c.token_hash == randomness.digest(body["refresh_token"])
        row = work.one(select(refresh_tokens.c.expires_at).where(where))
    finally:
        work.rollback()
    assert row is not None
    access = datetime.fromisoformat(body["expires_in"]) - now
    return round(access.total_seconds(), -1), round((row.expires_at - now).total_seconds(), -1)


@pytest.mark.both_databases
def test_shortest_session_policy_holds(customer: Customer, business: Business) -> None:
    default = lifetimes(customer)
    joined(business, customer, SessionPolicy={"AccessTokenTTL": 120, "RefreshTokenTTL": 3600})
    assert lifetimes(customer) == (120, 3600)
    joined(business, customer, SessionPolicy={"AccessTokenTTL": 60, "RefreshTokenTTL": 31_536_000})
    assert lifetimes(customer) == (60, 3600)
    joined(business, customer, SessionPolicy={"AccessTokenTTL": 7_776_000})
    assert lifetimes(customer) == (60, 3600)
    answered(business.send("DELETE", f"/v2/manage/account/{customer.uid}/orgcontext"))
    assert lifetimes(customer) == default


def test_refreshed_token_keeps_the_organizations_lifetime(customer: Customer, business: Business) -> None:
    def refreshed(token: str) -> Any:
        path = "/identity/v2/manage/account/access_token/refresh"
        return answered(customer.tenant.send("GET", path, refresh_token=token))

    default = lifetimes(customer)
    former = answered(customer.logs_in())
    assert lifetimes_in(customer, refreshed(former["refresh_token"])) == default
    org = joined(business, customer, SessionPolicy={"AccessTokenTTL": 120, "RefreshTokenTTL": 3600})
    once = refreshed(answered(customer.logs_in())["refresh_token"])
    assert lifetimes_in(customer, once) == (120, 3600)
    twice = refreshed(once["refresh_token"])
    assert lifetimes_in(customer, twice) == (120, 3600)
    answered(business.send("DELETE", f"/v2/manage/account/{customer.uid}/orgcontext/{org}"))
    assert lifetimes_in(customer, refreshed(twice["refresh_token"])) == default


def test_tokens_of_applications_are_shortened(new_world: NewWorld, identity_app: Flask) -> None:
    world = new_world()
    ada, shop = world.person("ada@example.test"), world.application("shop")
    tokens = shop.redeem(world.browser().code(shop, ada)).json
    tenant = TenantServer(world.services, identity_app, world.tenant_id, world.name, world.api_key, world.api_secret)
    business = Business(tenant)
    answered(business.assign(ada.uid, business.org, business.role()))
    policy = {"SessionPolicy": {"AccessTokenTTL": 90}}
    answered(business.send("PUT", f"{PATH}/{business.org}/policy", policy))
    body = shop.redeem(world.browser().code(shop, ada)).json
    assert body is not None
    assert tokens is not None
    assert tokens["expires_in"] > body["expires_in"] == 90
    refreshed = shop.refresh(body["refresh_token"]).json
    assert refreshed is not None
    assert refreshed["expires_in"] == 90


def open_for(business: Business, domain: str = DOMAIN, *, is_verified: bool = True) -> tuple[str, str]:
    """Create an organization that accounts of the domain join; return its id and that of the role of new members."""
    org = business.create(Domains=[{"DomainName": domain, "IsVerified": is_verified}])
    answered(business.send("POST", f"{PATH}/{org}/connections", OIDC))
    role = business.role(org=org)
    policy = {"JITPolicy": {"Enabled": True}, "MemberPolicy": {"DefaultMemberRole": role}}
    answered(business.send("PUT", f"{PATH}/{org}/policy", policy))
    return org, role


def roles_of(business: Business, uid: str) -> list[tuple[str, str]]:
    """Return the account's roles with their organizations."""
    found = answered(business.send("GET", f"/v2/manage/account/{uid}/orgcontext"))["Data"]
    return [(item["OrgId"], item["RoleId"]) for item in found]


def test_verified_address_joins_at_sign_in(customer: Customer, business: Business) -> None:
    org, role = open_for(business)
    assert roles_of(business, customer.uid) == []
    answered(customer.logs_in())
    assert roles_of(business, customer.uid) == [(org, role)]
    answered(customer.logs_in())
    assert roles_of(business, customer.uid) == [(org, role)]


def test_unverified_address_does_not_join(new_tenant_server: NewTenantServer) -> None:
    customer = a_customer(new_tenant_server, email_verification="optional")
    business = Business(customer.tenant)
    open_for(business)
    customer.tenant.update(customer.uid, {"EmailVerified": False})
    customer.set_columns(email_verified=False)
    answered(customer.logs_in())
    assert roles_of(business, customer.uid) == []


@pytest.mark.parametrize("domain", ["other.test", "sub.example.test", "xexample.test"])
def test_address_of_another_domain_does_not_join(customer: Customer, business: Business, domain: str) -> None:
    open_for(business, domain)
    answered(customer.logs_in())
    assert roles_of(business, customer.uid) == []


def test_pending_domain_admits_no_account(customer: Customer, business: Business) -> None:
    open_for(business, is_verified=False)
    answered(customer.logs_in())
    assert roles_of(business, customer.uid) == []


def test_closed_organization_admits_no_account(customer: Customer, business: Business) -> None:
    org, _ = open_for(business)
    answered(business.send("PUT", f"{PATH}/{org}/policy", {"JITPolicy": {"Enabled": False}}))
    answered(customer.logs_in())
    assert roles_of(business, customer.uid) == []
    answered(business.send("PUT", f"{PATH}/{org}/policy", {"JITPolicy": {"Enabled": True}}))
    business.deactivate(org)
    answered(customer.logs_in())
    assert roles_of(business, customer.uid) == []
    answered(business.send("PUT", f"{PATH}/{org}/status", {"Active": True}))
    answered(customer.logs_in())
    assert [item for item, _ in roles_of(business, customer.uid)] == [org]


def test_full_organization_admits_no_account(customer: Customer, business: Business) -> None:
    org, role = open_for(business)
    business.member(org, role)
    answered(business.send("PUT", f"{PATH}/{org}/policy", {"MemberPolicy": {"DefaultMemberRole": role, "Seats": 1}}))
    answered(customer.logs_in())
    assert roles_of(business, customer.uid) == []
    answered(business.send("PUT", f"{PATH}/{org}/policy", {"MemberPolicy": {"DefaultMemberRole": role, "Seats": 2}}))
    answered(customer.logs_in())
    assert roles_of(business, customer.uid) == [(org, role)]


@pytest.mark.both_databases
def test_full_organization_costs_its_domain_no_lock(customer: Customer, business: Business) -> None:
    org, role = open_for(business)
    business.member(org, role)
    answered(customer.logs_in())
    answered(business.send("DELETE", f"/v2/manage/account/{customer.uid}/orgcontext"))
    policy = {"MemberPolicy": {"DefaultMemberRole": role, "Seats": 1}}
    answered(business.send("PUT", f"{PATH}/{org}/policy", policy))
    tenant_id = customer.tenant.tenant_id
    with UnitOfWork(customer.tenant.services.database, tenant_id).separate_transaction() as work:
        if not customer.tenant.services.database.is_sqlite:  # there any write stops all sign-ins
            row = (organizations.c.tenant_id == tenant_id, organizations.c.org_id == org)
            work.run(select(organizations).where(*row).with_for_update())
        answered(customer.logs_in())
        events = work.all(select(audit.c.event).where(audit.c.tenant_id == tenant_id))
    assert "organization.not_joined" not in {row.event for row in events}


@pytest.mark.both_databases
def test_last_seat_is_taken_once_by_domain(customer: Customer, business: Business) -> None:
    org, role = open_for(business)
    policy = {"MemberPolicy": {"DefaultMemberRole": role, "Seats": 2}}
    answered(business.send("PUT", f"{PATH}/{org}/policy", policy))
    people = [customer]
    for email in (f"p{number}@{DOMAIN}" for number in range(5)):
        primary = [{"Type": "Primary", "Value": email}]
        made = customer.tenant.create(Email=primary, EmailVerified=True, Password=OLD)
        people.append(replace(customer, uid=made["Uid"], email=email))
    assert {item.status_code for item in at_once([person.logs_in for person in people])} == {200}
    assert len(answered(business.send("GET", f"{PATH}/{org}/orgcontext"))["Data"]) == 2


@pytest.mark.both_databases
def test_removed_domain_admits_no_account(customer: Customer, business: Business) -> None:
    org, _ = open_for(business)
    answered(business.send("PUT", f"{PATH}/{org}", {"Domains": []}))
    answered(customer.logs_in())
    assert roles_of(business, customer.uid) == []


@pytest.mark.both_databases
def test_default_role_of_the_tenant_stands_in(customer: Customer, business: Business) -> None:
    org, _ = open_for(business)
    answered(business.send("PUT", f"{PATH}/{org}/policy", {"MemberPolicy": {"DefaultMemberRole": None}}))
    answered(customer.logs_in())
    assert roles_of(business, customer.uid) == []  # no default role: nothing to join with
    role = business.role()
    answered(business.send("PUT", f"{ROLES}/{role}/default"))
    answered(customer.logs_in())
    assert roles_of(business, customer.uid) == [(org, role)]


def test_sign_in_without_such_organizations_costs_nothing_more(customer: Customer, business: Business) -> None:
    def cost() -> int:
        answered(customer.logs_in())
        answer = customer.logs_in()
        parts = dict(part.split("=") for part in answer.headers["X-Gatehouse-Cost"].split("; "))
        return int(parts["sql"])

    customer.tenant.change_settings(organizations={"enabled": False})
    before = cost()
    customer.tenant.change_settings(organizations={"enabled": True})
    for _ in range(3):
        business.create(Domains=[{"DomainName": f"{randomness.hexadecimal(8)}.example", "IsVerified": True}])
    assert cost() == before
