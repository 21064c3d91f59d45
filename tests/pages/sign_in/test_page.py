"""The login page."""

import re
from collections.abc import Callable
from io import BytesIO
from typing import Any
from urllib.parse import urlsplit

import pytest

from app.contract import errors
from app.hub.components.sign_in_refusals import reason_for, sign_in_notice
from tests.support.oauth.world import NewWorld, World
from tests.support.services.identity_service import pass_time
from tests.support.visitors.visitor import NewVisitor, Visitor

PASSWORD = "correct horse 7"


def test_sign_in_returns_to_the_application(world: World, visitor: Visitor) -> None:
    shop, ada = world.application("shop", client_name="Acme Shop"), world.person("ada@example.com")
    page = visitor.authorize(shop)
    assert page.is_sign_in
    assert "to continue to Acme Shop" in page.text
    callback = page.press("Sign in", identifier=ada.email, password=PASSWORD)
    assert callback.address.startswith(shop.redirect_uri)
    assert callback.query["state"] == shop.authorization_parameters()["state"]
    assert callback.query["code"]


def test_application_with_the_tenants_name_is_named_once(world: World, visitor: Visitor) -> None:
    name = visitor.authorize(world.application("shop")).heading.removeprefix("Sign in to ")
    page = visitor.authorize(world.application("own", client_name=name))
    assert (page.heading, "to continue to" in page.text) == (f"Sign in to {name}", False)


def test_wrong_password_and_unknown_account_look_the_same(world: World, visitor: Visitor) -> None:
    shop, ada = world.application("shop"), world.person("ada@example.com")
    page = visitor.authorize(shop)
    wrong = page.press("Sign in", identifier=ada.email, password="wrong")
    unknown = page.press("Sign in", identifier="bob@example.com", password="wrong")
    assert wrong.status == unknown.status == 401
    assert wrong.text.replace(ada.email, "") == unknown.text.replace("bob@example.com", "")
    assert wrong.title.startswith("Error: ")


@pytest.mark.parametrize(
    ("settings", "title"),
    [
        ({}, "Wrong email or password"),
        ({"phone_login": True, "email_login": False}, "Wrong phone number or password"),
        ({"username_login": True, "email_login": True}, "Wrong email or password"),
    ],
)
def test_wrong_sign_in_names_the_identifiers_of_the_tenant(
    new_world: NewWorld, new_visitor_at: Callable[[World], Visitor], settings: dict[str, Any], title: str
) -> None:
    page = new_visitor_at(new_world(**settings)).open("/login")
    assert title in page.press("Sign in", identifier="+4930123456", password="wrong").text


def test_refusal_names_what_is_not_verified() -> None:
    titles = [
        str(sign_in_notice(reason_for(refusal()), 0).heading)
        for refusal in (errors.EmailUnverified, errors.PhoneUnverified)
    ]
    assert titles == ["Verify your email first", "Verify your phone first"]


def test_refused_form_keeps_the_name_but_not_the_password(world: World, visitor: Visitor) -> None:
    page = visitor.authorize(world.application("shop")).press("Sign in", identifier="ada@example.com", password="wrong")
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
def test_identifier_field_has_type_and_autocomplete(
    new_world: NewWorld, new_visitor_at: Callable[[World], Visitor], settings: dict[str, Any], kind: str
) -> None:
    page = new_visitor_at(new_world(**settings)).open("/login")
    field = re.findall(r'<input[^>]* id="identifier"[^>]*>', page.html)[0]
    assert f'type="{kind}"' in field
    assert 'autocomplete="username"' in field
    assert 'spellcheck="false"' in field
    assert kind == "email" or 'autocapitalize="none"' in field


def test_empty_fields_are_named(visitor: Visitor) -> None:
    page = visitor.open("/login").press("Sign in")
    assert page.status == 422
    assert 'id="identifier-problem"' in page.html
    assert 'id="password-problem"' in page.html


def test_form_token_of_another_browser_keeps_the_form(world: World, new_visitor: NewVisitor) -> None:
    ada, other = new_visitor(), new_visitor()
    token = other.open("/login").form("Sign in").fields["token"]
    page = ada.open("/login").press("Sign in", identifier="ada@example.com", password=PASSWORD, token=token)
    assert page.status == 403
    assert "We couldn’t verify your request" in page.text
    assert page.form("Sign in").fields["identifier"] == "ada@example.com"


@pytest.mark.parametrize(
    "headers",
    [
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Origin": "https://evil.example"},
        {"Origin": "HOME/login"},  # no origin, but our host
        {"Origin": "HOME,https://evil.example"},
        {"Origin": "file://"},
    ],
)
def test_cross_site_post_is_refused_and_keeps_the_form(world: World, visitor: Visitor, headers: dict[str, str]) -> None:
    """The form token is valid; the browser's fetch metadata must still match."""
    ada = world.person("ada@example.com")
    fields = visitor.authorize(world.application("shop")).form("Sign in").fields
    sent = {**fields, "identifier": ada.email, "password": PASSWORD}
    named = {name: value.replace("HOME", visitor.home) for name, value in headers.items()}
    page = visitor.send("POST", f"{visitor.home}/login", sent, **named)
    assert page.status == 403
    assert "We couldn’t verify your request" in page.text
    assert page.form("Sign in").fields["identifier"] == ada.email
    assert page.press("Sign in", password=PASSWORD).query["code"]


def test_null_origin_is_accepted(world: World, visitor: Visitor) -> None:
    """Browsers send `Origin: null` with our own forms because our pages send no referrer."""
    ada = world.person("ada@example.com")
    sent = {**visitor.open("/login").form("Sign in").fields, "identifier": ada.email, "password": PASSWORD}
    assert visitor.send("POST", f"{visitor.home}/login", {**sent, "token": ""}, Origin="null").status == 403
    assert visitor.send("POST", f"{visitor.home}/login", sent, Origin="null").heading == "Profile"


def test_missing_cookies_are_explained(world: World, visitor: Visitor) -> None:
    page = visitor.open("/login")
    visitor.forget("gatehouse")
    assert "Allow cookies" in page.press("Sign in", identifier="a@b.c", password="x").text


def test_form_token_is_bound_to_its_interaction(world: World, visitor: Visitor) -> None:
    shop = world.application("shop")
    first, second = visitor.authorize(shop), visitor.authorize(shop)
    token = first.form("Sign in").fields["token"]
    assert second.press("Sign in", identifier="a@b.c", password="x", token=token).status == 403


def test_two_tabs_return_to_their_own_applications(world: World, visitor: Visitor) -> None:
    shop, forum, ada = world.application("shop"), world.application("forum"), world.person("ada@example.com")
    first_tab, other = visitor.authorize(shop, state="of the shop"), visitor.authorize(forum, state="of the forum")
    assert other.press("Sign in", identifier=ada.email, password=PASSWORD).query["state"] == "of the forum"
    assert first_tab.press("Sign in", identifier=ada.email, password=PASSWORD).query["state"] == "of the shop"


def test_reopening_a_finished_login_shows_the_profile(world: World, visitor: Visitor) -> None:
    page = visitor.authorize(world.application("shop"))
    ada = world.person("ada@example.com")
    page.press("Sign in", identifier=ada.email, password=PASSWORD)
    assert visitor.open(page.address).heading == "Profile"


def test_double_submit_returns_to_the_application_each_time(world: World, visitor: Visitor) -> None:
    shop, ada = world.application("shop"), world.person("ada@example.com")
    page = visitor.authorize(shop, state="of the tab")
    callback = [page.press("Sign in", identifier=ada.email, password=PASSWORD) for _ in range(3)]
    assert all(item.address.startswith(shop.redirect_uri) for item in callback)
    assert {item.query["state"] for item in callback} == {"of the tab"}
    assert len({item.query["code"] for item in callback}) == 3
    assert shop.redeem(callback[-1].query["code"]).status_code == 200, "a browser follows only the last answer"


def test_second_account_in_used_form_gets_no_code(world: World, visitor: Visitor) -> None:
    shop = world.application("shop", client_name="Acme Shop")
    ada, bob = world.person("ada@example.com"), world.person("bob@example.com")
    page = visitor.authorize(shop)
    page.press("Sign in", identifier=ada.email, password=PASSWORD)
    other = page.press("Sign in", identifier=bob.email, password=PASSWORD)
    assert other.status == 410
    assert "Continue to Acme Shop" in other.text
    assert page.press("Sign in", identifier=ada.email, password="wrong").status == 401


def test_interaction_in_another_browser_answers_410(world: World, new_visitor: NewVisitor) -> None:
    page = new_visitor().authorize(world.application("shop"))
    foreign = new_visitor().open(page.address)
    assert foreign.status == 410
    assert foreign.heading == "Let’s start over"


def test_browser_keeps_at_most_five_interactions(world: World, visitor: Visitor) -> None:
    shop = world.application("shop")
    for _ in range(8):
        visitor.authorize(shop)
    assert len(visitor.cookies("gatehouse-attempt-")) == 5


def test_login_hint_fills_the_identifier_field(world: World, visitor: Visitor) -> None:
    page = visitor.authorize(world.application("shop"), login_hint='ada"><script>@example.com')
    assert "<script>@" not in page.html
    assert page.form("Sign in").fields["identifier"] == 'ada"><script>@example.com'


def test_sign_in_without_application_shows_the_profile(world: World, visitor: Visitor) -> None:
    ada = world.person("ada@example.com", FirstName="Ada", LastName="Lovelace")
    page = visitor.open("/login").press("Sign in", identifier=ada.email, password=PASSWORD)
    assert urlsplit(page.address).path == "/profile"
    assert page.profile_name == "Ada Lovelace"


def test_anonymous_login_page_makes_no_api_call(world: World, visitor: Visitor) -> None:
    page = visitor.authorize(world.application("shop"))
    assert page.cost["api"] == page.cost["sql"] == 0
    assert visitor.open("/login").cost["api"] == 0


def test_csp_form_action_allows_the_applications_scheme(world: World, visitor: Visitor) -> None:
    page = visitor.authorize(world.application("shop"))
    assert page.answer
    assert "form-action 'self' https:;" in page.answer.headers["Content-Security-Policy"]
    plain = visitor.open("/login").answer
    assert plain
    assert "form-action 'self';" in plain.headers["Content-Security-Policy"]


MALFORMED = ("\x00", "a" * 5000, "\ud800", "<b>x</b>", "' OR 1=1 --", "%00", "𐀀" * 400)


def test_malformed_input_gets_a_page_not_an_error(visitor: Visitor, subtests: pytest.Subtests) -> None:
    for typed in MALFORMED:
        with subtests.test(ascii(typed[:20])):
            sent = typed.encode("utf-8", "surrogatepass").decode("latin-1")
            page = visitor.open("/login").press("Sign in", identifier=sent, password=sent)
            assert page.status in (400, 401, 422)
            assert page.is_sign_in


JSON_BODIES = ("[1,2]", "5", '"x"', "null", '{"token":5}', '{"token":{}}', "{", "[" * 50_000)


@pytest.mark.parametrize("path", ["/login", "/security", "/logout", "/consent", "/switch-account"])
def test_json_body_is_not_read_as_a_form(visitor: Visitor, subtests: pytest.Subtests, path: str) -> None:
    for body in JSON_BODIES:
        with subtests.test(body[:20]):
            answer = visitor.client.post(path, base_url=visitor.home, data=body, content_type="application/json")
            assert answer.status_code < 500
            assert "Something went wrong" not in answer.text


@pytest.mark.parametrize("name", ["token", "identifier", "password", "captcha", "attempt", "remember"])
def test_file_upload_is_not_read_as_a_field(world: World, visitor: Visitor, name: str) -> None:
    page = visitor.authorize(world.application("shop"))
    sent: dict[str, Any] = {**page.form("Sign in").fields, "identifier": "ada@example.com", "password": "x"}
    sent[name] = (BytesIO(b"x"), "x.txt")
    answer = visitor.client.post("/login", base_url=visitor.home, data=sent, content_type="multipart/form-data")
    assert answer.status_code in (401, 403, 422)
    assert page.form("Sign in").fields["attempt"] not in answer.text or name != "attempt"


def test_multipart_form_signs_in(world: World, visitor: Visitor) -> None:
    typed = {"identifier": world.person("ada@example.com").email, "password": PASSWORD}
    sent = {**visitor.open("/login").form("Sign in").fields, **typed}
    answer = visitor.client.post("/login", base_url=visitor.home, data=sent, content_type="multipart/form-data")
    assert answer.location.endswith("/profile")


def test_bad_host_header_is_a_client_error(visitor: Visitor) -> None:
    answer = visitor.client.post("/login", base_url=visitor.home, headers={"Host": "bad host"})
    assert answer.status_code < 500
    assert "Something went wrong" not in answer.text


def test_oversized_form_answers_413(visitor: Visitor) -> None:
    page = visitor.open("/login").press("Sign in", identifier="x", password="x" * 200_000)
    assert page.status == 413


def test_form_with_too_many_parts_answers_413(visitor: Visitor) -> None:
    sent = {f"part{number}": "x" for number in range(201)}
    answer = visitor.client.post("/login", base_url=visitor.home, data=sent, content_type="multipart/form-data")
    assert answer.status_code == 413


@pytest.mark.parametrize("path", ["/login", "/profile"])
def test_query_bytes_that_are_no_utf8_break_no_page(visitor: Visitor, path: str) -> None:
    answer = visitor.client.get(path, base_url=visitor.home, environ_overrides={"QUERY_STRING": "a=\xff"})
    assert answer.status_code in (200, 302)


def test_reauthentication_fills_in_the_identifier(world: World, visitor: Visitor) -> None:
    shop, ada = world.application("shop"), world.person("ada@example.com")
    visitor.open("/login").press("Sign in", identifier=ada.email, password=PASSWORD)
    pass_time(world.services, minutes=1)
    page = visitor.authorize(shop, prompt="login")
    assert page.heading == "Confirm it’s you"
    assert page.form("Continue").fields["identifier"] == ada.email
    assert page.press("Continue", password=PASSWORD).query["code"]


def test_signed_in_browser_skips_the_login_page(world: World, visitor: Visitor) -> None:
    shop, ada = world.application("shop"), world.person("ada@example.com")
    visitor.open("/login").press("Sign in", identifier=ada.email, password=PASSWORD)
    assert visitor.authorize(shop).query["code"]
