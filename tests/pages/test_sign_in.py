"""Signing in on the page, as a person does it."""

import re
from collections.abc import Callable
from io import BytesIO
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.support.oauth_world import NewWorld, World
from tests.support.visitor import NewVisitor, Visitor

PASSWORD = "correct horse 7"


def test_a_person_signs_in_and_returns_to_the_application(world: World, visitor: Visitor) -> None:
    shop, ada = world.application("shop", client_name="Acme Shop"), world.person("ada@example.com")
    page = visitor.asked_by(shop)
    assert page.heading == "Welcome back"
    assert "Sign in to continue to Acme Shop" in page.text
    landed = page.press("Sign in", identifier=ada.email, password=PASSWORD)
    assert landed.address.startswith(shop.redirect_uri)
    assert landed.query["state"] == shop.asks()["state"]
    assert landed.query["code"]


def test_wrong_password_and_unknown_account_look_the_same(world: World, visitor: Visitor) -> None:
    shop, ada = world.application("shop"), world.person("ada@example.com")
    page = visitor.asked_by(shop)
    wrong = page.press("Sign in", identifier=ada.email, password="wrong")
    unknown = page.press("Sign in", identifier="bob@example.com", password="wrong")
    assert wrong.status == unknown.status == 401
    assert wrong.text.replace(ada.email, "") == unknown.text.replace("bob@example.com", "")
    assert wrong.title.startswith("Error: ")


def test_what_was_typed_is_kept_but_for_the_password(world: World, visitor: Visitor) -> None:
    page = visitor.asked_by(world.application("shop")).press("Sign in", identifier="ada@example.com", password="wrong")
    form = page.form("Sign in")
    assert form.fields["identifier"] == "ada@example.com"
    assert form.fields["password"] == ""


@pytest.mark.parametrize(
    ("settings", "kind"),
    [
        ({}, "email"),
        ({"phone_login": True, "email_login": False}, "text"),
        ({"username_login": True, "email_login": False}, "text"),
        ({"username_login": True, "email_login": True}, "text"),
    ],
)
def test_keyboards_leave_a_name_as_it_is_typed_and_managers_know_it(
    new_world: NewWorld, new_visitor_at: Callable[[World], Visitor], settings: dict[str, Any], kind: str
) -> None:
    page = new_visitor_at(new_world(**settings)).open("/login")
    field = re.findall(r'<input[^>]* id="identifier"[^>]*>', page.html)[0]
    assert f'type="{kind}"' in field
    assert 'autocomplete="username"' in field
    assert 'spellcheck="false"' in field
    assert kind == "email" or 'autocapitalize="none"' in field


def test_empty_fields_are_named_and_linked(visitor: Visitor) -> None:
    page = visitor.open("/login").press("Sign in")
    assert page.status == 422
    assert 'href="#identifier"' in page.html
    assert 'id="password-problem"' in page.html


def test_a_form_of_another_browser_is_drawn_again_with_what_was_typed(world: World, new_visitor: NewVisitor) -> None:
    ada, stranger = new_visitor(), new_visitor()
    token = stranger.open("/login").form("Sign in").fields["token"]
    page = ada.open("/login").press("Sign in", identifier="ada@example.com", password=PASSWORD, token=token)
    assert page.status == 403
    assert "Please send that once more" in page.text
    assert page.form("Sign in").fields["identifier"] == "ada@example.com"


@pytest.mark.parametrize(
    "said", [{"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"}, {"Origin": "https://evil.example"}]
)
def test_a_form_that_another_site_sent_is_drawn_again_with_what_was_typed(
    world: World, visitor: Visitor, said: dict[str, str]
) -> None:
    """With a token that is good: beside it the browser's own word counts, as beside a stolen key a lock does."""
    ada = world.person("ada@example.com")
    held = visitor.asked_by(world.application("shop")).form("Sign in").fields
    sent = {**held, "identifier": ada.email, "password": PASSWORD}
    page = visitor.send("POST", f"{visitor.home}/login", sent, **said)
    assert page.status == 403
    assert "Please send that once more" in page.text
    assert page.form("Sign in").fields["identifier"] == ada.email
    assert page.press("Sign in", password=PASSWORD).query["code"]


def test_a_browser_that_hides_where_a_form_comes_from_signs_in(world: World, visitor: Visitor) -> None:
    """`Origin: null` is what browsers write on our own forms, because our pages send no referrer."""
    ada = world.person("ada@example.com")
    sent = {**visitor.open("/login").form("Sign in").fields, "identifier": ada.email, "password": PASSWORD}
    assert visitor.send("POST", f"{visitor.home}/login", sent, Origin="null").heading == ada.email


def test_without_cookies_the_form_says_so(world: World, visitor: Visitor) -> None:
    page = visitor.open("/login")
    visitor.forget("gatehouse")
    assert "Cookies have to be allowed" in page.press("Sign in", identifier="a@b.c", password="x").text


def test_a_token_of_one_attempt_serves_no_other(world: World, visitor: Visitor) -> None:
    shop = world.application("shop")
    first, second = visitor.asked_by(shop), visitor.asked_by(shop)
    token = first.form("Sign in").fields["token"]
    assert second.press("Sign in", identifier="a@b.c", password="x", token=token).status == 403


def test_two_tabs_each_return_to_their_own_application(world: World, visitor: Visitor) -> None:
    shop, forum, ada = world.application("shop"), world.application("forum"), world.person("ada@example.com")
    tab, other = visitor.asked_by(shop, state="of the shop"), visitor.asked_by(forum, state="of the forum")
    assert other.press("Sign in", identifier=ada.email, password=PASSWORD).query["state"] == "of the forum"
    assert tab.press("Sign in", identifier=ada.email, password=PASSWORD).query["state"] == "of the shop"


def test_back_after_the_end_lands_on_the_profile(world: World, visitor: Visitor) -> None:
    page = visitor.asked_by(world.application("shop"))
    ada = world.person("ada@example.com")
    page.press("Sign in", identifier=ada.email, password=PASSWORD)
    assert visitor.open(page.address).heading == ada.email


def test_a_second_submit_of_the_form_returns_to_the_application_too(world: World, visitor: Visitor) -> None:
    shop, ada = world.application("shop"), world.person("ada@example.com")
    page = visitor.asked_by(shop, state="of the tab")
    landed = [page.press("Sign in", identifier=ada.email, password=PASSWORD) for _ in range(3)]
    assert all(each.address.startswith(shop.redirect_uri) for each in landed)
    assert {each.query["state"] for each in landed} == {"of the tab"}
    assert len({each.query["code"] for each in landed}) == 3
    assert shop.redeem(landed[-1].query["code"]).status_code == 200, "a browser follows the last answer alone"


def test_a_second_submit_by_somebody_else_gets_no_code_and_names_the_application(
    world: World, visitor: Visitor
) -> None:
    shop = world.application("shop", client_name="Acme Shop")
    ada, bob = world.person("ada@example.com"), world.person("bob@example.com")
    page = visitor.asked_by(shop)
    page.press("Sign in", identifier=ada.email, password=PASSWORD)
    other = page.press("Sign in", identifier=bob.email, password=PASSWORD)
    assert other.status == 410
    assert "Continue to Acme Shop" in other.text
    assert page.press("Sign in", identifier=ada.email, password="wrong").status == 401


def test_an_attempt_opened_in_another_browser_starts_again(world: World, new_visitor: NewVisitor) -> None:
    page = new_visitor().asked_by(world.application("shop"))
    stolen = new_visitor().open(page.address)
    assert stolen.status == 410
    assert stolen.heading == "Let us start again"


def test_start_again_knows_who_had_asked(world: World, visitor: Visitor) -> None:
    shop = world.application("shop", client_name="Acme Shop", client_uri="https://shop.example/start")
    page = visitor.asked_by(shop)
    world.services.clock.advance(minutes=11)  # type: ignore[attr-defined]  # the tests' clock is moved by hand
    gone = page.press("Sign in", identifier="ada@example.com", password=PASSWORD)
    assert gone.status == 410
    assert gone.follow("Continue to Acme Shop").address == "https://shop.example/start"
    assert visitor.open(page.address).status == 410


def test_one_browser_keeps_five_attempts_at_most(world: World, visitor: Visitor) -> None:
    shop = world.application("shop")
    for _ in range(8):
        visitor.asked_by(shop)
    assert len(visitor.cookies("gatehouse-attempt-")) == 5


def test_an_attempt_that_gave_way_to_newer_ones_still_knows_who_had_asked(
    world: World, visitor: Visitor, new_visitor: NewVisitor
) -> None:
    first = visitor.asked_by(world.application("first", client_name="First", client_uri="https://first.example/start"))
    second = visitor.asked_by(world.application("second", client_name="Second", client_uri="https://second.example/"))
    shop, ada = world.application("shop"), world.person("ada@example.com")
    for _ in range(8):
        world.services.clock.advance(seconds=1)  # type: ignore[attr-defined]  # the tests' clock is moved by hand
        visitor.asked_by(shop)
    gone = visitor.open(first.address)
    assert gone.status == 410
    assert gone.follow("Continue to First").address == "https://first.example/start"
    sent = second.press("Sign in", identifier=ada.email, password=PASSWORD)
    assert sent.follow("Continue to Second").address == "https://second.example/"
    assert "Continue to First" not in new_visitor().open(first.address).text


def test_the_hint_of_the_application_stands_in_the_field(world: World, visitor: Visitor) -> None:
    page = visitor.asked_by(world.application("shop"), login_hint='ada"><script>@example.com')
    assert "<script>@" not in page.html
    assert page.form("Sign in").fields["identifier"] == 'ada"><script>@example.com'


def test_a_person_without_application_lands_on_the_profile(world: World, visitor: Visitor) -> None:
    ada = world.person("ada@example.com", FirstName="Ada", LastName="Lovelace")
    page = visitor.open("/login").press("Sign in", identifier=ada.email, password=PASSWORD)
    assert urlsplit(page.address).path == "/profile"
    assert page.heading == "Ada Lovelace"


def test_the_anonymous_page_asks_nobody(world: World, visitor: Visitor) -> None:
    page = visitor.asked_by(world.application("shop"))
    assert page.cost["api"] == page.cost["sql"] == 0
    assert visitor.open("/login").cost["api"] == 0


def test_the_form_may_lead_to_the_scheme_of_the_application_only(world: World, visitor: Visitor) -> None:
    page = visitor.asked_by(world.application("shop"))
    assert page.answer
    assert "form-action 'self' https:;" in page.answer.headers["Content-Security-Policy"]
    alone = visitor.open("/login").answer
    assert alone
    assert "form-action 'self';" in alone.headers["Content-Security-Policy"]


@pytest.mark.parametrize("typed", ["\x00", "a" * 5000, "\ud800", "<b>x</b>", "' OR 1=1 --", "%00", "𐀀" * 400])
def test_whatever_is_typed_gets_a_page(visitor: Visitor, typed: str) -> None:
    sent = typed.encode("utf-8", "surrogatepass").decode("latin-1")
    page = visitor.open("/login").press("Sign in", identifier=sent, password=sent)
    assert page.status in (400, 401, 422)
    assert page.heading == "Welcome back"


@pytest.mark.parametrize("path", ["/login", "/security", "/logout", "/consent", "/switch-account"])
@pytest.mark.parametrize("body", ["[1,2]", "5", '"x"', "null", '{"token":5}', '{"token":{}}', "{", "[" * 50_000])
def test_a_body_that_is_no_form_is_nobody_s_form(visitor: Visitor, path: str, body: str) -> None:
    answer = visitor.client.post(path, base_url=visitor.home, data=body, content_type="application/json")
    assert answer.status_code < 500
    assert "Something broke on our side" not in answer.text


@pytest.mark.parametrize("name", ["token", "identifier", "password", "captcha", "attempt", "remember"])
def test_a_file_is_no_text_of_a_field(world: World, visitor: Visitor, name: str) -> None:
    page = visitor.asked_by(world.application("shop"))
    sent = {**page.form("Sign in").fields, "identifier": "ada@example.com", "password": "x"}
    sent[name] = (BytesIO(b"x"), "x.txt")
    answer = visitor.client.post("/login", base_url=visitor.home, data=sent, content_type="multipart/form-data")
    assert answer.status_code in (401, 403, 422)
    assert page.form("Sign in").fields["attempt"] not in answer.text or name != "attempt"


def test_what_cannot_be_read_is_not_called_our_fault(visitor: Visitor) -> None:
    answer = visitor.client.post("/login", base_url=visitor.home, headers={"Host": "bad host"})
    assert answer.status_code < 500
    assert "Something broke on our side" not in answer.text


def test_a_form_beyond_all_measure_is_refused_as_a_page(visitor: Visitor) -> None:
    page = visitor.open("/login").press("Sign in", identifier="x", password="x" * 200_000)
    assert page.status == 413


def test_who_is_asked_again_finds_the_name_filled_in(world: World, visitor: Visitor) -> None:
    shop, ada = world.application("shop"), world.person("ada@example.com")
    visitor.open("/login").press("Sign in", identifier=ada.email, password=PASSWORD)
    world.services.clock.advance(minutes=1)  # type: ignore[attr-defined]  # the tests' clock is moved by hand
    page = visitor.asked_by(shop, prompt="login")
    assert page.heading == "Is it still you?"
    assert page.form("Continue").fields["identifier"] == ada.email
    assert page.press("Continue", password=PASSWORD).query["code"]


def test_who_is_signed_in_goes_straight_on(world: World, visitor: Visitor) -> None:
    shop, ada = world.application("shop"), world.person("ada@example.com")
    visitor.open("/login").press("Sign in", identifier=ada.email, password=PASSWORD)
    assert visitor.asked_by(shop).query["code"]
