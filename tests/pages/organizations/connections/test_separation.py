"""What two organizations and two tenants at one provider never share, and concurrent first sign-ins of one person."""

from __future__ import annotations

from functools import partial
from urllib.parse import urlencode, urlsplit

import pytest

from tests.support.accounts.mailbox import link_in, mails_to
from tests.support.organizations.connected_organization import MINA, ConnectedOrganization, NewConnected
from tests.support.organizations.management import PATH
from tests.support.races import at_once
from tests.support.tenants.tenant_server import answered, refused

INITECH = "initech.example"


@pytest.fixture
def initech(globex: ConnectedOrganization, new_connected: NewConnected) -> ConnectedOrganization:
    return new_connected(globex.tenant, name="Initech", domain=INITECH)


def test_same_subject_in_two_connections_is_two_people(
    globex: ConnectedOrganization, initech: ConnectedOrganization
) -> None:
    globex.sign_in()
    page = initech.sign_in(email=f"milton@{INITECH}", given_name="Milton", family_name="Waddams")
    assert page.profile_name == "Milton Waddams"
    assert globex.count_accounts() == 2
    assert initech.roles(org=initech.org) == set()


def test_domain_of_another_organization_is_refused(
    globex: ConnectedOrganization, initech: ConnectedOrganization
) -> None:
    globex.sign_in()
    assert "This email can’t be used here" in initech.sign_in(email=MINA["email"]).text
    assert initech.linked() == [(globex.id, "mina-1")]


def test_domain_lost_to_another_signs_nobody_in(globex: ConnectedOrganization) -> None:
    """A connection without a domain of its own keeps working only for domains that the organization still has."""
    globex.sign_in()
    globex.change(Domain="")
    answered(globex.business.send("PUT", f"{PATH}/{globex.org}", {"Domains": []}))
    other = globex.business.create("Other")
    domains = [{"DomainName": globex.domain, "IsVerified": True}]
    answered(globex.business.send("PUT", f"{PATH}/{other}", {"Domains": domains}))
    assert "This email can’t be used here" in globex.sign_in_anew().text


def test_domain_is_verified_for_one_organization(globex: ConnectedOrganization) -> None:
    other = globex.business.create("Other")
    domains = [{"DomainName": globex.domain, "IsVerified": True}]
    assert refused(globex.business.send("PUT", f"{PATH}/{other}", {"Domains": domains}))[0] >= 400


def test_answer_at_another_connection_is_refused(globex: ConnectedOrganization, initech: ConnectedOrganization) -> None:
    """Mix-up (RFC 9700 section 4.4): the state names the connection, and each connection has its own redirect URI."""
    callback = globex.callback(globex.begin())
    page = globex.visitor.open(f"/{initech.path}/callback?{urlsplit(callback).query}")
    assert "Sign-in didn’t finish" in page.text
    assert globex.provider.requests_to("/token") == 0


def test_answer_at_the_tenants_address_is_refused(globex: ConnectedOrganization) -> None:
    callback = globex.callback(globex.begin())
    page = globex.visitor.open(f"/socialauth/validate.sauth?{urlsplit(callback).query}")
    assert "Sign-in didn’t finish" in page.text
    assert globex.provider.requests_to("/token") == 0


@pytest.mark.parametrize("issuer", ["https://evil.example", ""])
def test_wrong_or_missing_issuer_is_refused(globex: ConnectedOrganization, issuer: str) -> None:
    """RFC 9207: the provider says that its answers name it."""
    redirected = globex.begin()
    answer = {**globex.provider.signs_in(redirected.address, **MINA), "iss": issuer}
    page = globex.visitor.open(f"/{globex.path}/callback?{urlencode({k: v for k, v in answer.items() if v})}")
    assert "Sign-in didn’t finish" in page.text
    assert globex.provider.requests_to("/token") == 0


def test_two_tenants_with_one_domain_share_nothing(globex: ConnectedOrganization, new_connected: NewConnected) -> None:
    abroad = new_connected()
    globex.sign_in()
    assert abroad.account() is None
    assert abroad.sign_in().profile_name == "Mina Harker"
    callback = globex.callback(globex.begin(globex.new_visitor_at(globex.tenant)))
    assert abroad.visitor.open(f"/{globex.path}/callback?{urlsplit(callback).query}").status == 410
    assert abroad.visitor.open(globex.login_url).status == 403


def test_connection_is_not_on_the_sign_in_page(globex: ConnectedOrganization) -> None:
    """The buttons of the sign-in page name no organization."""
    assert "Globex" not in globex.visitor.open("/login").text


def test_connection_cannot_be_linked_by_hand(globex: ConnectedOrganization) -> None:
    eve = globex.tenant.person("eve@example.test")
    globex.visitor.open("/login").sign_in(eve.email, eve.password)
    page = globex.visitor.open(
        f"/requesthandler.aspx?provider={globex.id}&ac_linking=true&apikey={globex.tenant.api_key}"
    )
    assert page.heading == "Sign-in method unavailable"


@pytest.mark.both_databases("first")
def test_first_sign_ins_of_one_person_make_one_account(globex: ConnectedOrganization) -> None:
    browsers = [globex.new_visitor_at(globex.tenant) for _ in range(6)]
    callbacks = [globex.callback(globex.begin(browser)) for browser in browsers]
    pages = at_once([partial(browser.open, callback) for browser, callback in zip(browsers, callbacks, strict=True)])
    assert [page.heading for page in pages] == ["Profile"] * 6
    assert globex.count_accounts() == 1
    assert globex.roles() == {globex.member_role}


@pytest.mark.both_databases("first")
def test_last_seat_goes_to_one_of_two_people(globex: ConnectedOrganization) -> None:
    globex.set_policies(MemberPolicy={"Seats": 1, "DefaultMemberRole": globex.member_role})
    people = (MINA, {**MINA, "sub": "jonathan", "email": f"jonathan@{globex.domain}"})
    browsers = [globex.new_visitor_at(globex.tenant) for _ in people]
    callbacks = [
        globex.callback(globex.begin(browser), **person) for browser, person in zip(browsers, people, strict=True)
    ]
    pages = at_once([partial(browser.open, callback) for browser, callback in zip(browsers, callbacks, strict=True)])
    assert sorted("You’re not a member yet" in page.text for page in pages) == [False, True]
    assert globex.count_accounts() == 1, "the account of the person without a seat is not left behind"


@pytest.mark.both_databases("first")
def test_connection_and_provider_at_once_make_one_account(globex: ConnectedOrganization) -> None:
    """The tenant's own provider, which it trusts, names the same person with the same address."""
    globex.provider.known_to(globex.business.tenant, "partner", trusts_email=True)
    browsers = [globex.new_visitor_at(globex.tenant) for _ in range(4)]
    paths = ["/sign-in/with?provider=partner", globex.login_url] * 2
    callbacks = [
        globex.callback(browser.open(path), email_verified=True) for browser, path in zip(browsers, paths, strict=True)
    ]
    at_once([partial(browser.open, callback) for browser, callback in zip(browsers, callbacks, strict=True)])
    assert globex.count_accounts() == 1
    assert globex.roles() == {globex.member_role}


def test_identity_registers_no_private_account(new_connected: NewConnected) -> None:
    """It waits for the account with its address; another address has other ways to sign in, which the organization does not end."""
    globex = new_connected(settings={"account_linking": False})
    globex.tenant.person(MINA["email"])
    refused_page = globex.sign_in()
    form = globex.visitor.open(f"{refused_page.address.replace('/login', '/register')}&with={globex.id}")
    pending = form.press("Create account", email="private@example.test")
    mails = mails_to(globex.tenant.services, globex.tenant.tenant_id, "private@example.test")
    if mails:
        pending.visitor.open(link_in(mails[0])).press("Verify")
    assert globex.linked("private@example.test") == []
