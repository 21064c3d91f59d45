"""The page that chooses an organization."""

from __future__ import annotations

import pytest

from tests.support.oauth.relying_party import RelyingParty
from tests.support.oauth.world import World
from tests.support.organizations.members import Company, organization_in
from tests.support.tenants.tenant_server import answered
from tests.support.visitors.visitor import NewVisitor, VisitedPage, Visitor


@pytest.fixture
def app(world: World) -> RelyingParty:
    return world.application("Crm", client_name="Acme Shop", organization_usage="prompt")


@pytest.fixture
def page(company: Company, visitor: Visitor, app: RelyingParty) -> VisitedPage:
    """The page of an account with two organizations."""
    for name, role in (("Globex Gardens", "Editor"), ("Initech", "Owner")):
        company.join(company.ada, company.business.create(name), role)
    return visitor.authorize(app).press("Sign in", identifier=company.ada.email, password=company.ada.password)


def test_page_shows_organizations_and_the_account(page: VisitedPage, company: Company) -> None:
    assert page.heading == "Choose an organization"
    assert "Continue to Acme Shop with:" in page.text
    assert "Editor · 1 person" in page.text
    assert "Personal account Only you" in page.text
    assert company.ada.email in page.text
    assert "Last used" not in page.text


def test_chosen_organization_is_in_the_token_and_is_remembered(
    page: VisitedPage, visitor: Visitor, app: RelyingParty
) -> None:
    code = page.press("Initech").query["code"]
    assert organization_in(answered(app.redeem(code))["id_token"])["org_name"] == "Initech"
    later = visitor.authorize(app).text
    assert later.index("Initech Owner · 1 person Last used") < later.index("Globex Gardens")


def test_personal_account_gets_a_code(page: VisitedPage, app: RelyingParty) -> None:
    code = page.press("Personal account").query["code"]
    assert organization_in(answered(app.redeem(code))["id_token"]) == {}


def test_forged_value_shows_the_page_again(page: VisitedPage, company: Company) -> None:
    foreign = company.business.create("Hazel")
    form = page.form("Initech")
    again = page.visitor.send("POST", f"{page.visitor.home}{form.action}", {**form.fields, "organization": foreign})
    assert again.heading == "Choose an organization"
    assert "Hazel" not in again.text


def test_foreign_form_token_chooses_nothing(page: VisitedPage, new_visitor: NewVisitor) -> None:
    token = new_visitor().open("/login").form("Sign in").fields["token"]
    refused = page.press("Initech", token=token)
    assert refused.status == 403
    assert refused.heading == "Choose an organization"
    assert refused.press("Initech").query["code"]


def test_switch_opens_the_account_chooser(page: VisitedPage, world: World) -> None:
    bob = world.person("bob@example.com")
    chooser = page.press("Switch")
    assert chooser.heading == "Choose an account"
    login = chooser.press("Use another account")
    assert login.is_sign_in
    assert login.press("Sign in", identifier=bob.email, password=bob.password).query["code"]


def test_reload_and_back_show_the_page(page: VisitedPage) -> None:
    assert page.visitor.open(page.address).heading == "Choose an organization"
    page.press("Initech")
    assert page.visitor.open(page.address).heading != "Choose an organization"


def test_page_without_interaction_answers_410(visitor: Visitor) -> None:
    assert visitor.open("/select-organization").status == 410
    assert visitor.open("/select-organization?attempt=unknown").status == 410


def test_logo_is_allowed_by_the_policy(company: Company, visitor: Visitor, app: RelyingParty) -> None:
    display = {"LogoURL": "https://cdn.globex.example/logo.png"}
    company.join(company.ada, company.business.create("Globex", Display=display), "Editor")
    page = visitor.authorize(app).press("Sign in", identifier=company.ada.email, password=company.ada.password)
    assert "https://cdn.globex.example/logo.png" in page.html
    assert page.answer is not None
    assert "img-src 'self' data: https://cdn.globex.example" in page.answer.headers["Content-Security-Policy"]
