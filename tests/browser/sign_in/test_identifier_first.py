"""The identifier first, then the password: with and without scripts, by Enter, Back and a password manager."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.support.browsers.chromium import Opened
from tests.support.browsers.hub_in_browser import sign_in_address, the_shop
from tests.support.oauth.world import NewWorld, World

ADA = "ada@example.com"
SHOP = "http://127.0.0.1:*/cb?**"


@pytest.fixture
def world(new_world: NewWorld) -> World:
    return new_world(identifier_first=True)


def fill_both(page: Page, identifier: str, password: str) -> None:
    """Fill in as a password manager does, which sees no difference between the fields."""
    page.evaluate(
        """values => Object.entries(values).forEach(([name, value]) => {
            const field = document.querySelector(`#login [name=${name}]`);
            field.value = value;
            field.dispatchEvent(new Event("input", {bubbles: true}));
        })""",
        {"password": password, "identifier": identifier},
    )


@pytest.mark.parametrize("how", [{}, {"java_script_enabled": False}], ids=["plain", "no script"])
def test_steps_sign_in_by_enter_and_back(world: World, served: str, opened: Opened, how: dict[str, Any]) -> None:
    person, page = world.person(ADA), opened(**how)
    page.goto(sign_in_address(served, the_shop(world, served)))
    expect(page.locator("[name=identifier]")).to_be_focused()
    page.locator("[name=identifier]").fill(ADA)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Enter your password")
    expect(page.locator("[name=password]")).to_be_focused()
    page.go_back()
    expect(page.locator("[name=identifier]")).to_have_value(ADA)
    page.keyboard.press("Tab")
    page.get_by_role("button", name="Continue").click()
    page.get_by_label("Password", exact=True).fill(person.password)
    page.keyboard.press("Enter")
    page.wait_for_url(SHOP)


def test_password_of_a_manager_signs_in_at_once(world: World, served: str, opened: Opened) -> None:
    person, page = world.person(ADA), opened()
    page.goto(sign_in_address(served, the_shop(world, served)))
    fill_both(page, ADA, person.password)
    page.get_by_role("button", name="Continue").click()
    page.wait_for_url(SHOP)


def test_another_typed_identifier_drops_the_filled_password(world: World, served: str, opened: Opened) -> None:
    """Otherwise the password of one account would count as a failed try at another."""
    person, page = world.person(ADA), opened()
    page.goto(sign_in_address(served, the_shop(world, served)))
    fill_both(page, "bob@example.com", "Bobs-kettle-91")
    page.locator("[name=identifier]").press("Control+a")
    page.locator("[name=identifier]").press_sequentially(ADA)
    page.get_by_role("button", name="Continue").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Enter your password")
    expect(page.locator(".field--wrong")).to_have_count(0)
    page.get_by_label("Password", exact=True).fill(person.password)
    page.get_by_role("button", name="Sign in", exact=True).click()
    page.wait_for_url(SHOP)


def test_hidden_password_is_no_stop_of_the_keyboard(world: World, served: str, opened: Opened) -> None:
    page = opened()
    page.goto(sign_in_address(served, the_shop(world, served)))
    expect(page.locator("[name=identifier]")).to_be_focused()
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Continue")).to_be_focused()
    expect(page.get_by_label("Password")).to_have_count(1)
    assert page.get_by_role("textbox").count() == 1
