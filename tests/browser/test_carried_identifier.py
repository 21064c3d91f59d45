"""The identifier typed on one page is in the field of the next one, and in no address."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.support.hub_in_browser import Opened
from tests.support.oauth_world import NewWorld, World

ADA = "ada@example.test"


@pytest.fixture
def world(new_world: NewWorld) -> World:
    return new_world(passwordless_email=True)


@pytest.mark.parametrize("link", ["Forgot password?", "Create account", "Get an email link"])
def test_typed_identifier_is_in_the_next_field(world: World, served: str, opened: Opened, link: str) -> None:
    page = opened()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{served}/login")
    page.get_by_label("Email").fill(ADA)
    page.get_by_role("button", name=link).click()
    expect(page.get_by_role("heading", name="Welcome back")).to_have_count(0)
    expect(page.get_by_label("Email")).to_have_value(ADA)
    assert not [address for address in asked if ADA in address or "ada%40" in address]


def test_carried_name_that_is_no_address_is_dropped(world: World, served: str, opened: Opened) -> None:
    page = opened()
    page.goto(f"{served}/login")
    page.evaluate("sessionStorage.setItem('identifier', 'not an address')")
    page.goto(f"{served}/forgot-password")
    expect(page.get_by_label("Email")).to_have_value("")
    page.get_by_label("Email").fill(ADA)
    page.reload()
    expect(page.get_by_label("Email")).to_have_value("")
