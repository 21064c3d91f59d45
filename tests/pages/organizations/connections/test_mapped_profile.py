"""Fields of the profile that an organization's connection maps: they follow its directory at each sign-in."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.journeys.account_security import APP_ALONE, add_app
from tests.support.journeys.second_factors import code_now
from tests.support.journeys.verification import wait
from tests.support.oauth.world import NewWorld
from tests.support.organizations.connected_organization import MINA, ConnectedOrganization, NewConnected
from tests.support.tenants.tenant_server import answered
from tests.support.visitors.visitor import NewVisitorAt

pytestmark = pytest.mark.parametrize("services", ["sqlite"], indirect=True)  # tests/api covers both databases
REFUSED = "account.provider_fields_refused"
LIMITED = (
    {"name": "email", "required": True}, {"name": "password", "type": "password", "required": True},
    {"name": "company", "max_length": 9, "required": True},
)  # fmt: skip


def own(globex: ConnectedOrganization, email: str = MINA["email"]) -> dict[str, Any]:
    """Return the account's own profile."""
    account = globex.account(email)
    assert account is not None
    return account.profile


def mapped(globex: ConnectedOrganization, **mapping: str) -> ConnectedOrganization:
    globex.change(Attributes={"CustomMapping": mapping})
    return globex


def test_first_sign_in_fills_the_own_profile(globex: ConnectedOrganization) -> None:
    mapped(globex, Company="org", Gender="sex").sign_in(org="Globex AG", sex="f")
    assert (own(globex)["Company"], own(globex)["Gender"]) == ("Globex AG", "f")
    assert own(globex)["FirstName"] == "Mina"


def test_new_account_has_the_fields_before_its_second_factor(new_connected: NewConnected) -> None:
    globex = new_connected(settings={"two_factor": "optional", **APP_ALONE})
    globex.set_policies(MFAPolicy={"EnforcementMode": "force"}, JITPolicy={"Enabled": True})
    page = mapped(globex, Company="org").sign_in(org="Globex AG")
    assert page.heading != "Profile"
    assert own(globex)["Company"] == "Globex AG"


def test_custom_fields_of_the_tenant_are_filled(new_connected: NewConnected) -> None:
    globex = mapped(
        new_connected(settings={"custom_fields": ["plan", "floor"]}), plan="tier", cf_floor="floor", room="r"
    )
    globex.sign_in(tier="gold", floor=3, r="12")
    assert own(globex)["CustomFields"] == {"plan": "gold", "floor": "3"}
    globex.sign_in_anew(tier="silver", floor=None)
    assert own(globex)["CustomFields"] == {"plan": "silver", "floor": "3"}


@pytest.mark.parametrize("is_in", [False, True], ids=["new browser", "signed in"])
def test_each_sign_in_follows_the_directory(globex: ConnectedOrganization, *, is_in: bool) -> None:
    mapped(globex, Company="org").sign_in(org="Globex AG")
    browser = globex.visitor if is_in else globex.new_visitor_at(globex.tenant)
    globex.sign_in(browser, org="Globex SE", given_name="Wilhelmina")
    assert own(globex)["Company"] == "Globex SE"
    assert own(globex)["FirstName"] == "Mina", "names follow only where CustomMapping has them"


def test_own_edit_of_a_mapped_field_lasts_until_the_next_sign_in(globex: ConnectedOrganization) -> None:
    mapped(globex, Company="org", FirstName="given_name").sign_in(org="Globex AG")
    account = globex.account()
    assert account is not None
    edited = {"Company": "Mine", "FirstName": "Mini", "LastName": "Murray"}
    answered(globex.business.tenant.send("PUT", f"/identity/v2/manage/account/{account.uid}", edited))
    globex.sign_in_anew(org="Globex AG")
    found = own(globex)
    assert [found[name] for name in edited] == ["Globex AG", "Mina", "Murray"]


def test_absent_claim_leaves_the_field(globex: ConnectedOrganization) -> None:
    mapped(globex, Company="org").sign_in(org="Globex AG")
    globex.sign_in_anew()
    assert own(globex)["Company"] == "Globex AG"


def test_existing_account_of_the_domain_follows(globex: ConnectedOrganization) -> None:
    globex.tenant.person(MINA["email"])
    mapped(globex, Company="org").sign_in(org="Globex AG")
    assert own(globex)["Company"] == "Globex AG"


def test_existing_account_follows_after_its_second_factor_only(
    new_world: NewWorld, new_visitor_at: NewVisitorAt, new_connected: NewConnected
) -> None:
    tenant = new_world(two_factor="optional", **APP_ALONE)
    app, _ = add_app(new_visitor_at(tenant), tenant, tenant.person(MINA["email"]))
    wait(tenant, seconds=31)
    globex = mapped(new_connected(tenant), Company="org")
    page = globex.sign_in(org="Globex AG")
    assert "Company" not in own(globex)
    page.press("Verify", code=code_now(globex.tenant, app))
    assert own(globex)["Company"] == "Globex AG"


def test_member_with_a_private_address_keeps_the_profile(globex: ConnectedOrganization) -> None:
    mapped(globex, Company="org").sign_in(org="Globex AG")
    account = globex.account()
    assert account is not None
    private = "mina@private.example"
    emails = {"Email": [{"Type": "Primary", "Value": private}]}
    answered(globex.business.tenant.send("PUT", f"/identity/v2/manage/account/{account.uid}/email", emails))
    assert globex.sign_in_anew(org="Globex SE").heading == "Profile"
    assert own(globex, private)["Company"] == "Globex AG"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("Gender", "purple"),
        ("BirthDate", "tomorrow"),
        ("Company", "too long for it"),
        ("ImageUrl", "javascript:alert(1)"),
    ],
)
def test_refused_value_changes_nothing_else(new_connected: NewConnected, name: str, text: str) -> None:
    globex = mapped(new_connected(), **{name: "wrong", "City": "town"})
    globex.sign_in(wrong=None, town="Whitby")
    globex.tenant.change_settings(registration_form=LIMITED)
    assert globex.sign_in_anew(wrong=text, town="Exeter").heading == "Profile"
    assert (own(globex).get(name), own(globex)["City"]) == (None, "Exeter")
    account = globex.account()
    assert account is not None
    assert globex.events(REFUSED) == [(account.uid, {"by": globex.id, "fields": [name]})]


@pytest.mark.parametrize(
    "name", ["Email", "UserName", "PhoneId", "Uid", "ID", "EmailVerified", "FullName", "Password", "Roles"]
)
def test_identifiers_and_flags_are_never_mapped(globex: ConnectedOrganization, name: str) -> None:
    globex.sign_in()
    before = globex.account()
    mapped(globex, **{name: "claimed"}).sign_in_anew(claimed="true")
    after = globex.account()
    assert before is not None
    assert after is not None
    told = ("uid", "email", "email_verified", "username", "phone", "phone_verified", "profile", "password_hash")
    assert [getattr(after, item) for item in told] == [getattr(before, item) for item in told]
    assert globex.events(REFUSED) == []


def test_another_organization_decides_about_its_accounts_alone(new_connected: NewConnected) -> None:
    globex = mapped(new_connected(), Company="org")
    initech = new_connected(globex.tenant, name="Initech", domain="initech.example")
    globex.sign_in(org="Globex AG")
    initech.sign_in(sub="mina-1", email="mina@initech.example", org="Initech")
    assert own(globex)["Company"] == "Globex AG"
    assert "Company" not in own(globex, "mina@initech.example")
