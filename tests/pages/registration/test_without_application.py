"""Registration without an application: verification in the registering browser shows a single owner."""

from __future__ import annotations

import pytest

from app.identity.directory.accounts.tables import accounts
from app.identity.directory.accounts.unverified.first_verification import UNCLAIMED
from tests.support.accounts.mailbox import link_in, mails_to
from tests.support.journeys.pre_registration import EMAIL, FORM, MINE, UNLIMITED, rows, sign_up
from tests.support.oauth.world import NewWorld, World
from tests.support.visitors.visitor import NewVisitor


@pytest.fixture
def world(new_world: NewWorld) -> World:
    return new_world(limits=UNLIMITED, registration_form=FORM, email_login=True, username_login=True)


def link(world: World) -> str:
    return link_in(mails_to(world.services, world.tenant_id, EMAIL)[-1])


def test_link_in_registering_browser_signs_in_unmarked(world: World, new_visitor: NewVisitor) -> None:
    visitor = new_visitor()
    sign_up(visitor, MINE)
    assert visitor.open(link(world)).press("Verify").address.endswith("/profile")
    (account,) = rows(world, accounts)
    assert UNCLAIMED not in account.private


def test_link_in_another_browser_marks_account_unclaimed(world: World, new_visitor: NewVisitor) -> None:
    sign_up(new_visitor(), MINE)
    page = new_visitor().open(link(world)).press("Verify")
    assert (page.status, page.address.endswith("/profile")) == (200, False)
    (account,) = rows(world, accounts)
    assert account.private[UNCLAIMED] == EMAIL
