"""Pre-registration attacks: an attacker registers a victim's address before the owner does."""

from __future__ import annotations

import pytest

from app.identity.assembly.clean_up.expired_rows import clean
from app.identity.credentials.one_time_tokens.one_time_token_store import one_time_tokens
from app.identity.directory.accounts.tables import accounts, waiting_accounts
from tests.support.accounts.mailbox import link_in, links_in, mails_to
from tests.support.journeys.pre_registration import ATTACKERS, EMAIL, FORM, MINE, UNLIMITED, rows, sign_up, signed_in
from tests.support.oauth.world import NewWorld, World
from tests.support.services.identity_service import MovableClock, pass_time
from tests.support.visitors.visitor import NewVisitor, NewVisitorAt, VisitedPage, Visitor

pytestmark = pytest.mark.both_databases
WHICH_REGISTRATION = "Verify your email"


@pytest.fixture
def world(new_world: NewWorld) -> World:
    return new_world(limits=UNLIMITED, registration_form=FORM, email_login=True, username_login=True)


def verify(visitor: Visitor, link: str, password: str) -> VisitedPage:
    """Confirm a link; type the registration's password if asked."""
    page = visitor.open(link).press("Verify")
    return page.press("Verify", password=password) if page.heading == WHICH_REGISTRATION else page


def links(world: World) -> list[str]:
    return [link_in(mail) for mail in mails_to(world.services, world.tenant_id, EMAIL)]


def test_owner_keeps_own_data_and_attacker_is_out(world: World, new_visitor: NewVisitor) -> None:
    attacker, owner = new_visitor(), new_visitor()
    sign_up(attacker, ATTACKERS, first_name="Eve", username="eve")
    sign_up(owner, MINE, first_name="Olivia")
    verify(owner, links(world)[-1], MINE)
    (account,) = rows(world, accounts)
    assert (account.email_verified, account.profile["FirstName"], account.username) == (True, "Olivia", None)
    assert not signed_in(new_visitor(), ATTACKERS)
    assert signed_in(new_visitor(), MINE)


def test_attackers_link_is_invalid_after_verification(world: World, new_visitor: NewVisitor) -> None:
    sign_up(new_visitor(), ATTACKERS)
    owner = new_visitor()
    sign_up(owner, MINE)
    first, last = links(world)
    verify(owner, last, MINE)
    page = new_visitor().open(first)
    assert "Verify" not in page.html or page.press("Verify").status >= 400
    assert signed_in(new_visitor(), MINE)
    assert rows(world, waiting_accounts) == []
    assert {row.uid for row in rows(world, one_time_tokens)} == {rows(world, accounts)[0].uid}


@pytest.mark.database_alone
def test_expired_link_of_pending_owner_is_renewed(world: World, new_visitor: NewVisitor) -> None:
    sign_up(new_visitor(), ATTACKERS)
    owner = new_visitor()
    sign_up(owner, MINE)
    clock = world.services.clock
    assert isinstance(clock, MovableClock)
    clock.advance(minutes=4321)
    clean(world.services.database, world.services.clock.now())
    expired = owner.open(links(world)[-1])
    assert expired.heading == "Link expired"
    assert expired.press("Request new link").heading == "Check your email"
    verify(owner, links(world)[-1], MINE)
    assert signed_in(new_visitor(), MINE)
    assert not signed_in(new_visitor(), ATTACKERS)


def test_later_attacker_does_not_invalidate_owners_link(world: World, new_visitor: NewVisitor) -> None:
    owner = new_visitor()
    sign_up(owner, MINE)
    sign_up(new_visitor(), ATTACKERS)
    verify(owner, links(world)[0], MINE)
    assert signed_in(new_visitor(), MINE)
    assert not signed_in(new_visitor(), ATTACKERS)


def test_resend_is_for_this_browsers_registration(world: World, new_visitor: NewVisitor) -> None:
    sign_up(new_visitor(), ATTACKERS)
    owner = new_visitor()
    page = sign_up(owner, MINE)
    pass_time(world.services, seconds=40)
    page.press("Resend email")
    owner.open(links(world)[-1]).press("Verify")
    assert signed_in(new_visitor(), MINE)


@pytest.mark.parametrize("mode", ["optional", "disabled"])
def test_account_in_use_survives_another_registration(
    new_world: NewWorld, new_visitor_at: NewVisitorAt, mode: str
) -> None:
    world = new_world(limits=UNLIMITED, email_verification=mode)
    owner, attacker = new_visitor_at(world), new_visitor_at(world)
    assert sign_up(owner, MINE).address.endswith("/profile")
    (before,) = rows(world, accounts)
    page = sign_up(attacker, ATTACKERS)
    assert not links_in(mails_to(world.services, world.tenant_id, EMAIL)[-1])
    for mail in mails_to(world.services, world.tenant_id, EMAIL):
        if links_in(mail):
            new_visitor_at(world).open(link_in(mail)).press("Verify")
    assert not page.press("Continue").visitor.cookies("session")
    assert owner.open("/profile").address.endswith("/profile")
    assert [row.uid for row in rows(world, accounts)] == [before.uid]
    assert rows(world, waiting_accounts) == []
    assert not signed_in(new_visitor_at(world), ATTACKERS)
    assert signed_in(new_visitor_at(world), MINE)


def test_owner_opening_attackers_link_grants_nothing(world: World, new_visitor: NewVisitor) -> None:
    owner, attacker = new_visitor(), new_visitor()
    sign_up(owner, MINE)
    (before,) = rows(world, accounts)
    page = sign_up(attacker, ATTACKERS)
    shown_page = owner.open(links(world)[-1]).press("Verify")
    assert (shown_page.status, shown_page.heading) == (200, WHICH_REGISTRATION)
    assert shown_page.press("Verify", password="").status == 400
    wrong = shown_page.press("Verify", password=MINE)
    assert (wrong.status, wrong.heading) == (401, WHICH_REGISTRATION)
    assert "/v/" in wrong.html
    assert not page.press("Continue").visitor.cookies("session")
    assert [(row.uid, row.email_verified) for row in rows(world, accounts)] == [(before.uid, False)]
    verify(owner, links(world)[0], MINE)
    assert signed_in(new_visitor(), MINE)
    assert not signed_in(new_visitor(), ATTACKERS)


def test_verification_in_another_browser_signs_only_it_in(world: World, new_visitor: NewVisitor) -> None:
    sign_up(new_visitor(), ATTACKERS)
    owner = new_visitor()
    page = sign_up(owner, MINE)
    verify(new_visitor(), links(world)[-1], MINE)
    assert not page.press("Continue").visitor.cookies("session")
    assert signed_in(owner, MINE)


def test_managed_account_is_not_replaced(world: World, new_visitor: NewVisitor) -> None:
    world.person(EMAIL, MINE)
    sign_up(new_visitor(), ATTACKERS)
    assert rows(world, waiting_accounts) == []
    assert not links_in(mails_to(world.services, world.tenant_id, EMAIL))
    assert signed_in(new_visitor(), MINE)


def test_username_taken_concurrently_is_dropped(world: World, new_visitor: NewVisitor) -> None:
    sign_up(new_visitor(), ATTACKERS)
    owner = new_visitor()
    sign_up(owner, MINE, username="olivia")
    new_visitor().open("/register").press(
        "Create account", email="other@example.test", password=ATTACKERS, username="Olivia"
    )
    verify(owner, links(world)[-1], MINE)
    assert {row.username for row in rows(world, accounts)} == {None, "olivia"}
    assert signed_in(new_visitor(), MINE)


def test_taken_username_is_reported_for_any_address(world: World, new_visitor: NewVisitor) -> None:
    sign_up(new_visitor(), MINE, username="olivia")
    pages = [
        new_visitor().open("/register").press("Create account", email=item, password=ATTACKERS, username="Olivia")
        for item in (EMAIL, "free@example.test")
    ]
    assert [seen.status for seen in pages] == [403, 403]
    assert pages[0].comparable_text(but_for=EMAIL) == pages[1].comparable_text(but_for="free@example.test")
    assert pages[0].cost["hashes"] == pages[1].cost["hashes"]
