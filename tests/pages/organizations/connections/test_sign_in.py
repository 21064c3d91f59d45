"""Sign-in by the OpenID Connect connection of an organization: which account it opens, and which it never opens."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from app.identity.authentication.federation import connection_traces
from app.identity.platform.store.unit_of_work import UnitOfWork
from tests.support.organizations.connected_organization import DOMAIN, MINA, ConnectedOrganization, NewConnected
from tests.support.visitors import costs


def test_first_sign_in_creates_account_and_membership(globex: ConnectedOrganization) -> None:
    page = globex.sign_in()
    assert page.profile_name == "Mina Harker", page.text
    account = globex.account()
    assert account is not None
    assert account.email_verified
    assert globex.linked() == [(globex.id, "mina-1")]
    assert globex.roles() == {globex.member_role}


@pytest.mark.both_databases
def test_sign_in_of_a_member_costs_13_statements(globex: ConnectedOrganization) -> None:
    def visit() -> list[int]:
        visitor = globex.new_visitor_at(globex.tenant)
        count, address = costs.of_opening(visitor, globex.callback(globex.begin(visitor)))
        assert address == "/profile"
        return [count]

    assert costs.fewest(visit) == [13]


def test_second_sign_in_opens_the_same_account(globex: ConnectedOrganization) -> None:
    globex.sign_in()
    assert globex.sign_in_anew(email=f"mina.murray@{DOMAIN}").profile_name == "Mina Harker"
    assert globex.count_accounts() == 1


@pytest.mark.parametrize(
    "claims",
    [
        {"email": "mina@initech.example"},
        {"email": f"mina@sub.{DOMAIN}"},
        {"email": f"mina@{DOMAIN}.evil.example"},
        {"email": f"mina@evil.example@{DOMAIN}"},
        {"email": None},
        {"email": ["mina@globex.example"]},
        {"email_verified": False},
        {"email_verified": "false"},
    ],
    ids=str,
)
def test_foreign_or_unverified_email_is_refused(globex: ConnectedOrganization, claims: dict[str, Any]) -> None:
    page = globex.sign_in(**claims)
    assert "This email can’t be used here" in page.text
    assert globex.count_accounts() == 0
    assert globex.visitor.open("/profile").is_sign_in


def test_linked_account_is_refused_with_a_foreign_email(globex: ConnectedOrganization) -> None:
    globex.sign_in()
    assert "This email can’t be used here" in globex.sign_in_anew(email="mina@initech.example").text


def test_existing_account_of_the_domain_is_linked(globex: ConnectedOrganization) -> None:
    mina = globex.tenant.person(MINA["email"])
    assert globex.sign_in().heading == "Profile"
    account = globex.account()
    assert account is not None
    assert account.uid == mina.uid
    assert globex.linked() == [(globex.id, "mina-1")]
    assert globex.roles() == {globex.member_role}


def test_attackers_registration_loses_its_password(globex: ConnectedOrganization) -> None:
    """Pre-hijacking: the address was registered, and never verified, before its owner came."""
    attacker = globex.new_visitor_at(globex.tenant)
    registered = attacker.open("/register").press("Create account", email=MINA["email"], password="attacker-9-horse")
    assert registered.heading == "Check your email", registered.text
    assert globex.sign_in().heading == "Profile"
    attempt = attacker.open("/login?direct=y").press("Sign in", identifier=MINA["email"], password="attacker-9-horse")
    assert attempt.status == 401


def test_without_jit_new_people_are_refused(new_connected: NewConnected) -> None:
    globex = new_connected(jit=False)
    assert "You’re not a member yet" in globex.sign_in().text
    assert globex.count_accounts() == 0


def test_without_jit_a_member_signs_in(new_connected: NewConnected) -> None:
    globex = new_connected(jit=False)
    mina = globex.tenant.person(MINA["email"])
    by_hand = globex.business.role("By hand", org=globex.org)
    globex.business.assign(mina.uid, globex.org, by_hand)
    assert globex.sign_in().heading == "Profile"
    assert globex.roles() == {by_hand}


def test_with_approval_no_role_is_given(globex: ConnectedOrganization) -> None:
    globex.set_policies(JITPolicy={"Enabled": True, "RequireApproval": True})
    assert globex.sign_in().profile_name == "Mina Harker"
    assert globex.roles() == set()


def test_full_organization_refuses_and_creates_nothing(globex: ConnectedOrganization) -> None:
    globex.set_policies(MemberPolicy={"Seats": 1, "DefaultMemberRole": globex.member_role})
    globex.sign_in()
    page = globex.sign_in_anew(sub="jonathan", email=f"jonathan@{DOMAIN}")
    assert "You’re not a member yet" in page.text
    assert globex.count_accounts() == 1
    assert len(globex.events("account.registered")) == 1, "the audit names no account that was rolled back"
    assert [facts["reason"] for _, facts in globex.events("organization.connection_refused")] == ["member"]


def test_closed_registration_does_not_stop_new_members(new_connected: NewConnected) -> None:
    globex = new_connected(settings={"registration": False})
    assert globex.sign_in().profile_name == "Mina Harker"


def test_inactive_connection_cannot_begin(globex: ConnectedOrganization) -> None:
    globex.set_policies(JITPolicy={"Enabled": False})
    globex.set_active(False)
    page = globex.begin()
    assert (page.status, page.heading) == (403, "Sign-in method unavailable")


@pytest.mark.parametrize("key", ["x", "x" * 34, "ä" * 34])
def test_unknown_connection_shows_the_same_page(globex: ConnectedOrganization, key: str) -> None:
    page = globex.visitor.open(f"/oauth/sp/{key}/login")
    assert (page.status, page.heading) == (403, "Sign-in method unavailable")
    assert globex.visitor.open(f"/oauth/sp/{key}/callback?code=1&state=a.b").status == 410


def test_connection_switched_off_meanwhile_is_refused(globex: ConnectedOrganization) -> None:
    callback = globex.callback(globex.begin())
    globex.set_active(False)
    assert "Sign-in method unavailable" in globex.visitor.open(callback).text
    assert globex.count_accounts() == 0


def test_deactivated_organization_is_refused(globex: ConnectedOrganization) -> None:
    callback = globex.callback(globex.begin())
    globex.business.deactivate(globex.org)
    assert "Sign-in method unavailable" in globex.visitor.open(callback).text
    assert globex.begin().status == 403


def test_hint_language_and_domain_are_carried_on(globex: ConnectedOrganization) -> None:
    sent = parse_qs(urlsplit(globex.begin(login_hint=MINA["email"]).address).query)
    assert (sent["login_hint"], sent["domain_hint"]) == ([MINA["email"]], [DOMAIN])
    assert sent["scope"] == ["openid email profile"]


def test_return_address_is_followed_if_allowed(new_connected: NewConnected) -> None:
    globex = new_connected(settings={"url_whitelist": ["https://shop.example/after"]})
    page = globex.visitor.open(globex.callback(globex.begin(return_url="https://shop.example/after")))
    assert page.address == "https://shop.example/after"


def test_foreign_return_address_is_not_followed(globex: ConnectedOrganization) -> None:
    page = globex.visitor.open(globex.callback(globex.begin(return_url="https://evil.example/")))
    assert page.heading == "Profile"


def test_provider_down_shows_a_notice(globex: ConnectedOrganization) -> None:
    callback = globex.callback(globex.begin())
    globex.provider.answers["/token"] = (503, {}, b"down")
    assert "This provider isn’t responding" in globex.visitor.open(callback).text


def test_denied_sign_in_shows_a_notice(globex: ConnectedOrganization) -> None:
    redirected = globex.begin()
    refused = globex.provider.refuses(redirected.address)
    page = globex.visitor.open(
        f"/{globex.path}/callback?error=access_denied&state={refused['state']}&iss={refused['iss']}"
    )
    assert "Sign-in canceled" in page.text


def test_callback_works_once(globex: ConnectedOrganization) -> None:
    callback = globex.callback(globex.begin())
    assert globex.visitor.open(callback).heading == "Profile"
    globex.visitor.forget("session")
    assert globex.visitor.open(callback).status == 410


def test_callback_in_another_browser_is_refused(globex: ConnectedOrganization) -> None:
    callback = globex.callback(globex.begin())
    other = globex.new_visitor_at(globex.tenant)
    page = other.open(callback)
    assert page.status == 410
    assert "mention this ID" in page.text
    assert globex.count_accounts() == 0


def test_refused_address_leaves_a_trace_of_the_organization(globex: ConnectedOrganization) -> None:
    globex.sign_in(email="ada@elsewhere.example")
    work = UnitOfWork(globex.tenant.services.database, globex.tenant.tenant_id)
    try:
        (trace,) = connection_traces.latest(work, datetime.now(UTC), 10)
    finally:
        work.rollback()
    assert (trace.connection, trace.org_id, trace.failed_check) == (globex.id, globex.org, "email")


def test_mapping_fills_names_and_subject(globex: ConnectedOrganization) -> None:
    globex.change(Attributes={"ID": "oid", "FirstName": "vorname", "LastName": "nachname", "Email": "mail"})
    page = globex.sign_in(oid="o-7", vorname="Wilhelmina", nachname="Murray", mail=MINA["email"], email=None)
    assert page.profile_name == "Wilhelmina Murray"
    assert globex.linked() == [(globex.id, "o-7")]


def test_member_without_a_password_authenticates_again(globex: ConnectedOrganization) -> None:
    globex.sign_in()
    page = globex.visitor.authorize(globex.tenant.application("shop", client_name="Shop"), prompt="login")
    redirected = page.follow("Continue with Globex Gardens")
    assert parse_qs(urlsplit(redirected.address).query)["prompt"] == ["login"]
    answer = globex.visitor.open(globex.callback(redirected, auth_time=globex.provider.now))
    assert "code" in answer.query
