"""The tenant's consent forms: the step in sign-in and registration, and the page /consents."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.accounts.consents import POLICY, form, option, required_forms
from tests.support.accounts.mailbox import link_in, mails_to
from tests.support.oauth.world import NewWorld, World
from tests.support.visitors.visitor import NewVisitorAt, VisitedPage, Visitor

PASSWORD = "correct horse 7"
STEP = "Your consent"
pytestmark = pytest.mark.parametrize("services", ["sqlite"], indirect=True)  # tests/api covers both databases


def from_shop(visitor: Visitor, world: World) -> VisitedPage:
    shop = world.application("shop", client_name="Acme Shop")
    ada = world.person("ada@example.com")
    return visitor.authorize(shop).press("Sign in", identifier=ada.email, password=PASSWORD)


def signed_in(visitor: Visitor, world: World, page: str = "/profile") -> VisitedPage:
    ada = world.person("ada@example.com")
    return visitor.open(page).press("Sign in", identifier=ada.email, password=PASSWORD)


def advance_clock(world: World, **delta: float) -> None:
    clock: Any = world.services.clock
    clock.advance(**delta)


def agree(page: VisitedPage, **more: str) -> VisitedPage:
    return page.press("Continue", **{"agree-terms": "y", **more})


def test_consent_step_continues_to_the_application(new_world: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    world = new_world(**required_forms("FirstLogin"))
    visitor = new_visitor_at(world)
    page = from_shop(visitor, world)
    assert page.heading == STEP
    assert "continue to Acme Shop" in page.text
    assert "News (optional)" in page.text
    assert "checked" not in page.html, "no box is ticked by default"
    callback = agree(page)
    assert callback.address.startswith("https://shop.example/cb?")
    assert callback.query["code"]


def test_title_of_the_only_form_is_the_heading(new_world: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    world = new_world(**required_forms("FirstLogin", title={"en": "Before you begin"}))
    page = from_shop(new_visitor_at(world), world)
    assert page.heading == "Before you begin"
    assert "<h2" not in page.html
    assert 'aria-labelledby="consent"' in page.html


def test_several_forms_have_a_heading_each(new_world: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    world = new_world(
        consent_forms=[
            form("Register", option("terms", mandatory=True), title={"en": "Before you begin"}),
            form("FirstLogin", option("news")),
        ],
        email_verification="disabled",
    )
    page = new_visitor_at(world).authorize(world.application("shop"), prompt="create")
    page = page.press("Create account", email="eve@example.test", password="Zebra-kettle-91")
    assert page.heading == STEP
    assert page.html.count("<h2 id=") == 2


def test_missing_mandatory_consent_is_named_and_form_stays(new_world: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    world = new_world(**required_forms("FirstLogin"))
    page = from_shop(new_visitor_at(world), world).press("Continue", **{"agree-news": "y"})
    assert page.status == 422
    assert "Select “Terms” to continue." in page.text
    assert page.html.count("checked") == 1
    assert agree(page, **{"agree-news": "y"}).query["code"]


def test_consent_step_cannot_be_bypassed(new_world: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    world = new_world(**required_forms("FirstLogin"))
    visitor = new_visitor_at(world)
    from_shop(visitor, world)
    shop = world.application("other")
    assert visitor.authorize(shop).heading == STEP
    assert "error=interaction_required" in visitor.authorize(shop, prompt="none").address
    for page_path in ("/profile", "/security", "/consents", "/change-password", "/emails"):
        assert visitor.open(page_path).heading == STEP, page_path
    assert visitor.open("/login?return_url=http://elsewhere.example/").heading == STEP
    assert agree(visitor.authorize(shop)).query["code"]
    assert visitor.authorize(shop).query["code"]


def test_answers_to_other_forms_are_ignored(new_world: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    survey = form("Survey", option("study"))
    world = new_world(consent_forms=[*required_forms("FirstLogin")["consent_forms"], survey])
    page = from_shop(new_visitor_at(world), world)
    assert page.press("Continue", events="Survey", **{"agree-study": "y"}).heading == STEP
    assert page.press("Continue", events="None").heading == STEP


def test_consent_step_follows_the_privacy_policy(new_world: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    world = new_world(**required_forms("FirstLogin"), privacy_policy=POLICY)
    page = from_shop(new_visitor_at(world), world)
    assert page.heading == "Accept our privacy notice"
    page = page.press("Accept")
    assert page.heading == STEP
    assert agree(page).query["code"]


@pytest.mark.parametrize("mode", ["required", "disabled"])
def test_registration_asks_consent_before_the_callback(
    new_world: NewWorld, new_visitor_at: NewVisitorAt, mode: str
) -> None:
    world = new_world(
        **required_forms("Register"), email_verification=mode, limits={"register_per_minute_per_address": 0}
    )
    visitor, shop = new_visitor_at(world), world.application("shop")
    page = visitor.authorize(shop, prompt="create").press(
        "Create account", email="eve@example.test", password="Zebra-kettle-91"
    )
    if mode == "required":
        (mail,) = mails_to(world.services, world.tenant_id, "eve@example.test")
        page = visitor.open(link_in(mail)).press("Verify")
    assert page.heading == STEP
    assert agree(page).query["code"]


def test_double_submit_records_consent_once(new_world: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    world = new_world(**required_forms("FirstLogin"))
    visitor = new_visitor_at(world)
    page = signed_in(visitor, world)
    agree(page)
    assert agree(page).heading == "Profile"
    assert visitor.open("/consents").text.count("Agreed: ") == 1


def test_later_sign_in_asks_only_for_the_newer_form(new_world: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    world = new_world(**required_forms("FirstLogin", "Login"))
    visitor = new_visitor_at(world)
    assert agree(signed_in(visitor, world), **{"agree-news": "y"}).heading == "Profile"
    visitor.open("/logout").press("Sign out")
    advance_clock(world, minutes=1)
    page = visitor.open("/profile").press("Sign in", identifier="ada@example.com", password=PASSWORD)
    assert page.heading == STEP
    assert page.html.count("checked") == 1, "given consents are ticked, except those to be given again"
    assert page.text.count("You’ve already agreed to this.") == 1
    assert agree(page, **{"agree-news": "y"}).heading == "Profile"


# The page /consents.


def test_optional_consent_can_be_withdrawn(new_world: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    world = new_world(**required_forms("FirstLogin"))
    visitor = new_visitor_at(world)
    page = agree(signed_in(visitor, world), **{"agree-news": "y"})
    page = page.follow("Consent Review or change your consent Review")
    assert page.heading == "Consent"
    assert "Terms Required for your account. Agreed on " in page.text
    saved = page.press("Save", **{"agree-news": ""})
    assert "Saved" in saved.text
    assert "Withdrawn: News" in saved.text
    assert "checked" not in saved.html


def test_mandatory_consent_cannot_be_withdrawn(new_world: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    world = new_world(**required_forms("FirstLogin"))
    visitor = new_visitor_at(world)
    agree(signed_in(visitor, world))
    page = visitor.open("/consents")
    page.press("Save", shown="terms")
    assert "Taken back" not in visitor.open("/consents").text


def test_consents_page_lists_accepted_policy_versions(new_world: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    world = new_world(privacy_policy=POLICY)
    visitor = new_visitor_at(world)
    signed_in(visitor, world).press("Accept")
    page = visitor.open("/consents")
    assert "You accepted version 7" in page.text
    assert "Save" not in page.text


def test_consents_page_is_empty_without_forms(world: World, visitor: Visitor) -> None:
    assert "Consent" not in signed_in(visitor, world).text
    assert "There are no consents to review yet." in visitor.open("/consents").text


def test_consents_form_with_foreign_token_changes_nothing(new_world: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    world = new_world(**required_forms("FirstLogin"))
    visitor = new_visitor_at(world)
    agree(signed_in(visitor, world), **{"agree-news": "y"})
    refused = visitor.open("/consents").press("Save", token="x", **{"agree-news": ""})
    assert refused.status == 403
    assert "Taken back" not in visitor.open("/consents").text
