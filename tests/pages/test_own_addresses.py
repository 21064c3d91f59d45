"""An address that is not confirmed yet: the mail comes again, from the list and from the page of its code."""

from __future__ import annotations

import re
from typing import Any

import pytest
from sqlalchemy import update

from app.identity.credentials.one_time_tokens import resend_delay
from app.identity.directory.accounts.tables import accounts, identifiers
from app.identity.platform.store.unit import UnitOfWork
from tests.support.mailbox import code_in, mails_to, sent_messages
from tests.support.oauth_world import NewWorld, World
from tests.support.relying_party import Person
from tests.support.visitor import NewVisitorAt, Seen, Visitor

PASSWORD = "correct horse 7"
NEW = "countess@example.org"
WAITS = re.compile(r"You can have another one sent in \d+ seconds?\.")
FREE = {"register_per_minute_per_address": 0, "sign_in_per_minute_per_address": 0}


@pytest.fixture
def world(new_world: NewWorld) -> World:
    return new_world(limits=FREE, email_verification="optional")


@pytest.fixture
def visitor(world: World, new_visitor_at: NewVisitorAt) -> Visitor:
    return new_visitor_at(world)


def signed_in(visitor: Visitor, person: Person, page: str) -> Seen:
    return visitor.open(page).press("Sign in", identifier=person.email, password=PASSWORD)


def somebody(world: World, email: str = "ada@example.com", *, confirmed: bool = False) -> Person:
    person = world.person(email)
    if not confirmed:
        values = {"emails": [{"Type": "Primary", "Value": email}], "email_verified": False}
        whom = (accounts.c.tenant_id == world.tenant_id, accounts.c.uid == person.uid)
        named = (identifiers.c.tenant_id == world.tenant_id, identifiers.c.uid == person.uid)
        with UnitOfWork(world.services.database, world.tenant_id).apart() as work:
            work.run(update(accounts).where(*whom).values(**values))
            work.run(update(identifiers).where(*named).values(is_verified=False))
    return person


def code(world: World, to: str) -> str:
    return code_in(mails_to(world.services, world.tenant_id, to)[-1])


def count(world: World, to: str) -> int:
    return len(mails_to(world.services, world.tenant_id, to))


def later(world: World, **by: float) -> None:
    clock: Any = world.services.clock
    clock.advance(**by)


def plain(page: Seen, email: str) -> str:
    return WAITS.sub("", page.text.replace(email, ""))


def wait(world: World) -> None:
    later(world, seconds=resend_delay.SECONDS)


def test_an_address_that_is_not_confirmed_is_confirmed_from_the_list(world: World, visitor: Visitor) -> None:
    ada = somebody(world)
    page = signed_in(visitor, ada, "/emails")
    assert "not confirmed" in page.text
    sent = page.press("Send it again")
    assert (sent.status, sent.heading) == (200, "Check your mail")
    assert "We sent another message" in sent.text
    assert count(world, ada.email) == 1
    confirmed = sent.press("Confirm", code=code(world, ada.email))
    assert "Address confirmed" in confirmed.text
    assert "not confirmed" not in confirmed.text
    assert "Send it again" not in confirmed.text


def test_its_link_confirms_it_too(world: World, visitor: Visitor) -> None:
    ada = somebody(world)
    signed_in(visitor, ada, "/emails").press("Send it again")
    mail = mails_to(world.services, world.tenant_id, ada.email)[-1]
    link = next(word for word in mail["text"].split() if "vtoken=" in word)
    visitor.open(link).press("Confirm")
    assert "not confirmed" not in visitor.open("/emails").text


def test_it_comes_after_a_while_only_wherever_it_is_asked_for(world: World, visitor: Visitor) -> None:
    ada = somebody(world)
    listed = signed_in(visitor, ada, "/emails")
    sent = listed.press("Send it again")
    assert WAITS.search(sent.text)
    for early in (sent.press("Send it again"), listed.press("Send it again")):
        assert early.status == 429
        assert early.answer is not None
        assert 0 < int(early.answer.headers["Retry-After"]) <= resend_delay.SECONDS
        assert "A message is on its way" in early.text
    assert WAITS.search(visitor.open("/emails").text)
    assert count(world, ada.email) == 1
    wait(world)
    assert not WAITS.search(visitor.open("/emails").text)
    assert "We sent another message" in listed.press("Send it again").text
    assert count(world, ada.email) == 2


def test_an_address_that_is_asked_for_waits_in_the_list_and_is_mailed_again(world: World, visitor: Visitor) -> None:
    ada = somebody(world, confirmed=True)
    asking = signed_in(visitor, ada, "/emails/add")
    sent = [asking.press("Send the mail", email=NEW) for _ in range(2)][-1]
    assert (sent.heading, count(world, NEW)) == ("Check your mail", 1), "a second click mails nothing"
    assert sent.press("Send it again").status == 429
    first = code(world, NEW)
    wait(world)
    listed = visitor.open("/emails")
    assert "waits for the link or the code that we mailed there" in listed.text
    again = listed.follow("Type the code").press("Send it again")
    assert ("We sent another message" in again.text, count(world, NEW)) == (True, 2)
    second = code(world, NEW)
    if first != second:
        assert "That code did not work" in again.press("Confirm", code=first).text
    assert "Address confirmed" in again.press("Confirm", code=second).text


def test_an_address_that_is_asked_for_can_be_given_up(world: World, visitor: Visitor) -> None:
    ada = somebody(world, confirmed=True)
    sent = signed_in(visitor, ada, "/emails/add").press("Send the mail", email=NEW)
    asked = visitor.open("/emails").press("Remove", address=NEW, action="remove")
    assert NEW not in asked.press("Yes, remove it").text.partition("Email addresses")[2].partition("told")[0]
    assert sent.press("Send it again").address.endswith("/emails"), "nothing waits any more"
    added = visitor.open("/emails/add").press("Send the mail", email=NEW)
    assert (added.heading, count(world, NEW)) == ("Check your mail", 2), "and it may be asked for anew at once"


def test_nobody_learns_whose_an_address_is_by_having_it_mailed_again(
    world: World, new_visitor_at: NewVisitorAt
) -> None:
    somebody(world, "grace@example.com", confirmed=True)
    seen: dict[str, list[tuple[int, str]]] = {}
    for asker, email in (("ada@example.com", "grace@example.com"), ("eve@example.com", NEW)):
        page = signed_in(new_visitor_at(world), somebody(world, asker, confirmed=True), "/emails/add")
        shown = page.press("Send the mail", email=email)
        seen[email] = [(shown.status, plain(shown, email))]
        for waits in (False, True, True, True, True, True):
            if waits:
                wait(world)
            shown = shown.press("Send it again")
            seen[email].append((shown.status, plain(shown, email)))
    assert seen["grace@example.com"] == seen[NEW]
    assert [status for status, _ in seen[NEW]] == [200, 429, 200, 200, 200, 200, 403]
    assert "vtoken" not in mails_to(world.services, world.tenant_id, "grace@example.com")[-1]["text"]


def test_what_others_asked_of_the_mailbox_is_kept_silently(world: World, new_visitor_at: NewVisitorAt) -> None:
    """Its own sum of mails is used up by strangers: whoever is signed in sees the same page, as often as ever."""
    ada = somebody(world)
    for at in range(40):
        stranger = new_visitor_at(world).open("/register")
        assert stranger.press("Create account", email=ada.email, password="Zebra-kettle-91").status < 500
        if not at % 5:
            later(world, hours=1)
    page = signed_in(new_visitor_at(world), ada, "/emails")
    seen = []
    for _ in range(5):
        shown = page.press("Send it again")
        seen.append((shown.status, "We sent another message" in shown.text))
        wait(world)
    assert seen == [(200, True)] * 4 + [(403, False)]


def test_where_nothing_is_verified_nothing_is_sent_again(new_world: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    world = new_world(limits=FREE, email_verification="disabled")
    visitor = new_visitor_at(world)
    page = signed_in(visitor, somebody(world), "/emails")
    assert "not confirmed" in page.text
    assert "Send it again" not in page.text
    token = visitor.open("/username").form("Save").fields["token"]
    sent = visitor.send(
        "POST", f"{visitor.home}/emails/confirm", {"token": token, "do": "again", "email": "ada@example.com"}
    )
    assert sent.address.endswith("/emails")
    assert sent_messages(world.services, world.tenant_id) == []


def test_a_form_of_elsewhere_sends_nothing_and_puts_no_words_into_our_mouth(world: World, visitor: Visitor) -> None:
    ada = somebody(world)
    page = signed_in(visitor, ada, "/emails")
    assert page.press("Send it again", token="x").status == 403
    assert count(world, ada.email) == 0
    assert page.press("Send it again", email="eve@example.com").address.endswith("/emails"), "none of hers"
    forged = page.press("Send it again", token="x", email="our hotline: call 0900 1")
    assert "hotline" not in forged.text
    assert visitor.open("/emails/confirm?email=our+hotline%40example.com").address.endswith("/emails")
    assert sent_messages(world.services, world.tenant_id) == []


def test_whoever_is_signed_out_meanwhile_signs_in_first(world: World, visitor: Visitor) -> None:
    page = signed_in(visitor, somebody(world), "/emails")
    visitor.forget("session")
    assert page.press("Send it again").heading == "Welcome back"
    assert sent_messages(world.services, world.tenant_id) == []


def test_no_page_of_it_asks_the_service_twice(world: World, visitor: Visitor) -> None:
    signed_in(visitor, somebody(world), "/emails").press("Send it again")
    page = visitor.open("/emails/confirm?email=ada%40example.com")
    seen = [visitor.open("/emails"), page, page.press("Confirm", code="1"), page.press("Send it again")]
    assert [one.cost["api"] for one in seen] == [1] * len(seen)
