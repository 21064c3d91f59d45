"""A second factor demanded by risk, in Chromium (decision 0106)."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect

from tests.support.accounts.mailbox import code_in
from tests.support.browsers.chromium import Opened
from tests.support.browsers.shop_user import AT_THE_SHOP, BARE, Ada, enter_code
from tests.support.oauth.world import NewWorld, World

OTHER_USER_AGENT = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"


@pytest.fixture
def world(new_world: NewWorld) -> World:
    return new_world(risk={"browser": "demand"})


@pytest.mark.parametrize("how", [{}, BARE], ids=["script", "no script, ar"])
def test_new_browser_is_asked_once(world: World, served: str, opened: Opened, how: dict[str, Any]) -> None:
    ada, home, page = Ada(world, served), opened(**how), opened(user_agent=OTHER_USER_AGENT, **how)
    ada.sign_in(home)
    home.wait_for_url(AT_THE_SHOP)
    ada.sign_in(page)
    page.wait_for_url("**/second-factor?**")
    expect(page.locator("main h1")).to_be_visible()
    enter_code(page, code_in(ada.mails()[-1]))
    page.wait_for_url(AT_THE_SHOP)
    again = opened(user_agent=OTHER_USER_AGENT, **how)
    ada.sign_in(again)
    again.wait_for_url(AT_THE_SHOP)
