"""What was typed on the sign-in page goes along to its other pages; Enter still signs in. With and without scripts."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qsl

import pytest
from playwright.sync_api import Page, Request, expect

from tests.support.browsers.chromium import Opened
from tests.support.browsers.hub_in_browser import sign_in_address, the_shop
from tests.support.oauth.world import NewWorld, World

ADA, HALF = "ada@example.com", "Half-typed-7"
GROUND = "button => getComputedStyle(button).backgroundColor"


@pytest.fixture
def world(new_world: NewWorld) -> World:
    return new_world(passwordless_email=True)


def open_login(page: Page, world: World, served: str) -> list[Request]:
    """Open the login page for an application; return the list that every later POST joins."""
    page.goto(sign_in_address(served, the_shop(world, served)))
    sent: list[Request] = []
    page.on("request", lambda request: sent.append(request) if request.method == "POST" else None)
    return sent


@pytest.mark.parametrize("how", [{}, {"java_script_enabled": False}], ids=["plain", "no script"])
@pytest.mark.parametrize(("button", "field"), [("forgot", "identifier"), ("register", "email"), ("mail", "identifier")])
def test_typed_identifier_fills_next_page(
    world: World, served: str, opened: Opened, how: dict[str, Any], button: str, field: str
) -> None:
    page = opened(**how)
    open_login(page, world, served)
    page.locator("[name=identifier]").fill(ADA)
    page.locator(f"main button[value={button}]").click()
    expect(page.locator(f"main [name={field}]")).to_have_value(ADA)
    assert "example" not in page.url
    page.go_back()
    expect(page.locator("main [name=identifier]")).to_have_value(ADA)


def test_script_sends_no_half_typed_password(world: World, served: str, opened: Opened) -> None:
    """A password manager offers to save what a form with a password sends."""
    page = opened()
    sent = open_login(page, world, served)
    page.locator("[name=identifier]").fill(ADA)
    page.locator("[name=password]").fill(HALF)
    page.locator("main button[value=forgot]").click()
    page.wait_for_url("**/forgot-password**")
    fields = dict(parse_qsl(sent[-1].post_data or ""))
    assert fields.keys() == {"token", "attempt", "identifier", "to"}


@pytest.mark.parametrize("how", [{}, {"java_script_enabled": False}], ids=["plain", "no script"])
@pytest.mark.parametrize("field", ["identifier", "password"])
def test_enter_signs_in_beside_other_buttons(
    world: World, served: str, opened: Opened, how: dict[str, Any], field: str
) -> None:
    person, page = world.person(ADA), opened(**how)
    open_login(page, world, served)
    expect(page.locator("[name=identifier]")).to_be_focused()
    page.locator("[name=identifier]").fill(ADA)
    page.locator("[name=password]").fill(person.password)
    page.locator(f"[name={field}]").press("Enter")
    page.wait_for_url("http://127.0.0.1:*/cb?**")
