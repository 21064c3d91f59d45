"""Concurrent corrections, verifications and security alerts: exactly one outcome."""

from __future__ import annotations

from functools import partial

import pytest

from app.identity.directory.accounts.tables import accounts, waiting_accounts
from tests.support.accounts.customers import NEW
from tests.support.accounts.mailbox import mails_to
from tests.support.journeys.change_address import RIGHT, VICTIM, WRONG, link_to, sign_up
from tests.support.journeys.pre_registration import MINE, UNLIMITED, rows, signed_in
from tests.support.journeys.security_alerts import NEWER, NOT_ME, attacker_changes_password, path_in
from tests.support.oauth.world import NewWorld, World
from tests.support.races import at_once, tabs
from tests.support.visitors.visitor import NewVisitor, Visitor

pytestmark = pytest.mark.both_databases

SERVER_ERROR = 500


@pytest.fixture
def world(new_world: NewWorld) -> World:
    limits = {**UNLIMITED, "reset_per_minute_per_address": 0, "forgot_per_minute_per_address": 0}
    return new_world(limits=limits, lockout={"type": "none"})


def test_concurrent_corrections_mail_each_address_once(world: World, visitor: Visitor) -> None:
    form = sign_up(visitor).follow("Change")
    addresses = (RIGHT, VICTIM)
    pages = at_once([partial(tab.press, "Save and resend", to=addresses[n % 2]) for n, tab in enumerate(tabs(form))])
    assert max(page.status for page in pages) < SERVER_ERROR
    waiting = [row.email for row in rows(world, waiting_accounts)]
    assert len(waiting) + len(rows(world, accounts)) == 1
    assert sum(len(mails_to(world.services, world.tenant_id, address)) for address in addresses) <= 5
    (address,) = waiting
    assert address in visitor.open(form.address.replace("/change-address", "/verify")).text
    assert visitor.open(link_to(world, address)).press("Verify").address.endswith("/profile")


def test_correction_racing_verification_leaves_one_account(world: World, visitor: Visitor) -> None:
    form = sign_up(visitor).follow("Change")
    link = visitor.open(link_to(world, WRONG))
    changes = [partial(tab.press, "Save and resend", to=RIGHT) for tab in tabs(form, 5)]
    clicks = [partial(tab.press, "Verify") for tab in tabs(link, 5)]
    pages = at_once([action for pair in zip(changes, clicks, strict=True) for action in pair])
    assert max(page.status for page in pages) < SERVER_ERROR
    confirmed, waiting = rows(world, accounts), rows(world, waiting_accounts)
    assert len(confirmed) + len(waiting) == 1
    if confirmed:
        assert (confirmed[0].email, confirmed[0].email_verified) == (WRONG, True)
        assert not mails_to(world.services, world.tenant_id, RIGHT)
    else:
        assert visitor.open(link_to(world, RIGHT)).press("Verify").address.endswith("/profile")
        assert [row.email for row in rows(world, accounts)] == [RIGHT]


def test_alert_racing_reset_leaves_no_earlier_password(world: World, new_visitor: NewVisitor) -> None:
    ada = world.person("ada@example.com")
    alert = new_visitor().open(attacker_changes_password(world, new_visitor, ada))
    new_visitor().open("/login").follow("Forgot password?").press("Send reset link", identifier=ada.email)
    reset = new_visitor().open(path_in(mails_to(world.services, world.tenant_id, ada.email)[-1]))
    resets = [partial(tab.press, "Save password", password=f"{NEWER}-{n}") for n, tab in enumerate(tabs(reset, 10))]
    alerts = [partial(tab.press, NOT_ME) for tab in tabs(alert, 10)]
    pages = at_once([action for pair in zip(resets, alerts, strict=True) for action in pair])
    assert max(page.status for page in pages) < SERVER_ERROR
    closed = [page for page in pages if "Your account is secured" in page.text]
    accepted = [
        password
        for password in (NEW, MINE, *(f"{NEWER}-{n}" for n in range(10)))
        if signed_in(new_visitor(), password, ada.email)
    ]
    assert len(closed) <= 1
    assert not accepted if closed else len(accepted) == 1
