"""First sign-ins by an organization's connection where the tenant's form requires more than the provider tells."""

from __future__ import annotations

import re
from functools import partial
from typing import Any

import pytest

from tests.support.organizations.connected_organization import DOMAIN, MINA, ConnectedOrganization, NewConnected
from tests.support.organizations.management import PATH
from tests.support.races import at_once
from tests.support.tenants.tenant_server import answered
from tests.support.visitors.visitor import VisitedPage

on_sqlite = pytest.mark.parametrize("services", ["sqlite"], indirect=True)
EMAIL: dict[str, Any] = {"name": "email", "required": True}
PASSWORD: dict[str, Any] = {"name": "password", "type": "password", "required": True}
TERMS: dict[str, Any] = {"name": "terms", "type": "multi", "required": True}
COMPANY: dict[str, Any] = {"name": "company", "required": True, "max_length": 9}
SIGN_UP = "Create your account"


def asking(new_connected: NewConnected, *fields: dict[str, Any], **settings: Any) -> ConnectedOrganization:
    """Return an organization of a tenant whose registration form has further fields."""
    return new_connected(settings={"registration_form": (EMAIL, PASSWORD, *fields), **settings})


def creates(page: VisitedPage, **typed: str) -> VisitedPage:
    assert page.heading == SIGN_UP, page.text
    return page.press("Create account", **typed)


@on_sqlite
def test_terms_are_accepted_before_there_is_an_account(new_connected: NewConnected) -> None:
    globex = asking(new_connected, TERMS)
    page = globex.sign_in()
    assert (page.heading, globex.count_accounts()) == (SIGN_UP, 0)
    unchecked = creates(page)
    assert "Check this box to continue." in unchecked.text
    assert globex.count_accounts() == 0
    assert creates(unchecked, terms="y").profile_name == "Mina Harker"
    account = globex.account()
    assert account is not None
    assert account.private["terms_accepted_at"]
    assert account.email_verified
    assert account.logins == 1
    assert (globex.linked(), globex.roles()) == ([(globex.id, "mina-1")], {globex.member_role})
    assert globex.sign_in_anew().heading == "Profile", "the second sign-in asks for nothing"
    assert globex.count_accounts() == 1


@on_sqlite
def test_fields_that_the_provider_fills_are_not_asked(new_connected: NewConnected) -> None:
    globex = asking(new_connected, COMPANY, {"name": "cf_plan", "required": True}, custom_fields=["plan"])
    globex.change(Attributes={"CustomMapping": {"Company": "org", "plan": "tier"}})
    assert globex.sign_in(org="Globex", tier="gold").heading == "Profile"


@on_sqlite
def test_missing_and_refused_fields_are_asked(new_connected: NewConnected) -> None:
    plan = {"name": "cf_plan", "required": True}
    globex = asking(new_connected, COMPANY, plan, {"name": "first_name"}, custom_fields=["plan", "floor"])
    globex.change(Attributes={"CustomMapping": {"Company": "org", "plan": "tier", "floor": "floor"}})
    page = globex.sign_in(org="Globex Gardens AG", tier="gold", floor="3")
    shown = page.form("Create account").fields
    assert (shown["first_name"], shown["company"], shown["cf_plan"], "password" in shown) == (
        "Mina",
        "Globex Gardens AG",
        "gold",
        False,
    )
    assert creates(page, company="Globex", first_name="Wilhelmina").heading == "Profile"
    account = globex.account()
    assert account is not None
    assert account.profile["CustomFields"] == {"plan": "gold", "floor": "3"}
    assert (account.profile["Company"], account.profile["FirstName"]) == ("Globex", "Wilhelmina")


@on_sqlite
def test_address_of_the_provider_is_fixed(new_connected: NewConnected) -> None:
    globex = asking(new_connected, TERMS)
    page = globex.sign_in()
    field = next(tag for tag in re.findall(r"<input[^>]*>", page.html) if 'value="mina@globex.example"' in tag)
    assert " readonly" in field
    assert creates(page, terms="y", email="eve@private.example").heading == "Profile"
    assert (globex.account("eve@private.example"), globex.count_accounts()) == (None, 1)
    assert globex.linked() == [(globex.id, "mina-1")]


@on_sqlite
@pytest.mark.parametrize(
    "settings", [{"registration": False}, {"federated_password": True}, {"registration_captcha": True}], ids=str
)
def test_tenant_asks_for_nothing_more(new_connected: NewConnected, settings: dict[str, Any]) -> None:
    """Registration may be closed, and neither a password nor a captcha is needed: the provider knows the person."""
    globex = asking(new_connected, TERMS, **settings)
    page = globex.sign_in()
    assert page.form("Create account").fields.keys() & {"password", "captcha", "captcha-text"} == set()
    assert creates(page, terms="y").heading == "Profile"


@on_sqlite
def test_form_without_an_address_field_takes_the_providers(new_connected: NewConnected) -> None:
    form = ({"name": "username", "required": True}, PASSWORD, TERMS)
    globex = new_connected(settings={"registration_form": form, "username_login": True})
    assert creates(globex.sign_in(), terms="y", username="mina").heading == "Profile"
    account = globex.account()
    assert account is not None
    assert (account.username, account.email_verified) == ("mina", True)


@on_sqlite
def test_taken_username_is_refused_beside_its_field(new_connected: NewConnected) -> None:
    globex = asking(new_connected, TERMS, {"name": "username", "required": True})
    creates(globex.sign_in(), terms="y", username="mina")
    page = globex.sign_in_anew(sub="jonathan", email=f"jonathan@{DOMAIN}")
    refused = creates(page, terms="y", username="mina")
    assert "Already in use. Choose another one." in refused.text
    assert globex.count_accounts() == 1
    assert creates(refused, terms="y", username="jonathan").heading == "Profile"


@on_sqlite
def test_typed_number_is_not_verified(new_connected: NewConnected) -> None:
    globex = asking(new_connected, TERMS, {"name": "phone"}, phone_login=True)
    assert creates(globex.sign_in(), terms="y", phone="+12025550123").heading == "Profile"
    account = globex.account()
    assert account is not None
    assert (account.phone, account.phone_verified) == ("+12025550123", False)


@on_sqlite
def test_groups_give_their_roles_after_the_form(new_connected: NewConnected) -> None:
    globex = asking(new_connected, TERMS)
    editor = globex.business.role("Editor", org=globex.org)
    globex.group_role("editors", editor)
    page = globex.sign_in(groups=["editors", *(f"group {number}" for number in range(900))])
    assert creates(page, terms="y").heading == "Profile"
    assert globex.roles() == {globex.member_role, editor}


@on_sqlite
def test_seat_taken_meanwhile_is_refused(new_connected: NewConnected) -> None:
    globex = asking(new_connected, TERMS)
    globex.set_policies(MemberPolicy={"Seats": 1, "DefaultMemberRole": globex.member_role})
    page = globex.sign_in()
    creates(globex.sign_in_anew(sub="jonathan", email=f"jonathan@{DOMAIN}"), terms="y")
    refused = creates(page, terms="y")
    assert "You’re not a member yet" in refused.text
    assert globex.count_accounts() == 1
    assert len(globex.events("account.registered")) == 1, "the audit names no account that was rolled back"
    assert [facts["reason"] for _, facts in globex.events("organization.connection_refused")] == ["member"]


def switch_off(globex: ConnectedOrganization) -> None:
    globex.set_active(False)


def deactivate(globex: ConnectedOrganization) -> None:
    globex.business.deactivate(globex.org)


def lose_domain(globex: ConnectedOrganization) -> None:
    globex.change(Domain="")
    answered(globex.business.send("PUT", f"{PATH}/{globex.org}", {"Domains": []}))


def stop_joining(globex: ConnectedOrganization) -> None:
    globex.set_policies(JITPolicy={"Enabled": False})


REFUSALS = {
    switch_off: "Sign-in method unavailable",
    deactivate: "Sign-in method unavailable",
    lose_domain: "This email can’t be used here",
    stop_joining: "You’re not a member yet",
}


@on_sqlite
@pytest.mark.parametrize("change", REFUSALS, ids=lambda change: change.__name__)
def test_change_meanwhile_is_refused(new_connected: NewConnected, change: Any) -> None:
    globex = asking(new_connected, TERMS)
    page = globex.sign_in()
    change(globex)
    refused = creates(page, terms="y")
    assert REFUSALS[change] in refused.text
    assert globex.count_accounts() == 0
    assert globex.visitor.open("/profile").is_sign_in


@on_sqlite
def test_another_browser_and_a_used_form_open_nothing(new_connected: NewConnected) -> None:
    globex = asking(new_connected, TERMS)
    page = globex.sign_in()
    elsewhere = globex.new_visitor_at(globex.tenant).open(page.address)
    assert MINA["email"] not in elsewhere.html
    assert elsewhere.status == 410
    assert creates(page, terms="y").heading == "Profile"
    globex.visitor.forget("session")
    assert page.press("Create account", terms="y").status == 410
    assert globex.visitor.open("/profile").is_sign_in
    assert globex.count_accounts() == 1


@on_sqlite
def test_account_made_meanwhile_is_linked(new_connected: NewConnected) -> None:
    globex = asking(new_connected, TERMS)
    page = globex.sign_in()
    mina = globex.tenant.person(MINA["email"])
    assert creates(page, terms="y").heading == "Profile"
    account = globex.account()
    assert account is not None
    assert (account.uid, globex.linked()) == (mina.uid, [(globex.id, "mina-1")])


@on_sqlite
def test_session_of_another_account_ends_after_a_question_only(new_connected: NewConnected) -> None:
    globex = asking(new_connected, TERMS)
    eve = globex.tenant.person("eve@private.example")
    page = globex.visitor.open("/login?direct=y").press("Sign in", identifier=eve.email, password=eve.password)
    assert page.heading == "Profile"
    asked = creates(globex.sign_in(), terms="y")
    assert asked.heading not in (SIGN_UP, "Profile")
    assert eve.email in globex.visitor.open("/profile").text


@pytest.mark.both_databases
def test_two_first_sign_ins_at_once_make_one_account(new_connected: NewConnected) -> None:
    globex = asking(new_connected, TERMS)
    browsers = [globex.new_visitor_at(globex.tenant) for _ in range(4)]
    forms = [globex.sign_in(browser) for browser in browsers]
    pages = at_once([partial(form.press, "Create account", terms="y") for form in forms])
    assert [page.heading for page in pages] == ["Profile"] * 4
    assert globex.count_accounts() == 1
    assert (globex.linked(), globex.roles()) == ([(globex.id, "mina-1")], {globex.member_role})
