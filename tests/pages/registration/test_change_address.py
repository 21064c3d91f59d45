"""The browser that registered can correct a mistyped address or number; no other browser can."""

from __future__ import annotations

import pytest

from app.identity.directory.accounts.tables import accounts, waiting_accounts
from tests.support.accounts.mailbox import code_in, link_in, mails_to, sent_messages
from tests.support.journeys.change_address import RIGHT, VICTIM, WRONG, link_to, sign_up
from tests.support.journeys.pre_registration import ATTACKERS, FORM, MINE, UNLIMITED, rows, signed_in
from tests.support.oauth.world import NewWorld, World
from tests.support.services.identity_service import pass_time
from tests.support.visitors.visitor import NewVisitor, NewVisitorAt, VisitedPage, Visitor


@pytest.fixture
def world(new_world: NewWorld) -> World:
    return new_world(limits=UNLIMITED, registration_form=FORM, email_login=True, username_login=True)


def change(page: VisitedPage, to: str) -> VisitedPage:
    return page.follow("Change").press("Save and resend", to=to)


def register_account(world: World, visitor: Visitor, email: str) -> None:
    sign_up(visitor, email)
    assert visitor.open(link_to(world, email)).press("Verify").address.endswith("/profile")


def test_corrected_address_gets_a_link_that_signs_in(world: World, visitor: Visitor, new_visitor: NewVisitor) -> None:
    waiting = sign_up(visitor, first_name="Ada", username="ada")
    form = waiting.follow("Change")
    assert f'value="{WRONG}"' in form.html
    waiting = form.press("Save and resend", to=RIGHT)
    assert (waiting.status, waiting.heading) == (200, "Check your email")
    assert RIGHT in waiting.text
    assert visitor.open(link_to(world, RIGHT)).press("Verify").address.endswith("/profile")
    (account,) = rows(world, accounts)
    assert (account.email, account.email_verified, account.username) == (RIGHT, True, "ada")
    assert (account.profile["FirstName"], len(account.emails)) == ("Ada", 1)
    assert signed_in(new_visitor(), MINE, RIGHT)


def test_correction_invalidates_earlier_link_and_code(world: World, visitor: Visitor, new_visitor: NewVisitor) -> None:
    waiting = sign_up(visitor)
    (before,) = mails_to(world.services, world.tenant_id, WRONG)
    waiting = change(waiting, RIGHT)
    assert new_visitor().open(link_in(before)).heading != "Is this address yours?"
    assert "Wrong or expired code" in waiting.press("Verify", code=code_in(before)).text
    code = code_in(mails_to(world.services, world.tenant_id, RIGHT)[-1])
    assert waiting.press("Verify", code=code).address.endswith("/profile")
    assert [account.email for account in rows(world, accounts)] == [RIGHT]


def test_link_in_another_browser_verifies_without_password(
    world: World, visitor: Visitor, new_visitor: NewVisitor
) -> None:
    waiting = change(sign_up(visitor), RIGHT)
    assert new_visitor().open(link_to(world, RIGHT)).press("Verify").status == 200
    assert [account.email_verified for account in rows(world, accounts)] == [True]
    assert "/profile" not in waiting.press("Continue").address, (
        "confirming in another browser must not sign this one in"
    )


def test_address_can_be_corrected_repeatedly(world: World, visitor: Visitor) -> None:
    waiting = change(change(change(sign_up(visitor), "b@example.test"), "c@example.test"), WRONG)
    assert WRONG in waiting.text
    assert len(rows(world, accounts)) + len(rows(world, waiting_accounts)) == 1
    assert visitor.open(link_to(world, WRONG)).press("Verify").address.endswith("/profile")


@pytest.mark.parametrize("typed", ["", "ada@", "a b@example.test", "x" * 330 + "@example.test"])
def test_malformed_address_is_refused_at_its_field(world: World, visitor: Visitor, typed: str) -> None:
    page = change(sign_up(visitor), typed)
    assert page.status in (400, 422)
    assert 'aria-invalid="true"' in page.html
    assert typed[:300] in page.html
    assert len(mails_to(world.services, world.tenant_id, WRONG)) == 1
    assert visitor.open(link_to(world, WRONG)).press("Verify").address.endswith("/profile")


def test_blocked_domain_is_refused_as_correction(new_world: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    world = new_world(limits=UNLIMITED, email_access={"block": ["evil.test"]})
    page = change(sign_up(new_visitor_at(world)), "ada@evil.test")
    assert "can’t be used here" in page.text
    assert not mails_to(world.services, world.tenant_id, "ada@evil.test")


def test_correction_does_not_reveal_registered_addresses(world: World, new_visitor: NewVisitor) -> None:
    register_account(world, new_visitor(), VICTIM)
    seen = {}
    for first, second in ((WRONG, VICTIM), (VICTIM, RIGHT), ("free@example.test", "other@example.test")):
        page = change(sign_up(new_visitor(), first, ATTACKERS), second)
        text = page.comparable_text(but_for=second)
        again = change(page, "third@example.test" if second != RIGHT else "fourth@example.test")
        seen[first] = (page.status, page.heading, text, again.status, again.heading)
    assert len(set(seen.values())) == 1
    assert len(mails_to(world.services, world.tenant_id, VICTIM)) >= 2, "the owner is notified of the attempt"
    assert signed_in(new_visitor(), MINE, VICTIM)
    assert not signed_in(new_visitor(), ATTACKERS, VICTIM)


def test_correction_from_taken_address_creates_account(world: World, new_visitor: NewVisitor) -> None:
    register_account(world, new_visitor(), VICTIM)
    visitor = new_visitor()
    change(sign_up(visitor, VICTIM, ATTACKERS, first_name="Bob"), RIGHT)
    assert visitor.open(link_to(world, RIGHT)).press("Verify").address.endswith("/profile")
    assert {(row.email, row.profile.get("FirstName")) for row in rows(world, accounts)} == {
        (VICTIM, None),
        (RIGHT, "Bob"),
    }


def test_correction_to_foreign_address_needs_its_mailbox(world: World, new_visitor: NewVisitor) -> None:
    attacker, owner = new_visitor(), new_visitor()
    waiting = change(sign_up(attacker, "thief@example.test", ATTACKERS), VICTIM)
    sign_up(owner, VICTIM, MINE)
    links = [link_in(mail) for mail in mails_to(world.services, world.tenant_id, VICTIM)]
    assert "Verify your email" in new_visitor().open(links[0]).press("Verify").text
    assert owner.open(links[-1]).press("Verify").address.endswith("/profile")
    assert "/profile" not in waiting.press("Continue").address
    assert signed_in(new_visitor(), MINE, VICTIM)
    assert not signed_in(new_visitor(), ATTACKERS, VICTIM)
    assert [account.email for account in rows(world, accounts)] == [VICTIM]


def test_other_browser_cannot_correct_the_address(world: World, visitor: Visitor, new_visitor: NewVisitor) -> None:
    address = sign_up(visitor).follow("Change").address
    other_browser = new_visitor()
    assert other_browser.open(address).status == 410
    attempt = address.rpartition("attempt=")[2]
    assert (
        other_browser.send("POST", f"{other_browser.home}/change-address", {"attempt": attempt, "to": VICTIM}).status
        == 410
    )
    assert not mails_to(world.services, world.tenant_id, VICTIM)


def test_verified_address_cannot_be_corrected(world: World, visitor: Visitor, new_visitor: NewVisitor) -> None:
    form = sign_up(visitor).follow("Change")
    new_visitor().open(link_to(world, WRONG)).press("Verify")
    landed = form.press("Save and resend", to=VICTIM)
    assert landed.status == 200
    assert not mails_to(world.services, world.tenant_id, VICTIM)
    assert [(row.email, row.email_verified) for row in rows(world, accounts)] == [(WRONG, True)]


def test_stale_form_after_sign_in_changes_nothing(world: World, visitor: Visitor) -> None:
    form = sign_up(visitor).follow("Change")
    visitor.open(link_to(world, WRONG)).press("Verify")
    form.press("Save and resend", to=VICTIM)
    assert not mails_to(world.services, world.tenant_id, VICTIM)
    assert [row.email for row in rows(world, accounts)] == [WRONG]


def test_double_submit_sends_one_mail(world: World, visitor: Visitor) -> None:
    form = sign_up(visitor).follow("Change")
    assert RIGHT in form.press("Save and resend", to=RIGHT).text
    assert RIGHT in form.press("Save and resend", to=f" {RIGHT.upper()} ").text
    assert len(mails_to(world.services, world.tenant_id, RIGHT)) == 1


def test_corrections_per_registration_are_limited(world: World, visitor: Visitor) -> None:
    page, written = sign_up(visitor), 0
    for number in range(8):
        page = page.follow("Change") if page.heading == "Check your email" else page
        page = page.press("Save and resend", to=f"other{number}@example.test")
        written += bool(mails_to(world.services, world.tenant_id, f"other{number}@example.test"))
    assert (page.status, written) == (429, 5)
    assert "other7@example.test" in page.html, "the form keeps what was typed"


def test_mail_limit_does_not_reveal_registered_addresses(new_world: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    once = {"amount": 1, "minutes": 60}
    world = new_world(limits=UNLIMITED, sending={"mails": once, "mails_in_all": once}, registration_form=FORM)
    register_account(world, new_visitor_at(world), VICTIM)
    sign_up(new_visitor_at(world), "seen@example.test")
    seen = set()
    for number, to in enumerate((VICTIM, VICTIM, "seen@example.test", "seen@example.test", "new@example.test")):
        page = change(sign_up(new_visitor_at(world), f"me{number}@example.test"), to)
        seen.add((page.status, page.heading, page.comparable_text(but_for=to)))
    assert len(seen) == 1


def test_pending_sign_in_offers_no_correction(world: World, visitor: Visitor, new_visitor: NewVisitor) -> None:
    sign_up(visitor)
    second_browser = new_visitor().open("/login").press("Sign in", identifier=WRONG, password=MINE)
    assert "Change" not in second_browser.text


def test_mistyped_number_can_be_corrected(new_world: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    world = new_world(limits=UNLIMITED, phone_login=True, email_login=False, default_country="GB")
    visitor = new_visitor_at(world)
    waiting = visitor.open("/register").press("Create account", phone="020 7946 0123", password=MINE)
    refused = change(waiting, "12")
    assert (refused.status, 'aria-invalid="true"' in refused.html) == (400, True)
    waiting = refused.press("Save and resend", to="020 7946 0999")
    assert (waiting.heading, "+44 20 7946 0999" in waiting.text) == ("Check your phone", True)
    first, second = sent_messages(world.services, world.tenant_id, "sms")
    assert second["to"] == "+442079460999"
    assert "Wrong or expired code" in waiting.press("Verify", code=code_in(first)).text
    assert waiting.press("Verify", code=code_in(second)).address.endswith("/profile")
    assert [(row.phone, row.phone_verified) for row in rows(world, accounts)] == [("+442079460999", True)]


@pytest.mark.parametrize("opens", [True, False], ids=["page opened again", "message sent again"])
def test_next_person_at_the_browser_takes_over_no_registration(world: World, visitor: Visitor, opens: bool) -> None:
    """On a shared computer: the page waits for hours, with the password, username and name of the registrant."""
    waiting = sign_up(visitor, first_name="Ada", username="ada")
    form = waiting.follow("Change")
    pass_time(world.services, hours=7)
    later = visitor.open(waiting.address)
    if not opens:
        later = later.press("Resend email")
    assert later.heading == "Check your email"
    assert "/change-address" in waiting.html
    assert "/change-address" not in later.html
    form.press("Save and resend", to=VICTIM)
    assert not mails_to(world.services, world.tenant_id, VICTIM)
    confirmed = visitor.open(link_to(world, WRONG)).press("Verify")
    assert confirmed.status == 200, "the owner of the mailbox goes on"
