"""The first page says that the browser blocks cookies, or by the first form of a page that needed no cookie yet."""

from __future__ import annotations

import pytest
from flask import Flask

from tests.support.oauth.world import World
from tests.support.visitors.plain_client import PlainClient
from tests.support.visitors.visitor import NewVisitor, Visitor

BLOCKED = {"en": "Cookies are blocked", "de": "Cookies sind blockiert", "ar": "ملفات تعريف الارتباط محظورة"}


@pytest.fixture
def blocking(hub_app: Flask, world: World) -> Visitor:
    """Return a browser that blocks all cookies."""
    return Visitor(PlainClient(hub_app, use_cookies=False), world.services.settings.hub_url(world.name))


@pytest.mark.parametrize("language", BLOCKED)
def test_first_page_of_a_sign_in_names_it(world: World, blocking: Visitor, language: str) -> None:
    blocking.language = language
    page = blocking.authorize(world.application("shop"))
    assert page.status == 403
    assert page.heading == BLOCKED[language]
    assert page.language == language
    assert "<form" not in page.html, "nothing to type in vain"


def test_try_again_goes_on_once_cookies_are_allowed(world: World, blocking: Visitor, visitor: Visitor) -> None:
    page = blocking.authorize(world.application("shop"))
    blocking.client = visitor.client
    again = page.follow("Try again")
    assert again.heading == "Let’s start over"
    assert visitor.authorize(world.application("forum")).is_sign_in


@pytest.mark.parametrize("path", ["/auth.aspx", "/auth.aspx?action=register", "/auth.aspx?action=forgotpassword"])
def test_older_addresses_name_it_at_once(blocking: Visitor, path: str) -> None:
    assert blocking.open(path).heading == BLOCKED["en"]


@pytest.mark.parametrize(
    ("path", "button"),
    [("/login", "Sign in"), ("/register", "Create account"), ("/forgot-password", "Send reset link")],
)
def test_first_form_names_it(blocking: Visitor, path: str, button: str) -> None:
    page = blocking.open(path).press(button, identifier="ada@example.com", email="ada@example.com", password="x")
    assert page.status == 403
    assert "Cookies are blocked" in page.text
    assert "ada@example.com" in page.html, "what was typed is kept"


def test_form_of_an_interaction_names_it(world: World, visitor: Visitor, blocking: Visitor) -> None:
    sent = visitor.authorize(world.application("shop")).form("Sign in").fields
    page = blocking.send("POST", f"{blocking.home}/login", sent)
    assert page.heading == BLOCKED["en"]


def test_page_for_scripts_leads_on_once_cookies_work(visitor: Visitor, blocking: Visitor) -> None:
    assert blocking.open("/cookies-blocked").heading == BLOCKED["en"]
    visitor.open("/login")
    assert visitor.open("/cookies-blocked").is_sign_in


def test_copied_address_is_not_taken_for_blocked_cookies(world: World, new_visitor: NewVisitor) -> None:
    page = new_visitor().authorize(world.application("shop"))
    assert new_visitor().open(page.address).heading == "Let’s start over"
    assert new_visitor().open(f"{page.address}&cookies=asked").heading == BLOCKED["en"], "the probe's own address"


@pytest.mark.parametrize("path", ["//evil.example/login", "/%5Cevil.example", "/consent", "/login"])
def test_probe_stays_on_this_host(blocking: Visitor, path: str) -> None:
    answer = blocking.client.get(f"{path}?attempt=unknown", base_url=blocking.home)
    assert not answer.headers.get("Location", "/").startswith(("//", "/\\", "https://", "http://evil"))


@pytest.mark.parametrize("sent", [{"attempt": "of-another"}, {}], ids=["of a sign-in", "of no sign-in"])
def test_form_of_another_site_leaves_the_browser_its_cookies(
    world: World, visitor: Visitor, blocking: Visitor, sent: dict[str, str]
) -> None:
    """A browser sends no cookies with it: a new secret would end the other pages of the browser."""
    page = visitor.authorize(world.application("shop"))
    other = {"Sec-Fetch-Site": "cross-site", "Origin": "https://mallory.example"}
    answer = blocking.client.open("/login", method="POST", base_url=blocking.home, data=sent, headers=other)
    assert not [item for item in answer.headers.getlist("Set-Cookie") if "gatehouse-browser" in item]
    if sent:
        assert answer.headers["Location"].endswith("/login?attempt=of-another")
    visitor.forget("gatehouse-attempt-")
    assert visitor.open(page.address).is_sign_in
