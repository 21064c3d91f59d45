"""An organization names the LDAP provider that checks the passwords of its verified domains."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.api.ldap.conftest import SignIn
from tests.support.organizations.management import PATH, Business
from tests.support.services.identity_service import on_one_database
from tests.support.services.slapd import Slapd
from tests.support.tenants.machines import ask, machine
from tests.support.tenants.tenant_server import TenantServer, answered, refused

pytestmark = on_one_database
DOMAIN = "globex.test"
MINA = f"mina@{DOMAIN}"
Corp = Callable[..., None]


@pytest.fixture
def business(tenant: TenantServer) -> Business:
    tenant.change_settings(organizations={"enabled": True})
    return Business(tenant)


@pytest.fixture
def globex(business: Business, directory: Slapd, corp: Corp) -> str:
    """Return the id of an organization with a verified domain, whose people are in the directory of another domain's provider."""
    corp()
    return business.create("Globex", Domains=[{"DomainName": DOMAIN, "IsVerified": True}])


@pytest.fixture(scope="module", autouse=True)
def people(directory: Slapd) -> None:
    directory.add_person("mina", given_name="Mina", mail=MINA)


def name_provider(business: Business, org: str, provider: str | None = "Corp", **policies: Any) -> None:
    answered(business.send("PUT", f"{PATH}/{org}/policy", {"MethodPolicy": {"LdapProvider": provider}, **policies}))


def test_named_provider_checks_passwords_of_the_domain(
    business: Business, globex: str, sign_in: SignIn, tenant: TenantServer
) -> None:
    assert sign_in(MINA).status_code != 200, "nobody named it"
    name_provider(business, globex)
    profile = answered(sign_in(MINA))["Profile"]
    assert (profile["Email"][0]["Value"], profile["EmailVerified"]) == (MINA, True)
    assert refused(sign_in(MINA, "wrong")) == (401, 966)
    name_provider(business, globex, None)
    assert sign_in(MINA).status_code != 200


def test_domain_that_is_not_verified_leads_nowhere(business: Business, corp: Corp, sign_in: SignIn) -> None:
    corp()
    org = business.create("Globex", Domains=[{"DomainName": DOMAIN}])
    name_provider(business, org)
    assert sign_in(MINA).status_code != 200


def test_inactive_organization_leads_nowhere(business: Business, globex: str, sign_in: SignIn) -> None:
    name_provider(business, globex)
    business.deactivate(globex)
    assert sign_in(MINA).status_code != 200


def test_unknown_provider_is_refused(business: Business, globex: str) -> None:
    body = {"MethodPolicy": {"LdapProvider": "nowhere"}}
    answer = business.send("PUT", f"{PATH}/{globex}/policy", body)
    assert answer.status_code == 400
    assert "LdapProvider" in answer.text


def test_naming_a_provider_needs_all_powers(business: Business, globex: str, tenant: TenantServer) -> None:
    token = machine(tenant, "organization:update")
    body = {"MethodPolicy": {"LdapProvider": "corp"}}
    assert ask(tenant, token, "PUT", f"{PATH}/{globex}/policy", body).status_code == 403
