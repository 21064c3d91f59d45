"""People add, change and remove the phone number of their account on our pages."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
from sqlalchemy import update

from app.identity.credentials.one_time_tokens import resend_delay
from app.identity.credentials.one_time_tokens import service as proofs
from app.identity.credentials.one_time_tokens.service import MOST_TRIES
from app.identity.directory.accounts.tables import accounts
from app.identity.platform.store.unit import UnitOfWork
from tests.support.mailbox import code_in, mails_to, sent_messages
from tests.support.oauth_world import NewWorld, World
from tests.support.races import at_once, tabs
from tests.support.relying_party import Person
from tests.support.visitor import NewVisitorAt, Seen, Visitor

PASSWORD = "correct horse 7"
TYPED, SHOWN, KEPT = "020 7946 0123", "+44 20 7946 0123", "+442079460123"
OTHER, OTHER_SHOWN, OTHER_KEPT = "+44 20 7946 0124", "+44 20 7946 0124", "+442079460124"
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
    return [one for one in sent_messages(world.services, world.tenant_id, "sms") if one["to"] == to]


def signed_in(visitor: Visitor, person: Person, page: str = "/phone") -> Seen:
    return visitor.open(page).press("Sign in", identifier=person.email, password=PASSWORD)


def with_number(world: World, visitor: Visitor, person: Person, typed: str = TYPED, kept: str = KEPT) -> Seen:
    sent = signed_in(visitor, person, "/phone/change").press("Send the code", phone=typed)
    return sent.press("Confirm", code=code_in(texts(world, kept)[-1]))


def later(world: World, **by: float) -> None:
    clock: Any = world.services.clock
    clock.advance(**by)


def wrong(code: str) -> str:
    return f"{(int(code) + 1) % 1_000_000:06}"


def test_a_number_is_added_as_it_is_dialled_changed_and_removed(world: World, visitor: Visitor, ada: Person) -> None:
    page = signed_in(visitor, ada, "/profile").follow("Phone number Add, change or remove it")
    assert "There is none yet" in page.text
    sent = page.follow("Add a number").press("Send the code", phone=TYPED)
    assert (sent.status, sent.heading) == (200, "Check your phone")
    assert SHOWN in sent.text.replace("\u00a0", " ")
    code = code_in(texts(world, KEPT)[-1])
    saved = sent.press("Confirm", code=f" {code[:3]} {code[3:]}")
    assert "Number confirmed" in saved.text
    assert SHOWN in visitor.open("/profile").text
    again = saved.follow("Change the number").press("Send the code", phone=OTHER)
    changed = again.press("Confirm", code=code_in(texts(world, OTHER_KEPT)[-1]))
    assert OTHER_SHOWN in changed.text.replace("\u00a0", " ")
    assert SHOWN not in changed.text.replace("\u00a0", " ")
    assert "no longer opens your account" in texts(world, KEPT)[-1]["text"], "the former number is told"
    assert len(mails_to(world.services, world.tenant_id, ada.email)) == 2
    gone = changed.follow("Remove the number").press("Yes, remove it")
    assert "Number removed" in gone.text
    assert "There is none yet" in gone.text


def test_the_number_opens_the_account_once_it_is_proved(
    world: World, new_visitor_at: NewVisitorAt, ada: Person
) -> None:
    first, second = new_visitor_at(world), new_visitor_at(world)
    sent = signed_in(first, ada, "/phone/change").press("Send the code", phone=TYPED)
    before = second.open("/profile").press("Sign in", identifier=TYPED, password=PASSWORD)
    assert before.status == 401
    sent.press("Confirm", code=code_in(texts(world, KEPT)[-1]))
    after = second.open("/profile").press("Sign in", identifier=TYPED, password=PASSWORD)
    assert after.heading == "Ada Lovelace"


def test_an_old_sign_in_asks_the_password_again_and_for_every_step(world: World, visitor: Visitor, ada: Person) -> None:
    with_number(world, visitor, ada)
    later(world, minutes=6)
    page = visitor.open("/phone/change")
    assert "You signed in a while ago" in page.text
    refused = page.press("Send the code", phone=OTHER, password="wrong")
    assert refused.status == 401
    assert "That is not your password." in refused.text
    assert texts(world, OTHER_KEPT) == []
    sent = refused.press("Send the code", password=PASSWORD)
    assert sent.heading == "Check your phone"
    later(world, minutes=6)
    assert "We sent another message" in sent.press("Send it again").text, "what was asked for stays asked for"
    removal = visitor.open("/phone/remove")
    assert removal.press("Yes, remove it").status == 401
    assert "Number removed" in removal.press("Yes, remove it", password=PASSWORD).text


@pytest.mark.parametrize("typed", ["12", "phone", "+44 20 7946 O123", "+" * 300, "0" * 5000])
def test_what_is_no_number_is_said_at_its_field(visitor: Visitor, world: World, ada: Person, typed: str) -> None:
    page = signed_in(visitor, ada, "/phone/change").press("Send the code", phone=typed)
    assert page.status in (400, 422)
    assert page.title.startswith("Error")
    assert sent_messages(world.services, world.tenant_id, "sms") == []


def test_a_number_without_a_country_is_asked_for_with_one(new_world: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    world = new_world(limits=FREE, phone_login=True, email_login=True)
    visitor = new_visitor_at(world)
    page = signed_in(visitor, world.person("ada@example.com"), "/phone/change").press("Send the code", phone=TYPED)
    assert "This is not a whole phone number." in page.text
    assert page.press("Send the code", phone=SHOWN).heading == "Check your phone"


def test_ones_own_number_is_said_to_be(world: World, visitor: Visitor, ada: Person) -> None:
    with_number(world, visitor, ada)
    page = visitor.open("/phone/change").press("Send the code", phone=SHOWN)
    assert "This is your number already." in page.text
    assert len(texts(world, KEPT)) == 1


def test_a_wrong_code_and_an_expired_one_and_the_one_before_change_nothing(
    world: World, visitor: Visitor, ada: Person
) -> None:
    sent = signed_in(visitor, ada, "/phone/change").press("Send the code", phone=TYPED)
    first = code_in(texts(world, KEPT)[-1])
    refused = sent.press("Confirm", code=wrong(first))
    assert (refused.status, "That code did not work" in refused.text) == (403, True)
    assert SHOWN in refused.text.replace("\u00a0", " ")
    assert refused.press("Confirm", code="").status == 422
    later(world, seconds=resend_delay.SECONDS)
    again = refused.press("Send it again")
    assert "We sent another message" in again.text
    second = code_in(texts(world, KEPT)[-1])
    if first != second:
        assert "That code did not work" in again.press("Confirm", code=first).text
    later(world, minutes=proofs.CODE_MINUTES + 1)
    assert "That code did not work" in again.press("Confirm", code=second).text
    assert SHOWN not in visitor.open("/profile").text


def test_five_wrong_codes_close_it(world: World, visitor: Visitor, ada: Person) -> None:
    sent = signed_in(visitor, ada, "/phone/change").press("Send the code", phone=TYPED)
    right = code_in(texts(world, KEPT)[-1])
    for _ in range(5):
        sent.press("Confirm", code=wrong(right))
    assert sent.press("Confirm", code=right).status in (403, 429)
    assert SHOWN not in visitor.open("/profile").text


def test_a_number_of_somebody_else_is_answered_as_a_free_one_and_its_owner_told(
    world: World, new_visitor_at: NewVisitorAt, ada: Person
) -> None:
    grace, thief = new_visitor_at(world), new_visitor_at(world)
    with_number(world, grace, world.person("grace@example.com"))
    asking = signed_in(thief, ada, "/phone/change")
    free = asking.press("Send the code", phone=OTHER)
    taken = asking.press("Send the code", phone=TYPED)
    assert (taken.status, taken.heading) == (free.status, free.heading)
    assert taken.says(but_for=SHOWN) == free.says(but_for=OTHER)
    told = texts(world, KEPT)[-1]["text"]
    assert "/login" in told
    refused = taken.press("Confirm", code="123456")
    assert "That code did not work" in refused.text
    assert SHOWN in grace.open("/profile").text


@pytest.mark.parametrize("is_taken", [True, False])
def test_limits_do_not_tell_which_number_somebody_has(
    world: World, new_visitor_at: NewVisitorAt, is_taken: bool
) -> None:
    """Whoever used up what registrations may text to it, or what an account may ask for, learns nothing by what is left."""
    if is_taken:
        with_number(world, new_visitor_at(world), world.person("grace@example.com"))
    for _ in range(5):
        page = new_visitor_at(world).open("/register")
        assert page.press("Create account", phone=TYPED, email="", password="Zebra-kettle-91").status < 500
    thief, other = new_visitor_at(world), new_visitor_at(world)
    page = signed_in(thief, world.person("ada@example.com"), "/phone/change")
    for _ in range(5 - is_taken):  # one went there when its owner proved it
        assert page.press("Send the code", phone=TYPED).heading == "Check your phone"
        later(world, seconds=resend_delay.SECONDS)
    over = page.press("Send the code", phone=TYPED)
    assert (over.status, "That is enough messages for now" in over.text) == (403, True)
    if not is_taken:
        assert page.press("Send the code", phone=OTHER).status == 403, "so many of this account, whichever number"
    late = signed_in(other, world.person("eve@example.com"), "/phone/change")
    assert late.press("Send the code", phone=TYPED).status == 403, "so many to this number, whoever asks"


def test_numbers_of_others_count_for_whoever_asks(world: World, new_visitor_at: NewVisitorAt, ada: Person) -> None:
    with_number(world, new_visitor_at(world), world.person("grace@example.com"))
    page = signed_in(new_visitor_at(world), ada, "/phone/change")
    for _ in range(4):
        page.press("Send the code", phone=TYPED)
        later(world, seconds=resend_delay.SECONDS)
    assert page.press("Send the code", phone=OTHER).heading == "Check your phone"
    assert page.press("Send the code", phone="+44 20 7946 0125").status == 403


def test_a_message_too_many_keeps_the_page_of_the_code(world: World, visitor: Visitor, ada: Person) -> None:
    sent = signed_in(visitor, ada, "/phone/change").press("Send the code", phone=TYPED)
    for _ in range(4):
        later(world, seconds=resend_delay.SECONDS)
        sent = sent.press("Send it again")
    later(world, seconds=resend_delay.SECONDS)
    over = sent.press("Send it again")
    assert (over.status, over.heading) == (403, "Check your phone")
    assert "That is enough messages for now" in over.text
    assert "Number confirmed" in over.press("Confirm", code=code_in(texts(world, KEPT)[-1])).text


def test_another_message_is_sent_after_a_while_only_and_a_second_click_sends_none(
    world: World, visitor: Visitor, ada: Person
) -> None:
    page = signed_in(visitor, ada, "/phone/change")
    sent = [page.press("Send the code", phone=TYPED) for _ in range(2)][-1]
    assert (sent.heading, len(texts(world, KEPT))) == ("Check your phone", 1)
    assert "You can have another one sent in" in sent.text
    early = sent.press("Send it again")
    assert (early.status, "A message is on its way" in early.text) == (429, True)
    assert SHOWN in early.text.replace("\u00a0", " ")
    code = code_in(texts(world, KEPT)[-1])
    wrong_one = early.press("Confirm", code=wrong(code))
    assert "You can have another one sent in" in wrong_one.text
    other = visitor.open("/phone/change").press("Send the code", phone=OTHER)
    assert (other.heading, len(texts(world, OTHER_KEPT))) == ("Check your phone", 1), "another number waits for nothing"
    assert early.press("Send it again").address.endswith("/phone"), "what that page shows is asked for no more"
    later(world, seconds=resend_delay.SECONDS)
    again = other.press("Send it again")
    assert ("We sent another message" in again.text, len(texts(world, OTHER_KEPT))) == (True, 2)
    assert len(texts(world, KEPT)) == 1


def test_a_second_click_with_the_code_is_told_that_it_is_done(world: World, visitor: Visitor, ada: Person) -> None:
    sent = signed_in(visitor, ada, "/phone/change").press("Send the code", phone=TYPED)
    code = code_in(texts(world, KEPT)[-1])
    assert ["Number confirmed" in sent.press("Confirm", code=code).text for _ in range(2)] == [True, True]
    page = visitor.open("/phone/remove")
    assert ["Number removed" in page.press("Yes, remove it").text for _ in range(2)] == [True, True]


def test_clicks_at_the_same_moment_take_the_number_once(world: World, visitor: Visitor, ada: Person) -> None:
    """As many as the code may be tried: each counts as a try until it is found right."""
    sent = signed_in(visitor, ada, "/phone/change").press("Send the code", phone=TYPED)
    code = code_in(texts(world, KEPT)[-1])
    clicked = at_once([partial(tab.press, "Confirm", code=code) for tab in tabs(sent, MOST_TRIES)])
    assert [(one.status, "Number confirmed" in one.text) for one in clicked] == [(200, True)] * MOST_TRIES
    assert SHOWN in visitor.open("/profile").text
    assert len(mails_to(world.services, world.tenant_id, ada.email)) == 1


def test_two_who_ask_for_one_number_and_the_first_to_prove_it_has_it(
    world: World, new_visitor_at: NewVisitorAt
) -> None:
    first, second = new_visitor_at(world), new_visitor_at(world)
    one = signed_in(first, world.person("ada@example.com"), "/phone/change").press("Send the code", phone=TYPED)
    code = code_in(texts(world, KEPT)[-1])
    other = signed_in(second, world.person("eve@example.com"), "/phone/change").press("Send the code", phone=TYPED)
    late = code_in(texts(world, KEPT)[-1])
    assert "Number confirmed" in one.press("Confirm", code=code).text
    refused = other.press("Confirm", code=late)
    assert (refused.status, "Somebody else proved this number" in refused.text) == (403, True)
    assert SHOWN not in second.open("/profile").text


def test_another_browser_of_the_account_goes_on_and_one_of_somebody_else_does_not(
    world: World, new_visitor_at: NewVisitorAt, ada: Person
) -> None:
    here, there, elsewhere = (new_visitor_at(world) for _ in range(3))
    signed_in(here, ada, "/phone/change").press("Send the code", phone=TYPED)
    code = code_in(texts(world, KEPT)[-1])
    stranger = signed_in(elsewhere, world.person("eve@example.com"), "/phone/change")
    asked = stranger.press("Send the code", phone=OTHER)
    assert "That code did not work" in asked.press("Confirm", code=code).text or code == code_in(
        texts(world, OTHER_KEPT)[-1]
    )
    listed = signed_in(there, ada)
    assert "waits for the code" in listed.text
    assert "Number confirmed" in listed.follow("Type the code").press("Confirm", code=code).text
    assert here.open("/phone/confirm").heading == "Phone number", "nothing waits any more"


def test_a_form_of_elsewhere_changes_nothing_and_puts_no_words_into_our_mouth(
    world: World, visitor: Visitor, ada: Person
) -> None:
    with_number(world, visitor, ada)
    asked = visitor.open("/phone/change").press("Send the code", phone=OTHER, token="x")
    assert asked.status == 403
    assert texts(world, OTHER_KEPT) == []
    sent = visitor.open("/phone/change").press("Send the code", phone=OTHER)
    code = code_in(texts(world, OTHER_KEPT)[-1])
    refused = sent.press("Confirm", code=code, token="x")
    assert (refused.status, "Please send that once more" in refused.text) == (403, True)
    forged = sent.press("Confirm", code=code, token="x", phone="our hotline: call 0900 1")
    assert "hotline" not in forged.text
    assert visitor.open("/phone/remove").press("Yes, remove it", token="x").status == 403
    assert SHOWN in visitor.open("/profile").text


def test_the_only_name_of_an_account_stays(world: World, visitor: Visitor) -> None:
    grace = world.person("grace@example.com")
    with_number(world, visitor, grace)
    with UnitOfWork(world.services.database, world.tenant_id).apart() as work:
        whom = (accounts.c.tenant_id == world.tenant_id, accounts.c.uid == grace.uid)
        work.run(update(accounts).where(*whom).values(emails=[], email=None, email_verified=False))
    refused = visitor.open("/phone/remove").press("Yes, remove it")
    assert (refused.status, "You sign in with this number only" in refused.text) == (403, True)
    assert SHOWN in visitor.open("/phone").text.replace("\u00a0", " ")


def test_a_number_that_was_only_stated_can_be_confirmed(world: World, visitor: Visitor) -> None:
    grace = world.person("grace@example.com")
    with UnitOfWork(world.services.database, world.tenant_id).apart() as work:
        whom = (accounts.c.tenant_id == world.tenant_id, accounts.c.uid == grace.uid)
        work.run(update(accounts).where(*whom).values(phone=KEPT))
    page = signed_in(visitor, grace)
    assert "not confirmed" in page.text
    sent = page.follow("Confirm").press("Send the code")
    assert "Number confirmed" in sent.press("Confirm", code=code_in(texts(world, KEPT)[-1])).text


def test_where_nobody_signs_in_with_numbers_there_is_no_page(new_world: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    world = new_world(limits=FREE)
    visitor = new_visitor_at(world)
    assert "Add, change or remove it" not in signed_in(visitor, world.person("ada@example.com"), "/profile").text
    for page in ("/phone", "/phone/change", "/phone/remove", "/phone/confirm"):
        assert visitor.open(page).address.endswith("/profile"), page
    token = visitor.open("/username").form("Save").fields["token"]
    for page, sent in (("/phone/change", {"phone": SHOWN}), ("/phone/remove", {}), ("/phone/confirm", {"code": "1"})):
        answer = visitor.send("POST", visitor.home + page, {**sent, "token": token})
        assert answer.status in (200, 403), page
    assert sent_messages(world.services, world.tenant_id, "sms") == []


def test_whoever_is_signed_out_meanwhile_signs_in_first(world: World, visitor: Visitor, ada: Person) -> None:
    sent = signed_in(visitor, ada, "/phone/change").press("Send the code", phone=TYPED)
    removal = visitor.open("/phone/change")
    visitor.forget("session")
    assert sent.press("Confirm", code=code_in(texts(world, KEPT)[-1])).heading == "Welcome back"
    assert removal.press("Send the code", phone=OTHER).heading == "Welcome back"
    assert texts(world, OTHER_KEPT) == []


def test_no_page_of_it_asks_the_service_twice(world: World, visitor: Visitor, ada: Person) -> None:
    signed_in(visitor, ada)
    visitor.open("/phone")
    seen = [visitor.open("/phone/change").press("Send the code", phone="x")]
    visitor.open("/phone/change").press("Send the code", phone=TYPED)
    seen += [visitor.open(page) for page in ("/phone", "/phone/change", "/phone/confirm")]
    seen += [seen[-1].press("Confirm", code=wrong(code_in(texts(world, KEPT)[-1])))]
    assert [page.cost["api"] for page in seen] == [1] * len(seen)
