"""The page of the phone number: add, change, verify, remove."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
from sqlalchemy import update

from app.identity.credentials.one_time_tokens import one_time_tokens, resend_delay
from app.identity.credentials.one_time_tokens.one_time_tokens import MAX_ATTEMPTS
from app.identity.directory.accounts.tables import accounts
from app.identity.platform.store.unit_of_work import UnitOfWork
from tests.support.accounts.mailbox import code_in, mails_to, other_code, sent_messages
from tests.support.oauth.relying_party import Person
from tests.support.oauth.world import NewWorld, World
from tests.support.races import at_once, tabs
from tests.support.visitors.visitor import NewVisitorAt, VisitedPage, Visitor, is_empty_with_focus

PASSWORD = "correct horse 7"
TYPED, SHOWN, E164 = "020 7946 0123", "+44 20 7946 0123", "+442079460123"
OTHER, OTHER_SHOWN, OTHER_E164 = "+44 20 7946 0124", "+44 20 7946 0124", "+442079460124"
FREE = {"register_per_minute_per_address": 0, "sign_in_per_minute_per_address": 0}


@pytest.fixture
def world(new_world: NewWorld) -> World:
    return new_world(limits=FREE, phone_login=True, email_login=True, default_country="GB")


@pytest.fixture
def ada(world: World) -> Person:
    return world.person("ada@example.com", FirstName="Ada", LastName="Lovelace")


@pytest.fixture
def visitor(world: World, new_visitor_at: NewVisitorAt) -> Visitor:
    return new_visitor_at(world)


def texts(world: World, to: str) -> list[dict[str, Any]]:
    return [answer for answer in sent_messages(world.services, world.tenant_id, "sms") if answer["to"] == to]


def signed_in(visitor: Visitor, person: Person, page: str = "/phone") -> VisitedPage:
    return visitor.open(page).press("Sign in", identifier=person.email, password=PASSWORD)


def add_number(world: World, visitor: Visitor, person: Person, typed: str = TYPED, number: str = E164) -> VisitedPage:
    sent = signed_in(visitor, person, "/phone/change").press("Send code", phone=typed)
    return sent.press("Verify", code=code_in(texts(world, number)[-1]))


def advance_clock(world: World, **delta: float) -> None:
    clock: Any = world.services.clock
    clock.advance(**delta)


def test_number_is_added_changed_and_removed(world: World, visitor: Visitor, ada: Person) -> None:
    page = signed_in(visitor, ada, "/profile").follow("Phone number Add one to sign in with Add")
    assert "Add a phone number to sign in" in page.text
    sent = page.follow("Add phone number").press("Send code", phone=TYPED)
    assert (sent.status, sent.heading) == (200, "Check your phone")
    assert SHOWN in sent.text.replace("\u00a0", " ")
    code = code_in(texts(world, E164)[-1])
    saved = sent.press("Verify", code=f" {code[:3]} {code[3:]}")
    assert "Phone verified" in saved.text
    assert SHOWN in visitor.open("/profile").text
    again = saved.follow("Change").press("Send code", phone=OTHER)
    changed = again.press("Verify", code=code_in(texts(world, OTHER_E164)[-1]))
    assert OTHER_SHOWN in changed.text.replace("\u00a0", " ")
    assert SHOWN not in changed.text.replace("\u00a0", " ")
    assert "can no longer sign in" in texts(world, E164)[-1]["text"], "the former number is notified"
    assert len(mails_to(world.services, world.tenant_id, ada.email)) == 2
    removed = changed.follow("Remove").press("Remove")
    assert "Phone number removed" in removed.text
    assert "Add a phone number to sign in" in removed.text


def test_number_signs_in_once_verified(world: World, new_visitor_at: NewVisitorAt, ada: Person) -> None:
    first, second = new_visitor_at(world), new_visitor_at(world)
    sent = signed_in(first, ada, "/phone/change").press("Send code", phone=TYPED)
    before = second.open("/profile").press("Sign in", identifier=TYPED, password=PASSWORD)
    assert before.status == 401
    sent.press("Verify", code=code_in(texts(world, E164)[-1]))
    after = second.open("/profile").press("Sign in", identifier=TYPED, password=PASSWORD)
    assert after.profile_name == "Ada Lovelace"


def test_stale_session_asks_the_password_for_each_change(world: World, visitor: Visitor, ada: Person) -> None:
    add_number(world, visitor, ada)
    advance_clock(world, minutes=6)
    page = visitor.open("/phone/change")
    assert "It’s been a while since you signed in" in page.text
    refused = page.press("Send code", phone=OTHER, password="wrong")
    assert refused.status == 401
    assert "Wrong password." in refused.text
    assert texts(world, OTHER_E164) == []
    sent = refused.press("Send code", password=PASSWORD)
    assert sent.heading == "Check your phone"
    advance_clock(world, minutes=6)
    assert "Code resent" in sent.press("Resend code").text, "the pending number stays pending"
    removal = visitor.open("/phone/remove")
    assert removal.press("Remove").status == 401
    assert "Phone number removed" in removal.press("Remove", password=PASSWORD).text


@pytest.mark.parametrize("typed", ["12", "phone", "+44 20 7946 O123", "+" * 300, "0" * 5000])
def test_malformed_number_is_refused_at_its_field(visitor: Visitor, world: World, ada: Person, typed: str) -> None:
    page = signed_in(visitor, ada, "/phone/change").press("Send code", phone=typed)
    assert page.status in (400, 422)
    assert page.title.startswith("Error")
    assert sent_messages(world.services, world.tenant_id, "sms") == []


def test_number_without_country_code_is_refused(new_world: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    world = new_world(limits=FREE, phone_login=True, email_login=True)
    visitor = new_visitor_at(world)
    page = signed_in(visitor, world.person("ada@example.com"), "/phone/change").press("Send code", phone=TYPED)
    assert "Enter a valid phone number." in page.text
    assert page.press("Send code", phone=SHOWN).heading == "Check your phone"


def test_own_number_is_refused_as_known(world: World, visitor: Visitor, ada: Person) -> None:
    add_number(world, visitor, ada)
    page = visitor.open("/phone/change").press("Send code", phone=SHOWN)
    assert "You’ve already added this number." in page.text
    assert len(texts(world, E164)) == 1


def test_wrong_expired_or_superseded_code_is_refused(world: World, visitor: Visitor, ada: Person) -> None:
    sent = signed_in(visitor, ada, "/phone/change").press("Send code", phone=TYPED)
    first = code_in(texts(world, E164)[-1])
    refused = sent.press("Verify", code=other_code(first))
    assert (refused.status, "Wrong or expired code" in refused.text) == (403, True)
    assert is_empty_with_focus(refused, "code")
    assert SHOWN in refused.text.replace("\u00a0", " ")
    assert refused.press("Verify", code="").status == 422
    advance_clock(world, seconds=resend_delay.SECONDS)
    again = refused.press("Resend code")
    assert "Code resent" in again.text
    second = code_in(texts(world, E164)[-1])
    if first != second:
        assert "Wrong or expired code" in again.press("Verify", code=first).text
    advance_clock(world, minutes=one_time_tokens.CODE_MINUTES + 1)
    assert "Wrong or expired code" in again.press("Verify", code=second).text
    assert SHOWN not in visitor.open("/profile").text


def test_five_wrong_codes_invalidate_the_code(world: World, visitor: Visitor, ada: Person) -> None:
    sent = signed_in(visitor, ada, "/phone/change").press("Send code", phone=TYPED)
    right = code_in(texts(world, E164)[-1])
    for _ in range(5):
        sent.press("Verify", code=other_code(right))
    assert sent.press("Verify", code=right).status in (403, 429)
    assert SHOWN not in visitor.open("/profile").text


def test_taken_number_answers_like_a_free_one(world: World, new_visitor_at: NewVisitorAt, ada: Person) -> None:
    grace, attacker = new_visitor_at(world), new_visitor_at(world)
    add_number(world, grace, world.person("grace@example.com"))
    form = signed_in(attacker, ada, "/phone/change")
    free = form.press("Send code", phone=OTHER)
    taken = form.press("Send code", phone=TYPED)
    assert (taken.status, taken.heading) == (free.status, free.heading)
    assert taken.comparable_text(but_for=SHOWN) == free.comparable_text(but_for=OTHER)
    owner_text = texts(world, E164)[-1]["text"]
    assert "/login" in owner_text
    refused = taken.press("Verify", code="123456")
    assert "Wrong or expired code" in refused.text
    assert SHOWN in grace.open("/profile").text


@pytest.mark.parametrize("is_taken", [True, False])
def test_limits_do_not_reveal_registered_numbers(world: World, new_visitor_at: NewVisitorAt, is_taken: bool) -> None:
    """Exhausting the limit of registrations or of the account does not reveal a registered number."""
    if is_taken:
        add_number(world, new_visitor_at(world), world.person("grace@example.com"))
    for _ in range(5):
        page = new_visitor_at(world).open("/register")
        assert page.press("Create account", phone=TYPED, email="", password="Zebra-kettle-91").status < 500
    attacker, other = new_visitor_at(world), new_visitor_at(world)
    page = signed_in(attacker, world.person("ada@example.com"), "/phone/change")
    for _ in range(5 - is_taken):  # the owner's confirmation used one
        assert page.press("Send code", phone=TYPED).heading == "Check your phone"
        advance_clock(world, seconds=resend_delay.SECONDS)
    limited = page.press("Send code", phone=TYPED)
    assert (limited.status, "Too many messages" in limited.text) == (403, True)
    if not is_taken:
        assert page.press("Send code", phone=OTHER).status == 403, "the limit per account covers all numbers"
    late_page = signed_in(other, world.person("eve@example.com"), "/phone/change")
    assert late_page.press("Send code", phone=TYPED).status == 403, "the limit per number covers all accounts"


def test_taken_numbers_count_towards_the_account_limit(world: World, new_visitor_at: NewVisitorAt, ada: Person) -> None:
    add_number(world, new_visitor_at(world), world.person("grace@example.com"))
    page = signed_in(new_visitor_at(world), ada, "/phone/change")
    for _ in range(4):
        page.press("Send code", phone=TYPED)
        advance_clock(world, seconds=resend_delay.SECONDS)
    assert page.press("Send code", phone=OTHER).heading == "Check your phone"
    assert page.press("Send code", phone="+44 20 7946 0125").status == 403


def test_message_limit_keeps_the_code_page(world: World, visitor: Visitor, ada: Person) -> None:
    sent = signed_in(visitor, ada, "/phone/change").press("Send code", phone=TYPED)
    for _ in range(4):
        advance_clock(world, seconds=resend_delay.SECONDS)
        sent = sent.press("Resend code")
    advance_clock(world, seconds=resend_delay.SECONDS)
    limited = sent.press("Resend code")
    assert (limited.status, limited.heading) == (403, "Check your phone")
    assert "Too many messages" in limited.text
    assert "Phone verified" in limited.press("Verify", code=code_in(texts(world, E164)[-1])).text


def test_resend_waits_and_double_click_sends_one(world: World, visitor: Visitor, ada: Person) -> None:
    page = signed_in(visitor, ada, "/phone/change")
    sent = [page.press("Send code", phone=TYPED) for _ in range(2)][-1]
    assert (sent.heading, len(texts(world, E164))) == ("Check your phone", 1)
    assert "You can resend it in" in sent.text
    early = sent.press("Resend code")
    assert (early.status, "Code sent" in early.text) == (429, True)
    assert SHOWN in early.text.replace("\u00a0", " ")
    code = code_in(texts(world, E164)[-1])
    wrong_one = early.press("Verify", code=other_code(code))
    assert "You can resend it in" in wrong_one.text
    other = visitor.open("/phone/change").press("Send code", phone=OTHER)
    assert (other.heading, len(texts(world, OTHER_E164))) == ("Check your phone", 1), "another number has no cool-down"
    assert early.press("Resend code").address.endswith("/phone"), "the number on that page is no longer pending"
    advance_clock(world, seconds=resend_delay.SECONDS)
    again = other.press("Resend code")
    assert ("Code resent" in again.text, len(texts(world, OTHER_E164))) == (True, 2)
    assert len(texts(world, E164)) == 1


def test_double_submit_reports_success_twice(world: World, visitor: Visitor, ada: Person) -> None:
    sent = signed_in(visitor, ada, "/phone/change").press("Send code", phone=TYPED)
    code = code_in(texts(world, E164)[-1])
    assert ["Phone verified" in sent.press("Verify", code=code).text for _ in range(2)] == [True, True]
    page = visitor.open("/phone/remove")
    assert ["Phone number removed" in page.press("Remove").text for _ in range(2)] == [True, True]


def test_concurrent_submits_verify_the_number_once(world: World, visitor: Visitor, ada: Person) -> None:
    """As many concurrent submits as tries are allowed: each counts until the code is found right."""
    sent = signed_in(visitor, ada, "/phone/change").press("Send code", phone=TYPED)
    code = code_in(texts(world, E164)[-1])
    pages = at_once([partial(tab.press, "Verify", code=code) for tab in tabs(sent, MAX_ATTEMPTS)])
    assert [(answer.status, "Phone verified" in answer.text) for answer in pages] == [(200, True)] * MAX_ATTEMPTS
    assert SHOWN in visitor.open("/profile").text
    assert len(mails_to(world.services, world.tenant_id, ada.email)) == 1


def test_number_belongs_to_first_verification(world: World, new_visitor_at: NewVisitorAt) -> None:
    first, second = new_visitor_at(world), new_visitor_at(world)
    answer = signed_in(first, world.person("ada@example.com"), "/phone/change").press("Send code", phone=TYPED)
    code = code_in(texts(world, E164)[-1])
    other = signed_in(second, world.person("eve@example.com"), "/phone/change").press("Send code", phone=TYPED)
    late_page = code_in(texts(world, E164)[-1])
    assert "Phone verified" in answer.press("Verify", code=code).text
    refused = other.press("Verify", code=late_page)
    assert (refused.status, "Number already in use" in refused.text) == (403, True)
    assert SHOWN not in second.open("/profile").text


def test_other_browser_of_the_account_can_verify(world: World, new_visitor_at: NewVisitorAt, ada: Person) -> None:
    here, tenant, foreign_browser = (new_visitor_at(world) for _ in range(3))
    signed_in(here, ada, "/phone/change").press("Send code", phone=TYPED)
    code = code_in(texts(world, E164)[-1])
    foreign_page = signed_in(foreign_browser, world.person("eve@example.com"), "/phone/change")
    page = foreign_page.press("Send code", phone=OTHER)
    assert "Wrong or expired code" in page.press("Verify", code=code).text or code == code_in(
        texts(world, OTHER_E164)[-1]
    )
    listed = signed_in(tenant, ada)
    assert "Verification code sent" in listed.text
    assert "Phone verified" in listed.follow("Enter code").press("Verify", code=code).text
    assert here.open("/phone/confirm").heading == "Phone number", "nothing is pending"


def test_foreign_form_changes_nothing_and_injects_no_text(world: World, visitor: Visitor, ada: Person) -> None:
    add_number(world, visitor, ada)
    page = visitor.open("/phone/change").press("Send code", phone=OTHER, token="x")
    assert page.status == 403
    assert texts(world, OTHER_E164) == []
    sent = visitor.open("/phone/change").press("Send code", phone=OTHER)
    code = code_in(texts(world, OTHER_E164)[-1])
    refused = sent.press("Verify", code=code, token="x")
    assert (refused.status, "We couldn’t verify your request" in refused.text) == (403, True)
    forged = sent.press("Verify", code=code, token="x", phone="our hotline: call 0900 1")
    assert "hotline" not in forged.text
    assert visitor.open("/phone/remove").press("Remove", token="x").status == 403
    assert SHOWN in visitor.open("/profile").text


@pytest.mark.both_databases
def test_only_identifier_cannot_be_removed(world: World, visitor: Visitor) -> None:
    grace = world.person("grace@example.com")
    add_number(world, visitor, grace)
    with UnitOfWork(world.services.database, world.tenant_id).separate_transaction() as work:
        account_row = (accounts.c.tenant_id == world.tenant_id, accounts.c.uid == grace.uid)
        work.run(update(accounts).where(*account_row).values(emails=[], email=None, email_verified=False))
    refused = visitor.open("/phone/remove").press("Remove")
    assert (refused.status, "Your only way to sign in" in refused.text) == (403, True)
    assert SHOWN in visitor.open("/phone").text.replace("\u00a0", " ")


@pytest.mark.both_databases
def test_unverified_stored_number_can_be_verified(world: World, visitor: Visitor) -> None:
    grace = world.person("grace@example.com")
    with UnitOfWork(world.services.database, world.tenant_id).separate_transaction() as work:
        account_row = (accounts.c.tenant_id == world.tenant_id, accounts.c.uid == grace.uid)
        work.run(update(accounts).where(*account_row).values(phone=E164))
    page = signed_in(visitor, grace)
    assert "Not verified" in page.text
    sent = page.follow("Verify").press("Send code")
    assert "Phone verified" in sent.press("Verify", code=code_in(texts(world, E164)[-1])).text


def test_phone_pages_are_off_without_phone_login(new_world: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    world = new_world(limits=FREE)
    visitor = new_visitor_at(world)
    assert "Add one to sign in with" not in signed_in(visitor, world.person("ada@example.com"), "/profile").text
    for page in ("/phone", "/phone/change", "/phone/remove", "/phone/confirm"):
        assert visitor.open(page).address.endswith("/profile"), page
    token = visitor.open("/username").form("Save").fields["token"]
    for page, sent in (("/phone/change", {"phone": SHOWN}), ("/phone/remove", {}), ("/phone/confirm", {"code": "1"})):
        answer = visitor.send("POST", visitor.home + page, {**sent, "token": token})
        assert answer.status in (200, 403), page
    assert sent_messages(world.services, world.tenant_id, "sms") == []


def test_signed_out_browser_signs_in_first(world: World, visitor: Visitor, ada: Person) -> None:
    sent = signed_in(visitor, ada, "/phone/change").press("Send code", phone=TYPED)
    removal = visitor.open("/phone/change")
    visitor.forget("session")
    assert sent.press("Verify", code=code_in(texts(world, E164)[-1])).is_sign_in
    assert removal.press("Send code", phone=OTHER).is_sign_in
    assert texts(world, OTHER_E164) == []


def test_each_page_makes_one_api_call(world: World, visitor: Visitor, ada: Person) -> None:
    signed_in(visitor, ada)
    visitor.open("/phone")
    seen = [visitor.open("/phone/change").press("Send code", phone="x")]
    visitor.open("/phone/change").press("Send code", phone=TYPED)
    seen += [visitor.open(page) for page in ("/phone", "/phone/change", "/phone/confirm")]
    seen += [seen[-1].press("Verify", code=other_code(code_in(texts(world, E164)[-1])))]
    assert [page.cost["api"] for page in seen] == [1] * len(seen)
