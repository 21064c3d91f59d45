"""Every second factor in Chromium: enrolled at sign-in, asked afterwards, not bypassed by a reset.

Passkeys are tested in test_passkey_journeys.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.support.hub_in_browser import Opened
from tests.support.oauth_world import NewWorld, World
from tests.support.second_steps import STEPS, MailStep, Sent, SmsStep, Step, told_above, told_at, world_with
from tests.support.shopper import AT_THE_SHOP, BARE, NEW, Ada, send

every_kind = pytest.mark.parametrize("kind", STEPS, ids=lambda one: one.kind)


@pytest.fixture
def world(new_world: NewWorld, kind: type[Step]) -> World:
    return world_with(new_world, kind, login_on_password_reset=True)


@pytest.fixture
def step(kind: type[Step], world: World, served: str, identity_app: Any) -> Iterator[Step]:
    with kind(Ada(world, served), identity_app).ready() as step:
        yield step


@every_kind
def test_factor_is_enrolled_at_sign_in_and_then_asked(step: Step, opened: Opened) -> None:
    """Enrol in Arabic without scripts, then verify in a default browser."""
    page = opened(**BARE)
    step.ada.signs_in(page)
    step.enrols(page)
    page.wait_for_url(AT_THE_SHOP)
    step.ada.waits(seconds=31)
    page = opened()
    step.ada.signs_in(page)
    step.errs(page)
    step.proves(page)
    page.wait_for_url(AT_THE_SHOP)


@pytest.mark.parametrize(("kind", "how"), [(SmsStep, {}), (MailStep, BARE)], ids=["sms", "email, no script, ar"])
def test_resend_after_cool_down_kills_the_first_code(step: Sent, opened: Opened, how: dict[str, Any]) -> None:
    page = opened(**how)
    step.ada.signs_in(page)
    step.begins(page)
    again, first = page.locator("main button[value=choose]").first, step.code()
    if how:
        again.click()  # the button is enabled without scripts
        told_above(page)
    else:
        expect(again).to_be_disabled()
    assert len(step.sent()) == 1
    step.ada.waits(seconds=31)
    if not how:
        page.reload()
    again.click()
    page.locator("[name=code]").fill(first)
    send(page, "code")
    told_at(page, "code")
    assert len(step.sent()) == 2
    step.proves(page)
    page.wait_for_url(AT_THE_SHOP)


@every_kind
def test_reset_does_not_bypass_the_factor(step: Step, opened: Opened) -> None:
    page = opened()
    step.ada.signs_in(page)
    step.enrols(page)
    page.wait_for_url(AT_THE_SHOP)
    step.ada.waits(seconds=31)
    page = opened(**BARE)
    step.ada.resets(page)
    if isinstance(step, MailStep):  # the mailbox is one factor only: the password is asked first
        step.ada.types(page, NEW)
    page.wait_for_url(re.compile("/second-factor"))
    step.proves(page)
    page.wait_for_url(AT_THE_SHOP)
