"""Check your mail, and where its link leads: over the whole house, reading the pages as a person does."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urlsplit

import pytest
from sqlalchemy import select, update

from app.identity.directory.accounts.tables import accounts
from app.identity.platform.store.unit import UnitOfWork
from app.identity.platform.tables import audit
from tests.support.identity_service import MovableClock
from tests.support.mailbox import code_in, link_in, mails_to
from tests.support.oauth_world import NewWorld, Person, World
from tests.support.relying_party import RelyingParty
from tests.support.visitor import NewVisitor, NewVisitorAt, Seen, Visitor

PASSWORD = "correct horse 7"
ADA = "ada@example.com"


def unverified(world: World, email: str = ADA) -> Person:
    """Add an account whose address nobody has confirmed."""
    person = world.person(email)
    change(world, person, email_verified=False)
    return person


def change(world: World, person: Person, **values: Any) -> None:
    with UnitOfWork(world.services.database, world.tenant_id).apart() as work:
        work.run(
            update(accounts)
            .where(accounts.c.tenant_id == world.tenant_id, accounts.c.uid == person.uid)
            .values(**values)
        )


def is_verified(world: World, person: Person) -> bool:
    work = UnitOfWork(world.services.database, world.tenant_id)
    try:
        where = (accounts.c.tenant_id == world.tenant_id, accounts.c.uid == person.uid)
        row = work.one(select(accounts.c.email_verified).where(*where))
        assert row is not None
        return bool(row[0])
    finally:
        work.rollback()


def looks(world: World) -> list[str]:
    """By whom mailed links were looked at, in order."""
    work = UnitOfWork(world.services.database, world.tenant_id)
    try:
        of_links = (audit.c.tenant_id == world.tenant_id, audit.c.event == "verification.link_looked_at")
        return [row.facts["by"] for row in work.all(select(audit.c.facts).where(*of_links).order_by(audit.c.entry_id))]
    finally:
        work.rollback()


def asking(world: World, email: str = ADA) -> list[dict[str, Any]]:
    """The mails that lead to a verification, the oldest first."""
    return [one for one in mails_to(world.services, world.tenant_id, email) if "vtoken=" in str(one)]


def wait(world: World, **by: float) -> None:
    clock = world.services.clock
    assert isinstance(clock, MovableClock)
    clock.advance(**by)


class Door:
    """Ada, unverified, who comes from the shop and signs in with her password."""

    def __init__(self, world: World, visitor: Visitor) -> None:
        self.world, self.visitor = world, visitor
        self.shop: RelyingParty = world.application("shop", client_name="Acme Shop")
        self.ada = unverified(world)
        self.page: Seen = visitor.asked_by(self.shop).press("Sign in", identifier=ADA, password=PASSWORD)

    @property
    def link(self) -> str:
        return link_in(asking(self.world)[-1])

    def is_home(self, seen: Seen) -> bool:
        """Whether the person stands at the shop with a code."""
        return seen.address.startswith(self.shop.redirect_uri) and bool(seen.query.get("code"))


@pytest.fixture
def door(world: World, visitor: Visitor) -> Door:
    return Door(world, visitor)


def test_a_right_password_with_an_unverified_address_leads_to_the_mail(door: Door) -> None:
    assert door.page.heading == "Check your mail"
    assert f"We wrote to {ADA}" in door.page.text
    assert urlsplit(door.page.address).path == "/verify"
    assert len(asking(door.world)) == 1


def test_the_link_leads_back_to_the_attempt_and_on_to_the_application(door: Door) -> None:
    looked = door.visitor.open(door.link)
    assert looked.heading == "Is this your address?"
    assert ADA in looked.text
    assert not is_verified(door.world, door.ada)
    assert door.is_home(looked.press("Confirm"))
    assert is_verified(door.world, door.ada)


def test_the_code_leads_on_to_the_application(door: Door) -> None:
    code = code_in(asking(door.world)[-1])
    assert door.is_home(door.page.press("Confirm", code=f"{code[:3]} {code[3:]}"))


def test_an_old_address_of_the_link_lands_there_too(door: Door) -> None:
    link = door.link.replace("/verify?", "/auth.aspx?")
    looked = door.visitor.open(link)
    assert looked.heading == "Is this your address?"
    assert door.is_home(looked.press("Confirm"))


def test_scanners_use_nothing_up_and_are_noted_as_such(door: Door, new_visitor: NewVisitor) -> None:
    scanner = new_visitor()
    assert scanner.send("HEAD", door.link, None).status == 200
    assert scanner.send("GET", door.link, None, **{"User-Agent": "Barracuda Sentinel (EE)"}).status == 200
    assert scanner.send("GET", door.link, None, **{"User-Agent": ""}).status == 200
    assert scanner.send("GET", door.link, None, **{"Sec-Purpose": "prefetch"}).status == 200
    assert not is_verified(door.world, door.ada)
    assert door.visitor.open(door.link).heading == "Is this your address?"
    assert looks(door.world) == ["machine"] * 4 + ["browser"]


def test_in_another_browser_it_is_confirmed_and_the_first_goes_on(door: Door, new_visitor: NewVisitor) -> None:
    elsewhere = new_visitor().open(door.link)
    done = elsewhere.press("Confirm")
    assert done.heading == "Your address is confirmed"
    assert "vtoken" not in done.address
    assert not done.visitor.cookies("session")
    assert door.is_home(door.page.press("I have opened the link"))


def test_another_browser_is_led_to_the_application_that_asked(door: Door, new_visitor: NewVisitor) -> None:
    """Its attempt is the first browser's, so that only its home can be offered."""
    done = new_visitor().open(door.link).press("Confirm")
    assert "Acme Shop" in done.text
    home = re.findall(r'href="([^"]+)"[^>]*>Continue to Acme Shop', done.html)
    assert len(home) == 1
    assert door.shop.redirect_uri.startswith(home[0])


def test_a_link_that_was_used_says_so_and_leads_on(door: Door, new_visitor: NewVisitor) -> None:
    link = door.link
    new_visitor().open(link).press("Confirm")
    again = new_visitor().open(link)
    assert "It was confirmed before" in again.text
    assert again.follow("Go to sign in").heading == "Welcome back"
    own = door.visitor.open(link)
    assert "It was confirmed before" in own.text
    assert door.is_home(own.press("Continue to Acme Shop"))


def test_a_double_click_harms_nothing(door: Door) -> None:
    looked = door.visitor.open(door.link)
    assert door.is_home(looked.press("Confirm"))
    after = looked.press("Confirm")
    assert after.status == 200
    assert door.visitor.open(door.page.address).status in (200, 410)


def test_a_link_that_is_over_is_replaced_by_a_new_one(door: Door, new_visitor: NewVisitor) -> None:
    wait(door.world, minutes=4321)
    visitor = new_visitor()
    over = visitor.open(door.link)
    assert over.heading == "This link no longer works"
    waiting = over.press("Send a new link")
    assert waiting.heading == "Check your mail"
    assert len(asking(door.world)) == 2
    assert visitor.open(door.link).press("Confirm").heading == "Your address is confirmed"


def test_a_newer_mail_ends_the_older_link(door: Door) -> None:
    older = door.link
    wait(door.world, seconds=31)
    sent = door.page.press("Send another mail")
    assert "We sent another message" in sent.text
    assert door.visitor.open(older).heading == "This link no longer works"
    assert door.is_home(door.visitor.open(door.link).press("Confirm"))


@pytest.mark.parametrize("token", ["x", "", "%00", "a" * 2000, "%F0%9F%9A%AA", "<script>"])
def test_what_is_no_link_of_ours_is_said_to_be_incomplete(visitor: Visitor, token: str) -> None:
    seen = visitor.open(f"/verify?vtoken={token}&x=1")
    assert seen.heading in ("This link is not complete", "Welcome back", "The application's request is incomplete")


def test_a_link_of_another_tenant_is_none(door: Door, new_world: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    other = new_visitor_at(new_world())
    token = door.link.partition("vtoken=")[2].partition("&")[0]
    assert other.open(f"/verify?vtoken={token}").heading == "This link is not complete"


def test_a_link_of_an_account_that_was_closed_leads_nowhere(door: Door) -> None:
    looked = door.visitor.open(door.link)
    change(door.world, door.ada, is_active=False)
    assert looked.press("Confirm").heading == "This link no longer works"
    assert not is_verified(door.world, door.ada)


def test_the_next_mail_has_to_wait_without_scripts_too(door: Door) -> None:
    early = door.page.press("Send another mail")
    assert early.status == 429
    assert early.answer is not None
    assert 0 < int(early.answer.headers["Retry-After"]) <= 30
    assert "A message is on its way" in early.text
    assert ADA in early.text
    assert len(asking(door.world)) == 1
    wait(door.world, seconds=31)
    assert early.press("Send another mail").status == 200
    assert len(asking(door.world)) == 2


def test_signing_in_again_at_once_sends_no_second_mail(door: Door) -> None:
    again = door.page.follow("Use another address").press("Sign in", identifier=ADA, password=PASSWORD)
    assert again.heading == "Check your mail"
    assert len(asking(door.world)) == 1


def test_it_is_not_confirmed_before_it_is(door: Door) -> None:
    early = door.page.press("I have opened the link")
    assert early.status == 403
    assert "Not confirmed yet" in early.text
    assert early.form("Confirm").fields["code"] == ""


def test_wrong_void_and_locked_codes_look_the_same(door: Door) -> None:
    wrong = f"{(int(code_in(asking(door.world)[-1])) + 1) % 1_000_000:06d}"
    wait(door.world, seconds=31)  # the page counts no seconds any more
    said = [door.page.press("Confirm", code=wrong) for _ in range(8)]
    assert {seen.status for seen in said} == {403}
    assert len({seen.text for seen in said}) == 1
    assert "That code did not work" in said[0].text
    assert not is_verified(door.world, door.ada)


def test_an_empty_code_is_named(door: Door) -> None:
    empty = door.page.press("Confirm")
    assert empty.status == 422
    assert 'href="#code"' in empty.html
    assert ADA in empty.text


def test_a_form_of_another_browser_is_drawn_again(door: Door) -> None:
    assert "Please send that once more" in door.page.press("Confirm", code="123456", token="x").text
    looked = door.visitor.open(door.link)
    assert "Please send that once more" in looked.press("Confirm", token="x").text
    assert not is_verified(door.world, door.ada)


def test_an_attempt_waits_for_an_hour_and_then_starts_again(door: Door) -> None:
    wait(door.world, minutes=50)
    assert door.visitor.open(door.page.address).heading == "Check your mail"
    wait(door.world, minutes=15)
    late = door.visitor.open(door.page.address)
    assert late.status == 410
    done = door.visitor.open(door.link).press("Confirm")
    assert done.heading == "Your address is confirmed"


def test_another_password_meanwhile_asks_for_it_again(door: Door) -> None:
    change(door.world, door.ada, password_hash=None)
    done = door.visitor.open(door.link).press("Confirm")
    assert done.heading == "Your address is confirmed"
    assert not done.visitor.cookies("session")
    assert done.follow("Continue to Acme Shop").heading == "Welcome back"


def test_without_an_application_it_ends_at_the_profile(world: World, visitor: Visitor) -> None:
    unverified(world)
    page = visitor.open("/login").press("Sign in", identifier=ADA, password=PASSWORD)
    assert page.heading == "Check your mail"
    landed = visitor.open(link_in(asking(world)[-1])).press("Confirm")
    assert urlsplit(landed.address).path == "/profile"


def test_whoever_confirms_is_signed_in_where_the_tenant_wants_it(
    new_world: NewWorld, new_visitor_at: NewVisitorAt
) -> None:
    world = new_world(login_on_email_verification=True)
    door, other = Door(world, new_visitor_at(world)), new_visitor_at(world)
    landed = other.open(door.link).press("Confirm")
    assert urlsplit(landed.address).path == "/profile"
    assert landed.visitor.cookies("session")


def test_sessions_end_where_the_tenant_wants_it(new_world: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    world = new_world(logout_on_email_verification=True)
    visitor, ada = new_visitor_at(world), world.person(ADA)
    visitor.open("/login").press("Sign in", identifier=ADA, password=PASSWORD)
    assert urlsplit(visitor.open("/profile").address).path == "/profile"
    change(world, ada, email_verified=False)
    second = new_visitor_at(world)
    second.open("/login").press("Sign in", identifier=ADA, password=PASSWORD)
    second.open(link_in(asking(world)[-1])).press("Confirm")
    assert visitor.open("/profile").heading == "Welcome back"
    assert urlsplit(second.open("/profile").address).path == "/profile"


def test_two_tabs_end_each_at_its_own_application(world: World, visitor: Visitor) -> None:
    first, second = Door(world, visitor), world.application("games", client_name="Games")
    other = visitor.asked_by(second).press("Sign in", identifier=ADA, password=PASSWORD)
    assert other.heading == "Check your mail"
    link = link_in(asking(world)[-1])
    landed = visitor.open(link).press("Confirm")
    assert landed.address.startswith(second.redirect_uri)
    assert first.is_home(visitor.open(first.page.address))


def test_the_page_asks_the_service_once(door: Door) -> None:
    assert door.visitor.open(door.page.address).cost["api"] == 1
    looked = door.visitor.open(door.link)
    assert looked.cost["api"] == 1
    assert door.page.press("Confirm", code="000000").cost["api"] == 1
    assert door.visitor.open("/verify?confirmed=now").cost["api"] == 0


def test_nothing_of_the_link_is_kept_or_told(door: Door) -> None:
    looked = door.visitor.open(door.link)
    assert looked.answer is not None
    assert looked.answer.headers["Cache-Control"] == "no-store"
    assert looked.answer.headers["Referrer-Policy"] == "no-referrer"


def test_it_speaks_the_visitors_language(world: World, visitor: Visitor) -> None:
    unverified(world)
    visitor.language = "ar"
    page = visitor.open("/login").press("تسجيل الدخول", identifier=ADA, password=PASSWORD)
    assert (page.language, page.heading) == ("ar", "تحقق من بريدك")
    assert 'dir="rtl"' in page.html
    code = "".join(chr(0x660 + int(digit)) for digit in code_in(asking(world)[-1]))
    assert urlsplit(page.press("تأكيد", code=code).address).path == "/profile"
