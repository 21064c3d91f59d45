"""Resending the verification mail of an unverified address, from the list and from its code page."""

from __future__ import annotations

import re
from typing import Any

import pytest
from sqlalchemy import update

from app.contract.messages.models import MailKind, MailTemplate
from app.identity.credentials.one_time_tokens import resend_delay
from app.identity.directory.accounts.tables import accounts, identifiers
from app.identity.platform.store.unit_of_work import UnitOfWork
from tests.support.accounts.mailbox import code_in, link_in, links_in, mails_to, sent_messages
from tests.support.oauth.relying_party import Person
from tests.support.oauth.world import NewWorld, World
from tests.support.tenants.message_templates import add_templates
from tests.support.visitors.visitor import NewVisitorAt, VisitedPage, Visitor

PASSWORD = "correct horse 7"
NEW = "countess@example.org"
WAITS = re.compile(r"You can resend it (in \d+ seconds?\.|at [^.]+\.)")
FREE = {"register_per_minute_per_address": 0, "sign_in_per_minute_per_address": 0}


@pytest.fixture
def world(new_world: NewWorld) -> World:
    return new_world(limits=FREE, email_verification="optional")


@pytest.fixture
def visitor(world: World, new_visitor_at: NewVisitorAt) -> Visitor:
    return new_visitor_at(world)


def signed_in(visitor: Visitor, person: Person, page: str) -> VisitedPage:
    return visitor.open(page).press("Sign in", identifier=person.email, password=PASSWORD)


def new_person(world: World, email: str = "ada@example.com", *, verified: bool = False) -> Person:
    person = world.person(email)
    if not verified:
        values = {"emails": [{"Type": "Primary", "Value": email}], "email_verified": False}
        account_row = (accounts.c.tenant_id == world.tenant_id, accounts.c.uid == person.uid)
        identifier_rows = (identifiers.c.tenant_id == world.tenant_id, identifiers.c.uid == person.uid)
        with UnitOfWork(world.services.database, world.tenant_id).separate_transaction() as work:
            work.run(update(accounts).where(*account_row).values(**values))
            work.run(update(identifiers).where(*identifier_rows).values(is_verified=False))
    return person


def code(world: World, to: str) -> str:
    return code_in(mails_to(world.services, world.tenant_id, to)[-1])


def count(world: World, to: str) -> int:
    return len(mails_to(world.services, world.tenant_id, to))


def advance_clock(world: World, **delta: float) -> None:
    clock: Any = world.services.clock
    clock.advance(**delta)


def without_varying_text(page: VisitedPage, email: str) -> str:
    return WAITS.sub("", page.text.replace(email, ""))


def wait_cool_down(world: World) -> None:
    advance_clock(world, seconds=resend_delay.SECONDS)


def test_unverified_address_is_verified_by_code(world: World, visitor: Visitor) -> None:
    ada = new_person(world)
    page = signed_in(visitor, ada, "/emails")
    assert "Not verified" in page.text
    sent = page.press("Resend email")
    assert (sent.status, sent.heading) == (200, "Check your email")
    assert "Email resent" in sent.text
    assert count(world, ada.email) == 1
    confirmed = sent.press("Verify", code=code(world, ada.email))
    assert "Email verified" in confirmed.text
    assert "Not verified" not in confirmed.text
    assert "Resend email" not in confirmed.text


def test_unverified_address_is_verified_by_link(world: World, visitor: Visitor) -> None:
    ada = new_person(world)
    signed_in(visitor, ada, "/emails").press("Resend email")
    mail = mails_to(world.services, world.tenant_id, ada.email)[-1]
    visitor.open(link_in(mail)).press("Verify")
    assert "Not verified" not in visitor.open("/emails").text


def test_resend_waits_for_the_cool_down_on_every_page(world: World, visitor: Visitor) -> None:
    ada = new_person(world)
    listed = signed_in(visitor, ada, "/emails")
    sent = listed.press("Resend email")
    assert WAITS.search(sent.text)
    for early in (sent.press("Resend email"), listed.press("Resend email")):
        assert early.status == 429
        assert early.answer is not None
        assert 0 < int(early.answer.headers["Retry-After"]) <= resend_delay.SECONDS
        assert "Email sent" in early.text
    assert WAITS.search(visitor.open("/emails").text)
    assert count(world, ada.email) == 1
    wait_cool_down(world)
    assert not WAITS.search(visitor.open("/emails").text)
    assert "Email resent" in listed.press("Resend email").text
    assert count(world, ada.email) == 2


def test_pending_address_is_listed_and_mailed_again(world: World, visitor: Visitor) -> None:
    ada = new_person(world, verified=True)
    form = signed_in(visitor, ada, "/emails/add")
    sent = [form.press("Send email", email=NEW) for _ in range(2)][-1]
    assert (sent.heading, count(world, NEW)) == ("Check your email", 1), "a double click sends one mail"
    assert sent.press("Resend email").status == 429
    first = code(world, NEW)
    wait_cool_down(world)
    listed = visitor.open("/emails")
    assert "Verification email sent" in listed.text
    again = listed.follow("Enter code").press("Resend email")
    assert ("Email resent" in again.text, count(world, NEW)) == (True, 2)
    second = code(world, NEW)
    if first != second:
        assert "Wrong or expired code" in again.press("Verify", code=first).text
    assert "Email verified" in again.press("Verify", code=second).text


def test_pending_address_can_be_removed(world: World, visitor: Visitor) -> None:
    ada = new_person(world, verified=True)
    sent = signed_in(visitor, ada, "/emails/add").press("Send email", email=NEW)
    page = visitor.open("/emails").press("Remove", address=NEW, action="remove")
    assert NEW not in page.press("Remove").text.partition("Email addresses")[2].partition("told")[0]
    assert sent.press("Resend email").address.endswith("/emails"), "nothing is pending"
    added = visitor.open("/emails/add").press("Send email", email=NEW)
    assert (added.heading, count(world, NEW)) == ("Check your email", 2), "and it can be requested again at once"


def test_resend_does_not_reveal_registered_addresses(world: World, new_visitor_at: NewVisitorAt) -> None:
    new_person(world, "grace@example.com", verified=True)
    seen: dict[str, list[tuple[int, str]]] = {}
    for asker, email in (("ada@example.com", "grace@example.com"), ("eve@example.com", NEW)):
        page = signed_in(new_visitor_at(world), new_person(world, asker, verified=True), "/emails/add")
        shown = page.press("Send email", email=email)
        seen[email] = [(shown.status, without_varying_text(shown, email))]
        for must_wait in (False, True, True, True, True, True):
            if must_wait:
                wait_cool_down(world)
            shown = shown.press("Resend email")
            seen[email].append((shown.status, without_varying_text(shown, email)))
    assert seen["grace@example.com"] == seen[NEW]
    assert [status for status, _ in seen[NEW]] == [200, 429, 200, 200, 200, 200, 403]
    assert not links_in(mails_to(world.services, world.tenant_id, "grace@example.com")[-1]["text"])


def test_mail_limit_used_by_others_is_not_revealed(world: World, new_visitor_at: NewVisitorAt) -> None:
    """Others exhaust the mailbox's mail limit: the signed-in owner sees the same pages as before."""
    ada = new_person(world)
    for number in range(40):
        other_visitor = new_visitor_at(world).open("/register")
        assert other_visitor.press("Create account", email=ada.email, password="Zebra-kettle-91").status < 500
        if not number % 5:
            advance_clock(world, hours=1)
    page = signed_in(new_visitor_at(world), ada, "/emails")
    seen = []
    for _ in range(5):
        shown = page.press("Resend email")
        seen.append((shown.status, "Email resent" in shown.text))
        wait_cool_down(world)
    assert seen == [(200, True)] * 4 + [(403, False)]


def test_disabled_verification_offers_no_resend(new_world: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    world = new_world(limits=FREE, email_verification="disabled")
    visitor = new_visitor_at(world)
    page = signed_in(visitor, new_person(world), "/emails")
    assert "Not verified" in page.text
    assert "Resend email" not in page.text
    token = visitor.open("/username").form("Save").fields["token"]
    sent = visitor.send(
        "POST", f"{visitor.home}/emails/confirm", {"token": token, "do": "again", "email": "ada@example.com"}
    )
    assert sent.address.endswith("/emails")
    assert sent_messages(world.services, world.tenant_id) == []


def test_foreign_form_sends_nothing_and_injects_no_text(world: World, visitor: Visitor) -> None:
    ada = new_person(world)
    page = signed_in(visitor, ada, "/emails")
    assert page.press("Resend email", token="x").status == 403
    assert count(world, ada.email) == 0
    assert page.press("Resend email", email="eve@example.com").address.endswith("/emails"), (
        "not an address of the account"
    )
    forged = page.press("Resend email", token="x", email="our hotline: call 0900 1")
    assert "hotline" not in forged.text
    assert visitor.open("/emails/confirm?email=our+hotline%40example.com").address.endswith("/emails")
    assert sent_messages(world.services, world.tenant_id) == []


@pytest.mark.both_databases
def test_signed_out_browser_signs_in_first(world: World, visitor: Visitor) -> None:
    page = signed_in(visitor, new_person(world), "/emails")
    visitor.forget("session")
    assert page.press("Resend email").is_sign_in
    assert sent_messages(world.services, world.tenant_id) == []


def test_each_page_makes_one_api_call(world: World, visitor: Visitor) -> None:
    signed_in(visitor, new_person(world), "/emails").press("Resend email")
    page = visitor.open("/emails/confirm?email=ada%40example.com")
    seen = [visitor.open("/emails"), page, page.press("Verify", code="000000"), page.press("Resend email")]
    assert [item.cost["api"] for item in seen] == [1] * len(seen)


@pytest.mark.parametrize(
    ("html", "sentence", "has_code"),
    [('<a href="#Url#">Verify</a>', "We sent a link to", False), ("<p>#OTP#</p>", "We sent a code to", True)],
    ids=["link", "code"],
)
def test_code_page_names_what_the_own_template_sends(
    world: World, new_visitor_at: NewVisitorAt, html: str, sentence: str, has_code: bool
) -> None:
    kinds = (MailKind.VERIFICATION, MailKind.ADD_EMAIL)
    add_templates(world, *(MailTemplate(type=kind, subject="Verify", html=html) for kind in kinds))
    listed = signed_in(new_visitor_at(world), new_person(world), "/emails")
    pages = [listed.press("Resend email"), listed.press("Resend email")]  # sent, and too soon
    pages.append(pages[-1].press("Resend email", token="x"))
    pages += [pages[0].press("Verify", code="000000")] if has_code else []
    assert {page.status for page in pages} == {200, 403, 429}
    for page in pages:
        assert f"{sentence} ada@example.com" in page.text
        assert ('name="code"' in page.html) is has_code
    grace = signed_in(new_visitor_at(world), new_person(world, "grace@example.com", verified=True), "/emails/add")
    assert f"{sentence} {NEW}" in grace.press("Send email", email=NEW).text
