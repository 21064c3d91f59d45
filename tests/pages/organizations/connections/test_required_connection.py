"""An organization that requires its connection: no other method and no other provider signs its members in, by page or by operation."""

from __future__ import annotations

from typing import Any

import pytest

from app.identity.assembly.clean_up import expired_rows
from app.identity.directory.accounts import account_store
from tests.support.accounts.customers import LOGIN
from tests.support.journeys.federated_sign_in import link_identity
from tests.support.organizations.connected_organization import DOMAIN, MINA, ConnectedOrganization, NewConnected
from tests.support.organizations.management import PATH
from tests.support.tenants.callers import call_of
from tests.support.tenants.tenant_server import answered, refused
from tests.support.visitors.visitor import VisitedPage

CONNECTION = {"MethodPolicy": {"AllowedMethods": ["connection"]}}
PRIVATE = "mina@private.example"
ONLY = "Globex Gardens requires a connected account"


@pytest.fixture
def strict(globex: ConnectedOrganization) -> ConnectedOrganization:
    """An organization that requires its connection, with a member who has a password."""
    link_identity(globex.tenant, globex.tenant.person(MINA["email"]), "google-like", "g")
    globex.sign_in()
    globex.set_policies(**CONNECTION)
    return globex


def by_password(globex: ConnectedOrganization, email: str = MINA["email"]) -> VisitedPage:
    page = globex.new_visitor_at(globex.tenant).open("/login?direct=y")
    return page.press("Sign in", identifier=email, password="correct horse 7")


def test_password_is_refused_and_connection_offered(strict: ConnectedOrganization) -> None:
    page = by_password(strict)
    assert ONLY in page.text
    assert 'type="password"' not in page.html
    assert page.visitor.open("/profile").is_sign_in
    redirected = page.follow("Continue with Globex Gardens")
    assert page.visitor.open(strict.callback(redirected)).heading == "Profile"


def test_wrong_password_names_no_organization(strict: ConnectedOrganization) -> None:
    page = (
        strict.new_visitor_at(strict.tenant)
        .open("/login?direct=y")
        .press("Sign in", identifier=MINA["email"], password="wrong")
    )
    assert "Globex" not in page.text


def test_operation_refuses_the_password_with_an_address(strict: ConnectedOrganization) -> None:
    body = {"email": MINA["email"], "password": "correct horse 7"}
    answer = strict.business.tenant.send("POST", LOGIN, body, with_secret=False)
    assert refused(answer) == (403, 1220)
    assert answer.json is not None
    assert answer.json["Data"]["Connection"] == strict.id
    assert answer.json["Data"]["LoginUrl"].endswith(strict.login_url)


def test_another_provider_is_no_connection_of_the_organization(
    new_connected: NewConnected, strict: ConnectedOrganization
) -> None:
    strict.provider.known_to(strict.business.tenant, "google-like", trusts_email=True)
    browser = strict.new_visitor_at(strict.tenant)
    redirected = browser.open("/sign-in/with?provider=google-like")
    page = browser.open(
        strict.provider.callback_url(redirected.address, **{**MINA, "email_verified": True, "sub": "g"})
    )
    assert ONLY in page.text
    assert browser.open("/profile").is_sign_in


def test_member_elsewhere_keeps_the_password(strict: ConnectedOrganization) -> None:
    """A member with an address of another domain has no account at the organization's provider."""
    guest = strict.tenant.person("guest@partner.example")
    answered(strict.business.assign(guest.uid, strict.org, strict.member_role))
    assert by_password(strict, guest.email).heading == "Profile"


@pytest.mark.both_databases
def test_private_address_does_not_leave_the_requirement(globex: ConnectedOrganization) -> None:
    """Taken before the first sign-in by the connection, when no identity says yet where the member belongs."""
    mina = globex.tenant.person(MINA["email"])
    answered(globex.business.assign(mina.uid, globex.org, globex.member_role))
    globex.set_policies(**CONNECTION)
    assert ONLY in by_password(globex).text
    emails = {"Email": [{"Type": "Primary", "Value": PRIVATE}]}
    answered(globex.business.tenant.send("PUT", f"/identity/v2/manage/account/{mina.uid}/email", emails))
    page = by_password(globex, PRIVATE)
    assert ONLY in page.text
    assert page.visitor.open("/profile").is_sign_in


@pytest.mark.both_databases
def test_domains_of_former_addresses_are_bounded(globex: ConnectedOrganization) -> None:
    """The clean-up deletes those that no organization claims, and leaves the requirement."""
    mina = globex.tenant.person(MINA["email"])
    answered(globex.business.assign(mina.uid, globex.org, globex.member_role))
    for email in ("mina@one.example", "mina@two.example", PRIVATE):
        emails = {"Email": [{"Type": "Primary", "Value": email}]}
        answered(globex.business.tenant.send("PUT", f"/identity/v2/manage/account/{mina.uid}/email", emails))
    globex.set_policies(**CONNECTION)
    database, tenant_id = globex.tenant.services.database, globex.tenant.tenant_id
    with call_of(globex.tenant.services, globex.tenant.name) as call:
        before = account_store.former_domains(call, mina.uid)
    expired_rows.delete_unclaimed_domains(database, tenant_id)
    with call_of(globex.tenant.services, globex.tenant.name) as call:
        assert (DOMAIN in before, account_store.former_domains(call, mina.uid)) == (True, {DOMAIN})
    assert len(before) > 1
    assert ONLY in by_password(globex, PRIVATE).text


def test_switched_off_connection_lets_passwords_in_again(strict: ConnectedOrganization) -> None:
    strict.set_policies(JITPolicy={"Enabled": False})
    strict.set_active(False)
    assert by_password(strict).heading == "Profile"


def test_policy_needs_a_connection_that_signs_in(globex: ConnectedOrganization) -> None:
    other = globex.business.create("Other")
    answer = globex.business.send("PUT", f"{PATH}/{other}/policy", CONNECTION)
    assert refused(answer)[0] == 400


def test_people_of_other_organizations_are_not_limited(strict: ConnectedOrganization) -> None:
    eve: Any = strict.tenant.person(f"eve@{DOMAIN}.other")
    assert by_password(strict, eve.email).heading == "Profile"
