"""Every second factor in Chromium: enrolled at sign-in, asked afterwards, not bypassed by a reset.

Passkeys are tested in test_passkey_journeys.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.support.browsers.chromium import Opened
from tests.support.browsers.factors import (
    FACTORS,
    BrowserFactor,
    MailFactor,
    SentCodeFactor,
    SmsFactor,
    expect_error_notice,
    expect_field_error,
    world_with,
)
from tests.support.browsers.shop_user import AT_THE_SHOP, BARE, NEW, Ada, enter_code
from tests.support.oauth.world import NewWorld, World


@pytest.fixture
def world(new_world: NewWorld, kind: type[BrowserFactor]) -> World:
    return world_with(new_world, kind, login_on_password_reset=True)


@pytest.fixture
def step(kind: type[BrowserFactor], world: World, served: str, identity_app: Any) -> Iterator[BrowserFactor]:
    with kind(Ada(world, served), identity_app).ready() as step:
        yield step


@pytest.mark.parametrize("kind", FACTORS, ids=lambda item: item.kind)
def test_enrolled_factor_is_asked_also_after_a_reset(step: BrowserFactor, opened: Opened) -> None:
    """Enrol in Arabic without scripts, verify in a default browser, then reset the password without scripts."""
    page = opened(**BARE)
    step.ada.sign_in(page)
    step.enrol(page)
    page.wait_for_url(AT_THE_SHOP)
    step.ada.advance_clock(seconds=31)
    page = opened()
    step.ada.sign_in(page)
    step.submit_wrong(page)
    step.verify(page)
    page.wait_for_url(AT_THE_SHOP)
    step.ada.advance_clock(seconds=31)
    page = opened(**BARE)
    step.ada.reset_password(page)
    if isinstance(step, MailFactor):  # the mailbox is one factor only: the password is asked first
        step.ada.type_password(page, NEW)
    page.wait_for_url(re.compile("/second-factor"))
    step.verify(page)
    page.wait_for_url(AT_THE_SHOP)


@pytest.mark.parametrize(("kind", "how"), [(SmsFactor, {}), (MailFactor, BARE)], ids=["sms", "email, no script, ar"])
def test_resend_after_cool_down_invalidates_first_code(
    step: SentCodeFactor, opened: Opened, how: dict[str, Any]
) -> None:
    page = opened(**how)
    step.ada.sign_in(page)
    step.begin(page)
    again, first = page.locator("main button[value=choose]").first, step.code()
    if how:
        again.click()  # the button is enabled without scripts
        expect_error_notice(page)
    else:
        expect(again).to_be_hidden()
    assert len(step.sent()) == 1
    step.ada.advance_clock(seconds=31)
    if not how:
        page.reload()
    again.click()
    enter_code(page, first)
    expect_field_error(page, "code")
    assert len(step.sent()) == 2
    step.verify(page)
    page.wait_for_url(AT_THE_SHOP)
