"""The registration page."""

from __future__ import annotations

from typing import Any

import pytest

from app.identity.directory.accounts.tables import accounts
from app.identity.platform.store.unit_of_work import UnitOfWork
from tests.support.accounts.mailbox import link_in, links_in, mails_to
from tests.support.oauth.world import NewWorld, World
from tests.support.visitors.captchas import WRONG_WORK, solving
from tests.support.visitors.visitor import NewVisitorAt, VisitedPage, Visitor

PASSWORD = "Zebra-kettle-91"
EMAIL = "Neuling@Example.test"
CONFIRM_BUTTON = "Verify"
FREE = {"register_per_minute_per_address": 0}


@pytest.fixture
def world(new_world: NewWorld) -> World:
    return new_world(limits=FREE)


def sign_up(page: VisitedPage, email: str = EMAIL, password: str = PASSWORD, **more: str) -> VisitedPage:
    return page.press("Create account", email=email, password=password, **more)


def all_accounts(world: World) -> list[Any]:
    """Return every account of the tenant."""
    work = UnitOfWork(world.services.database, world.tenant_id)
    try:
        return list(work.all(accounts.select().where(accounts.c.tenant_id == world.tenant_id)))
    finally:
        work.rollback()


def test_registration_verifies_and_returns_to_application(world: World, visitor: Visitor) -> None:
    shop = world.application("shop", client_name="Acme Shop")
    page = visitor.authorize(shop).follow("Create account")
    assert page.heading == "Create your account"
    assert "to continue to Acme Shop" in page.text
    waiting = sign_up(page)
    assert waiting.status == 200
    assert EMAIL in waiting.text
    (mail,) = mails_to(world.services, world.tenant_id, EMAIL)
    callback = visitor.open(link_in(mail)).press(CONFIRM_BUTTON)
    assert callback.address.startswith(shop.redirect_uri)
    assert callback.query["code"]


def test_registration_of_no_application_names_the_tenant(visitor: Visitor) -> None:
    page = visitor.open("/register")
    name = visitor.open("/login").heading.removeprefix("Sign in to ")
    assert f"One account for everything at {name}" in page.text
    assert "to continue to" not in page.text


@pytest.mark.parametrize("mode", ["optional", "disabled"])
def test_optional_verification_returns_a_code_at_once(
    new_world: NewWorld, new_visitor_at: NewVisitorAt, mode: str
) -> None:
    world = new_world(limits=FREE, email_verification=mode)
    shop = world.application("shop")
    callback = sign_up(new_visitor_at(world).authorize(shop, prompt="create"))
    assert callback.address.startswith(shop.redirect_uri)
    assert callback.query["code"]


def test_prompt_create_shows_registration_with_login_link(world: World, visitor: Visitor) -> None:
    page = visitor.authorize(world.application("shop"), prompt="create")
    assert page.heading == "Create your account"
    assert page.follow("Sign in").is_sign_in


def test_registration_without_application_ends_at_profile(new_world: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    visitor = new_visitor_at(new_world(limits=FREE, email_verification="optional"))
    assert sign_up(visitor.open("/register")).address.endswith("/profile")
    assert visitor.open("/register").address.endswith("/profile")


def test_legacy_return_url_gets_action_completed(new_world: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    world = new_world(limits=FREE, url_whitelist=("https://shop.example",))
    page = new_visitor_at(world).open("/auth.aspx?action=Register&return_url=https://shop.example/in?x=1")
    assert page.heading == "Create your account"
    assert sign_up(page).address == "https://shop.example/in?x=1&action_completed=register"


def test_unlisted_return_url_is_not_followed(world: World, visitor: Visitor) -> None:
    page = visitor.open("/auth.aspx?action=register&return_url=https://evil.example/")
    assert sign_up(page).address.startswith(visitor.home)


@pytest.mark.parametrize("query", ["", "?action=register"])
def test_disabled_registration_answers_403(new_world: NewWorld, new_visitor_at: NewVisitorAt, query: str) -> None:
    world = new_world(registration=False)
    visitor = new_visitor_at(world)
    page = visitor.open("/auth.aspx?action=register" if query else "/register")
    assert (page.status, page.heading) == (403, "Sign-up is closed")
    assert "Create account" not in visitor.open("/login").text


def test_taken_address_answers_like_a_free_one(world: World, new_visitor: Any) -> None:
    ada = world.person("ada@example.com")
    taken = sign_up(new_visitor().open("/register"), email=ada.email)
    free = sign_up(new_visitor().open("/register"), email="free@example.com")
    assert (taken.status, taken.heading) == (free.status, free.heading)
    assert taken.comparable_text(but_for=ada.email) == free.comparable_text(but_for="free@example.com")
    assert taken.cost["hashes"] == free.cost["hashes"]
    assert not links_in(mails_to(world.services, world.tenant_id, ada.email)[-1])
    assert links_in(mails_to(world.services, world.tenant_id, "free@example.com")[-1])
    assert len(all_accounts(world)) == 2


def test_post_costs_one_call_and_one_hash_for_any_address(world: World, new_visitor: Any) -> None:
    ada = world.person("ada@example.com")
    for email in (ada.email, "free@example.com"):
        visitor = new_visitor()
        form = visitor.open("/register").form("Create account")
        sent = {**form.fields, "email": email, "password": PASSWORD}
        answer = visitor.client.post("/register", data=sent, base_url=visitor.home)
        cost = answer.headers["X-Gatehouse-Cost"]
        assert answer.status_code == 303
        assert "api=1;" in cost
        assert "hashes=1;" in cost


def test_page_makes_no_api_call(world: World, visitor: Visitor) -> None:
    visitor.open("/register")
    assert visitor.open("/register").cost.get("api", 0) == 0


@pytest.mark.parametrize(
    ("typed", "field"),
    [
        ({"email": "no address"}, "email"),
        ({"email": "a@example.test\r\nBcc: b@example.test"}, "email"),
        ({"email": "x" * 10_000 + "@example.test"}, "email"),
        ({"email": ""}, "email"),
        ({"password": ""}, "password"),
        ({"password": "short"}, "password"),
        ({"password": "Password123!"}, "password"),
        ({"password": "neuling-kettle-91"}, "password"),
        ({"password": "x1-" * 400}, "password"),
    ],
)
def test_refused_field_shows_error_and_form_stays(
    world: World, visitor: Visitor, typed: dict[str, str], field: str
) -> None:
    page = sign_up(visitor.open("/register"), **typed)
    assert page.status in (400, 403, 422)
    assert f'id="{field}-problem"' in page.html
    assert page.title.startswith("Error: ")
    again = page.form("Create account").fields
    assert again["password"] == ""
    assert again["email"] == typed.get("email", EMAIL)
    assert all_accounts(world) == []


FORM: tuple[dict[str, Any], ...] = (
    {"name": "first_name", "required": True, "max_length": 20, "label": {"en": "What may we call you?", "de": "Wie heißen Sie?"}},
    {"name": "email", "required": True},
    {"name": "username", "required": True},
    {"name": "birth_date", "required": True},
    {"name": "cf_size", "type": "option", "options": [{"value": "m", "text": {"en": "Medium"}}, {"value": "xl"}]},
    {"name": "about", "type": "text"},
    {"name": "password", "type": "password", "required": True},
    {"name": "terms", "type": "multi", "required": True},
)  # fmt: skip
GOOD = {"first_name": "Ada\u202e", "username": "Countess", "birth_date": "1999-12-31", "cf_size": "xl", "terms": "y"}


@pytest.fixture
def world_with_form(new_world: NewWorld) -> World:
    return new_world(limits=FREE, registration_form=FORM, custom_fields=("size",), minimum_age=16)


def test_tenants_form_is_localised_and_stored(world_with_form: World, new_visitor_at: NewVisitorAt) -> None:
    visitor = new_visitor_at(world_with_form)
    page = visitor.open("/register")
    assert page.html.index("What may we call you?") < page.html.index("Username") < page.html.index("Date of birth")
    assert "Wie heißen Sie?" in visitor.open("/register?lang=de").text
    sign_up(page, **GOOD)
    (account,) = all_accounts(world_with_form)
    assert (account.username, account.profile["BirthDate"]) == ("countess", "12/31/1999")
    assert account.profile["CustomFields"] == {"size": "xl"}
    assert "About" not in account.profile
    assert "terms_accepted_at" in account.private


@pytest.mark.parametrize(
    ("typed", "field"),
    [
        ({"first_name": "x" * 21}, "first_name"),
        ({"first_name": "x" * 10_000}, "first_name"),
        ({"birth_date": "2001-02-29"}, "birth_date"),
        ({"birth_date": "yesterday"}, "birth_date"),
        ({"birth_date": "2020-01-01"}, "birth_date"),
        ({"cf_size": "enormous"}, "cf_size"),
        ({"username": "two words"}, "username"),
        ({"username": "a@b.example"}, "username"),
        ({"terms": ""}, "terms"),
    ],
)
def test_tenants_form_is_enforced_at_its_fields(
    world_with_form: World, new_visitor_at: NewVisitorAt, typed: dict[str, str], field: str
) -> None:
    sent = {name: value for name, value in {**GOOD, **typed}.items() if name != "terms" or value}
    page = sign_up(new_visitor_at(world_with_form).open("/register"), **sent)
    assert f'id="{field}-problem"' in page.html
    assert page.form("Create account").fields["email"] == EMAIL
    assert "Enter your password again." in page.text, "the page does not repeat it"
    assert all_accounts(world_with_form) == []


def test_taken_username_is_refused_at_its_field(world_with_form: World, new_visitor_at: NewVisitorAt) -> None:
    sign_up(new_visitor_at(world_with_form).open("/register"), **GOOD)
    page = sign_up(new_visitor_at(world_with_form).open("/register"), email="other@example.test", **GOOD)
    assert 'id="username-problem"' in page.html


def test_unlisted_fields_are_ignored(world: World, visitor: Visitor) -> None:
    sign_up(
        visitor.open("/register"), first_name="Eve", EmailVerified="true", cf_x="1", uid="mine", phone="+4930123456"
    )
    (account,) = all_accounts(world)
    assert (account.profile.get("FirstName"), account.email_verified, account.phone) == (None, False, None)


def test_form_token_of_another_browser_is_refused(world: World, new_visitor: Any) -> None:
    token = new_visitor().open("/register").form("Create account").fields["token"]
    page = sign_up(new_visitor().open("/register"), token=token)
    assert page.status == 403
    assert page.form("Create account").fields["email"] == EMAIL
    assert all_accounts(world) == []


def test_double_submit_makes_one_account(new_world: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    world = new_world(limits=FREE, email_verification="optional")
    visitor = new_visitor_at(world)
    page = visitor.authorize(world.application("shop"))
    form = page.follow("Create account")
    sign_up(form)
    assert sign_up(form).address.endswith("/profile")
    assert len(all_accounts(world)) == 1


def test_registrations_are_limited_per_ip_address(new_world: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    world = new_world(limits={"register_per_minute_per_address": 1})
    sign_up(new_visitor_at(world).open("/register"))
    page = sign_up(new_visitor_at(world).open("/register"), email="b@example.test")
    assert page.status == 429
    assert page.form("Create account").fields["email"] == "b@example.test"


def test_password_rules_follow_the_policy(new_world: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    world = new_world(password_policy={"min_length": 14, "require_symbol": False, "require_uppercase": True})
    page = new_visitor_at(world).open("/register")
    assert "At least 14 characters" in page.text
    assert "An uppercase letter" in page.text
    assert "A symbol" not in page.text


def test_unknown_interaction_answers_410(world: World, visitor: Visitor) -> None:
    visitor.authorize(world.application("shop"))
    assert visitor.open("/register?attempt=unknown").status == 410


def test_registration_captcha_is_required(new_world: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    world = new_world(limits=FREE, registration_captcha=True)
    visitor = new_visitor_at(world)
    visitor.open("/register")
    page = visitor.open("/register")
    assert page.cost["api"] == 1
    wrong = sign_up(page, **WRONG_WORK)
    assert (wrong.status, all_accounts(world)) == (403, [])
    assert wrong.form("Create account").fields["email"] == EMAIL
    accepted = sign_up(wrong, **solving(wrong, "Create account"))
    assert EMAIL in accepted.text
    assert len(all_accounts(world)) == 1


def test_refusal_after_captcha_brings_a_new_one(new_world: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    world = new_world(limits=FREE, registration_captcha=True)
    page = new_visitor_at(world).open("/register")
    weak = sign_up(page, password="Password123!", **solving(page, "Create account"))
    assert 'id="password-problem"' in weak.html
    again = sign_up(weak, **solving(weak, "Create account"))
    assert EMAIL in again.text
    assert len(all_accounts(world)) == 1


def test_prompt_create_registers_a_second_account(new_world: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    world = new_world(limits=FREE, email_verification="optional")
    visitor, shop = new_visitor_at(world), world.application("shop")
    sign_up(visitor.open("/register"))
    page = visitor.authorize(shop, prompt="create")
    assert page.heading == "Create your account"
    assert page.follow("Sign in").heading == "Confirm it’s you"
    callback = sign_up(page, email="second@example.test")
    assert callback.query["code"]
    assert len(all_accounts(world)) == 2
