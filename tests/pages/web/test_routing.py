"""Routing: legacy, unknown and well-known paths, return URLs, and hosts without a tenant."""

import logging
import re
from functools import partial
from urllib.parse import quote, unquote

import pytest
from flask import Flask
from werkzeug.test import Client, EnvironBuilder, TestResponse, run_wsgi_app
from werkzeug.urls import iri_to_uri
from werkzeug.utils import redirect

from tests.support.oauth.relying_party import moved
from tests.support.oauth.world import NewWorld, World
from tests.support.races import RACERS, at_once
from tests.support.visitors.visitor import NewVisitorAt, Visitor

PASSWORD = "correct horse 7"


@pytest.mark.parametrize(
    "address",
    ["/auth.aspx", "/AUTH.aspx?action=login", "/auth?org_name=x", "/profile.aspx", "/"],
)
def test_legacy_paths_show_the_login_page(visitor: Visitor, address: str) -> None:
    assert visitor.open(address).is_sign_in


@pytest.mark.parametrize("address", ["/auth.aspx?action=login", "/auth?", "/?action=login"])
def test_legacy_paths_keep_language_and_login_hint(visitor: Visitor, address: str) -> None:
    page = visitor.open(f"{address}&ui_locales=xx+de&login_hint=ada%22%3E%40example.com")
    assert page.language == "de"
    assert page.form("Anmelden").fields["identifier"] == 'ada">@example.com'
    assert page.press("Anmelden", password="wrong").language == "de"


def test_unlisted_return_url_is_refused_with_a_notice(world: World, visitor: Visitor) -> None:
    ada = world.person("ada@example.com")
    page = visitor.open("/auth.aspx?action=login&return_url=https://evil.example/")
    final = page.press("Sign in", identifier=ada.email, password=PASSWORD)
    assert final.heading == "Profile"
    assert "couldn’t take you back" in final.text
    again = visitor.open("/auth.aspx?return_url=https://evil.example/")
    assert "couldn’t take you back" in again.text


APP = "https://app.example/done?from=hub#top"


def final_address(world: World, visitor: Visitor) -> str:
    """Sign in with a return URL and return the final address."""
    ada = world.person("ada@example.com")
    page = visitor.open(f"/auth.aspx?action=login&return_url={quote(APP, safe='')}")
    assert page.answer is not None
    assert "form-action 'self' https:;" in page.answer.headers["Content-Security-Policy"], (
        "the browser would block the redirect"
    )
    return page.press("Sign in", identifier=ada.email, password=PASSWORD).address


def test_listed_return_url_gets_no_token_by_default(new_world: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    world = new_world(url_whitelist=("https://app.example",))
    assert final_address(world, new_visitor_at(world)) == APP


def test_listed_return_url_gets_token_if_tenant_enables_it(new_world: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    world = new_world(url_whitelist=("https://app.example/done",), token_in_return_url=True)
    visitor = new_visitor_at(world)
    redirected = re.fullmatch(
        r"https://app\.example/done\?from=hub&token=([0-9a-f-]{36})#top", final_address(world, visitor)
    )
    assert redirected is not None
    assert profile_status(world, redirected[1]) == 200
    again = visitor.open(f"/auth.aspx?return_url={quote(APP, safe='')}").query["token"]
    assert again != redirected[1]
    visitor.open("/logout").press("Sign out")
    assert [profile_status(world, token) for token in (redirected[1], again)] == [401, 401]


@pytest.mark.both_databases
def test_token_in_return_url_ends_with_the_session(new_world: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    world = new_world(url_whitelist=("https://app.example/done",), token_in_return_url=True, session_absolute_hours=1)
    token = final_address(world, new_visitor_at(world)).partition("token=")[2].partition("#")[0]
    key, base = {"apikey": world.api_key}, world.services.settings.base_url
    for minutes in (10, 20, 30, 40, 50, 59):
        with moved(world.services, minutes=minutes):
            address = "/identity/v2/auth/access_token/sliding_token"
            answer = world.wsgi.get(address, query_string={**key, "access_token": token}, base_url=base)
            assert answer.status_code == 200
    with moved(world.services, minutes=61):
        assert profile_status(world, token) == 401


def exchanged(world: World, code: str, *, secret: str | None = None) -> TestResponse:
    credentials = {"apikey": world.api_key, "apisecret": world.api_secret if secret is None else secret}
    base = world.services.settings.base_url
    address = "/identity/v2/auth/hosted/token"
    return world.wsgi.post(address, query_string=credentials, json={"code": code}, base_url=base)


def returned_code(world: World, visitor: Visitor) -> str:
    redirected = re.fullmatch(
        r"https://app\.example/done\?from=hub&code=([0-9a-f-]{36})#top", final_address(world, visitor)
    )
    assert redirected is not None
    return redirected[1]


@pytest.fixture
def coded_world(new_world: NewWorld) -> World:
    return new_world(url_whitelist=("https://app.example/done",), code_in_return_url=True, token_in_return_url=True)


def test_code_in_return_url_is_exchanged_once(coded_world: World, new_visitor_at: NewVisitorAt) -> None:
    visitor = new_visitor_at(coded_world)
    code = returned_code(coded_world, visitor)
    assert exchanged(coded_world, code, secret="").status_code in (400, 403)
    answer = exchanged(coded_world, code)
    assert answer.status_code == 200
    token = answer.get_json()["access_token"]
    assert answer.get_json()["refresh_token"] is None
    assert profile_status(coded_world, token) == 200
    assert exchanged(coded_world, code).get_json()["ErrorCode"] == 903
    visitor.open("/logout").press("Sign out")
    assert profile_status(coded_world, token) == 401


@pytest.mark.both_databases
def test_raced_code_in_return_url_is_exchanged_once(coded_world: World, new_visitor_at: NewVisitorAt) -> None:
    code = returned_code(coded_world, new_visitor_at(coded_world))
    statuses = [answer.status_code for answer in at_once([partial(exchanged, coded_world, code)] * RACERS)]
    assert sorted(statuses) == [200, *[403] * (RACERS - 1)]


def test_code_of_an_ended_session_or_late_is_refused(coded_world: World, new_visitor_at: NewVisitorAt) -> None:
    visitor = new_visitor_at(coded_world)
    code = returned_code(coded_world, visitor)
    with moved(coded_world.services, minutes=3):
        assert exchanged(coded_world, code).get_json()["ErrorCode"] == 904
    visitor.open("/logout").press("Sign out")
    assert exchanged(coded_world, code).get_json()["ErrorCode"] == 903
    assert exchanged(coded_world, "00000000-0000-0000-0000-000000000000").get_json()["ErrorCode"] == 903


def test_code_of_another_tenant_is_unknown(
    coded_world: World, new_world: NewWorld, new_visitor_at: NewVisitorAt
) -> None:
    code = returned_code(coded_world, new_visitor_at(coded_world))
    assert exchanged(new_world(), code).get_json()["ErrorCode"] == 903
    assert exchanged(coded_world, code).status_code == 200


@pytest.mark.parametrize("listed", ["https://app.example", "https://app.example/", "https://*.example/done"])
def test_return_url_matched_by_origin_only_gets_no_token(
    new_world: NewWorld, new_visitor_at: NewVisitorAt, listed: str
) -> None:
    world = new_world(url_whitelist=(listed,), token_in_return_url=True)
    assert final_address(world, new_visitor_at(world)) == APP


def profile_status(world: World, token: str) -> int:
    address, host = f"/identity/v2/auth/account?apikey={world.api_key}", world.services.settings.base_url
    return world.wsgi.get(address, base_url=host, headers={"Authorization": f"Bearer {token}"}).status_code


@pytest.mark.parametrize("address", ["https://evil.example/", "https://app.example.evil.example/", "{home}/profile"])
def test_token_is_sent_to_listed_return_urls_only(
    new_world: NewWorld, new_visitor_at: NewVisitorAt, address: str
) -> None:
    world = new_world(url_whitelist=("https://app.example",), token_in_return_url=True)
    visitor, ada = new_visitor_at(world), world.person("ada@example.com")
    page = visitor.open(f"/auth.aspx?return_url={quote(address.format(home=visitor.home), safe='')}")
    final = page.press("Sign in", identifier=ada.email, password=PASSWORD)
    assert final.heading == "Profile"
    assert "token" not in final.address


def test_legacy_sign_out_asks_for_confirmation(world: World, visitor: Visitor) -> None:
    ada = world.person("ada@example.com")
    visitor.open("/login").press("Sign in", identifier=ada.email, password=PASSWORD)
    for address in ("/auth.aspx?action=logout", "/?action=logout"):
        assert visitor.open(address).heading == "Sign out?"


def test_unknown_path_shows_404_page_with_reference(visitor: Visitor) -> None:
    page = visitor.open("/nothing")
    assert page.status == 404
    assert page.title.startswith("Error: ")
    assert "mention this ID" in page.text


@pytest.mark.parametrize(("code", "is_shown"), [("invalid_scope", True), ("not+a+code", False)])
def test_legacy_error_page_shows_a_code(visitor: Visitor, code: str, is_shown: bool) -> None:
    page = visitor.open(f"/error.aspx?code={code}&state=x")
    assert page.status == 400
    assert (code.replace("+", " ") in page.text) is is_shown


def test_wrong_method_answers_405_with_allow_header(visitor: Visitor) -> None:
    answer = visitor.client.put("/login", base_url=visitor.home)
    assert answer.status_code == 405
    assert "POST" in answer.headers["Allow"]


@pytest.mark.parametrize(
    "address",
    [
        "/auth.aspx?action=login&return_url=%00",
        "/logout?state=%00",
        "/service/oidc/authorize?client_id=x&state=%00",
        "/service/oidc/logout?state=%00",
    ],
)
def test_nul_byte_in_query_is_a_400_page(visitor: Visitor, address: str) -> None:
    page = visitor.open(address)
    assert page.status == 400
    assert "incomplete" in str(page.heading)


def test_well_known_change_password_redirects(visitor: Visitor) -> None:
    answer = visitor.client.get("/.well-known/change-password", base_url=visitor.home)
    assert (answer.status_code, answer.headers["Location"]) == (302, "/change-password")
    known = "/.well-known/resource-that-should-not-exist-whose-status-code-should-not-be-200"
    assert visitor.open(known).status == 404


def test_robots_txt_lets_crawlers_read_the_robots_header(visitor: Visitor) -> None:
    answer = visitor.client.get("/robots.txt", base_url=visitor.home)
    assert (answer.status_code, answer.content_type) == (200, "text/plain; charset=utf-8")
    assert "Disallow" not in answer.text, "a disallowed page is listed without its header being read"
    assert visitor.client.get("/login", base_url=visitor.home).headers["X-Robots-Tag"] == "none"


def test_favicon_is_the_icon_of_the_pages(visitor: Visitor) -> None:
    answer = visitor.client.get("/favicon.ico", base_url=visitor.home)
    assert (answer.status_code, answer.content_type) == (200, "image/svg+xml")
    (address,) = re.findall(r'<link rel="icon" href="([^"]*)"', visitor.open("/login").html)
    assert " " not in address
    assert unquote(address.replace("&#39;", "'")) == f"data:image/svg+xml,{answer.text}"


def test_unknown_host_gets_404_page_without_tenant_names(world: World, hub_app: Flask) -> None:
    answer = Client(hub_app).get("/login", base_url=f"http://absent.{world.services.settings.hub_domain}")
    assert answer.status_code == 404
    assert "Page not found" in answer.text
    assert world.name not in answer.text


@pytest.mark.parametrize(
    "host", ["localhost:8000", "a.b.localhost:8000", "[::1]:8000", "xn--.localhost:8000", "evil.example", "\xff", ""]
)
def test_malformed_hosts_get_the_404_page(world: World, hub_app: Flask, host: str) -> None:
    environ = EnvironBuilder("/login").get_environ() | {"HTTP_HOST": host}
    answer = run_wsgi_app(hub_app.wsgi_app, environ)
    assert answer[1].startswith("404")


def test_unknown_application_is_never_redirected_to(visitor: Visitor) -> None:
    page = visitor.open("/service/oidc/authorize?client_id=absent&redirect_uri=https://evil.example/")
    assert page.status == 400
    assert page.heading == "App not found"


def test_unregistered_redirect_uri_is_never_redirected_to(world: World, visitor: Visitor) -> None:
    shop = world.application("shop", client_name="Acme Shop", client_uri="https://shop.example/start")
    page = visitor.authorize(shop, redirect_uri="https://evil.example/")
    assert page.status == 400
    assert page.heading == "We can’t send you back"
    assert page.follow("Back to Acme Shop").address == "https://shop.example/start"


@pytest.mark.parametrize("home", ["javascript:alert(1)", "data:text/html,x", "//evil.example/", "https://[::1/"])
def test_client_uri_that_is_no_web_address_is_not_linked(world: World, visitor: Visitor, home: str) -> None:
    shop = world.application("shop", client_uri=home)
    page = visitor.authorize(shop, redirect_uri="https://evil.example/cb")
    assert page.status == 400
    assert f'href="{home}"' not in page.html
    assert 'href="https://shop.example/"' in page.html, "falls back to the origin of the redirect URI"


UNDER_A_PATH = "https://app.example/app", "https://*.wild.example"


@pytest.mark.parametrize(
    "address",
    [
        "https://app.example/app/../evil",
        "https://app.example/app/..",
        "https://app.example/app/x/../../evil",
        "https://app.example/app/%2e%2e/evil",
        "https://app.example/app/.%2E/evil",
        "https://app.example/app/%252e%252e/evil",
        "https://app.example/app/..%2fevil",
        "https://app.example/app/%2e%2e%5cevil",
        "https://app.example/app/..;/evil",
        "https://app.example/app/..;a=b/evil",
        "https://app.example/app/%25252525252e./evil",
        "https://app.example/application",
        "https://app.example/APP",
        "https://app.example/evil?/app/",
        "https://app.example",
        "https://evil.example%2f.wild.example/",
        "https://evil.example;.wild.example/",
        "https://who@a.wild.example/",
        "https://wild.example/",
    ],
)
def test_return_url_outside_the_listed_path_is_refused(
    new_world: NewWorld, new_visitor_at: NewVisitorAt, address: str
) -> None:
    world = new_world(url_whitelist=UNDER_A_PATH)
    visitor, ada = new_visitor_at(world), world.person("ada@example.com")
    page = visitor.open(f"/auth.aspx?return_url={quote(address, safe='')}")
    final = page.press("Sign in", identifier=ada.email, password=PASSWORD)
    assert "couldn’t take you back" in final.text


@pytest.mark.parametrize(
    "address",
    [
        "https://app.example/app",
        "https://app.example/app/",
        "https://app.example/app/a.b/...?to=/../x#../y",
        "https://app.example/app/caf%C3%A9;v=1",
        'https://a.wild.example/x/../y?said="<hello>"',
    ],
)
def test_return_url_under_the_listed_path_is_followed(
    new_world: NewWorld, new_visitor_at: NewVisitorAt, address: str
) -> None:
    world = new_world(url_whitelist=UNDER_A_PATH)
    visitor, ada = new_visitor_at(world), world.person("ada@example.com")
    page = visitor.open(f"/auth.aspx?return_url={quote(address, safe='')}")
    final = page.press("Sign in", identifier=ada.email, password=PASSWORD)
    assert final.address == iri_to_uri(address)


def test_authorization_request_by_post_is_accepted(world: World, visitor: Visitor) -> None:
    shop = world.application("shop")
    parameters = {name: value for name, value in shop.authorization_parameters().items() if value is not None}
    cross_site = {"Origin": "https://shop.example", "Sec-Fetch-Site": "cross-site"}
    page = visitor.send("POST", f"{visitor.home}/service/oidc/authorize", parameters, **cross_site)
    assert page.is_sign_in


def test_form_post_response_posts_the_code(world: World, visitor: Visitor) -> None:
    shop, ada = world.application("shop"), world.person("ada@example.com")
    page = visitor.authorize(shop, response_mode="form_post").press("Sign in", identifier=ada.email, password=PASSWORD)
    assert page.heading == "One moment"
    form = page.form("Continue")
    assert form.action == shop.redirect_uri
    assert form.fields["code"]
    assert page.answer
    assert "form-action 'self' https://shop.example https:" in page.answer.headers["Content-Security-Policy"]


def test_error_page_shows_reference_of_its_log_line(
    visitor: Visitor, hub_app: Flask, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setitem(hub_app.view_functions, "pages.show_login", lambda: 1 / 0)
    with caplog.at_level(logging.ERROR):
        page = visitor.open("/login")
    assert page.status == 500
    reference = page.text.partition("mention this ID: ")[2].split()[0]
    assert reference in caplog.text


def test_redirect_that_cannot_be_sent_gets_an_error_page(
    visitor: Visitor, hub_app: Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(hub_app.view_functions, "pages.show_login", lambda: redirect("https://[bad/", 302))
    page = visitor.open("/login")
    assert (page.status, page.heading) == (500, "Something went wrong")
    assert page.answer is not None
    assert page.answer.headers["X-Frame-Options"] == "DENY"


def test_static_files_are_immutable_and_old_names_resolve(visitor: Visitor) -> None:
    name = visitor.open("/login").html.partition('href="/static/')[2].partition('"')[0]
    answer = visitor.client.get(f"/static/{name}", base_url=visitor.home)
    assert "immutable" in answer.headers["Cache-Control"]
    older = visitor.client.get("/static/hub.000000000000.css", base_url=visitor.home)
    assert (older.status_code, older.headers["Cache-Control"]) == (200, "no-store")
    for malformed in ("hub.css", "..%2f..%2fpyproject.toml", "nothing.000000000000.js", "once.once.000000000000.js"):
        assert visitor.client.get(f"/static/{malformed}", base_url=visitor.home).status_code == 404


@pytest.mark.parametrize(
    ("provider", "code"), [("google", "1223"), ("FaceBook", "1223"), ("myspace", "1190"), ("", "1190")]
)
def test_unconfigured_provider_shows_403_and_no_redirect(visitor: Visitor, provider: str, code: str) -> None:
    requested = f"/requesthandler.ASPX?apikey=x&provider={provider}&callback=https%3A%2F%2Fevil.example%2F"
    page = visitor.open(requested)
    assert (page.status, "Sign-in method unavailable" in page.text, code in page.text) == (403, True, True)
    assert "evil" not in page.html.replace("evil.example%2F", "")
