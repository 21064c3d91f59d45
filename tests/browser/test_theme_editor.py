"""The theme editor in Chromium: what Enter in its fields does, with and without scripts."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

import pytest
from flask import Flask
from playwright.sync_api import expect

from tests.support.browsers.chromium import Opened
from tests.support.oauth.world import World
from tests.support.tenants.managed_themes import Themes
from tests.support.tenants.tenant_server import TenantServer, answered


@pytest.mark.parametrize("how", [{}, {"java_script_enabled": False}], ids=["plain", "no script"])
def test_enter_in_the_search_finds_texts(
    world: World, served: str, identity_app: Flask, opened: Opened, how: dict[str, Any]
) -> None:
    themes = Themes(TenantServer(world.services, identity_app, world.tenant_id, world.name, world.api_key, ""))
    theme = themes.stored("Live")
    address = urlsplit(answered(themes.send("POST", f"/{theme}/editor"))["Url"])
    page = opened(**how)
    page.goto(f"{served}{address.path}?{address.query}")
    page.locator("#words").fill("forgot")
    page.locator("#words").press("Enter")
    text = page.locator("[name='text/en/forgot_password/']")
    expect(text).to_be_visible()
    assert len(themes.listed(theme)) == 1
    text.fill("Lost it?")
    text.press("Enter")
    expect(page.get_by_text("Saved as a draft")).to_be_visible()
    assert len(themes.listed(theme)) == 2
