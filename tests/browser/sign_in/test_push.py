"""Push approval in Chromium: the page continues by itself after the approval."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.browsers.chromium import Opened
from tests.support.browsers.factors import PushFactor, world_with
from tests.support.browsers.shop_user import AT_THE_SHOP, Ada
from tests.support.credentials.devices import pairing_address
from tests.support.oauth.world import NewWorld, World
from tests.support.tenants.tenant_server import answered


@pytest.fixture
def world(new_world: NewWorld) -> World:
    return world_with(new_world, PushFactor)


@pytest.fixture
def push(world: World, served: str, identity_app: Any) -> Iterator[PushFactor]:
    with PushFactor(Ada(world, served), identity_app).ready() as step:
        yield step


def test_page_continues_after_push_approval(push: PushFactor, opened: Opened) -> None:
    page = opened()
    push.ada.sign_in(page)
    page.wait_for_url("**/second-factor?**")
    answered(push.phone.scan(pairing_address(push.ada.world)))
    answered(push.phone.respond("Yes"))
    page.wait_for_url(AT_THE_SHOP)

    push.ada.advance_clock(seconds=31)
    page = opened()
    push.ada.sign_in(page)
    answered(push.phone.respond("Yes", number=page.locator(".number").inner_text()))
    page.wait_for_url(AT_THE_SHOP)
