"""Sign-in without a password on our pages: by a mailed link or code, by a text message, by a yes on another device, by one touch."""

from __future__ import annotations

import re
from functools import partial
from urllib.parse import urlsplit

import pytest
from sqlalchemy import select

from app.identity.authentication.sign_in.tables import sessions
from app.identity.platform.store.unit import UnitOfWork
from tests.support.mailbox import code_in, link_in, mails_to, sent_messages
from tests.support.oauth_world import NewWorld, World
from tests.support.races import at_once, tabs
from tests.support.relying_party import Person
from tests.support.visitor import NewVisitorAt, Seen, Visitor

ADA, NEW = "ada@example.com", "new@example.com"
NUMBER, KEPT = "020 7946 0123", "+442079460123"
FREE = {"sign_in_per_minute_per_address": 0, "passwordless_per_minute_per_address": 0}
EVERY = {"passwordless_email": True, "passwordless_sms": True, "smart_login": True, "limits": FREE}


@pytest.fixture
def world(new_world: NewWorld) -> World:
    return new_world(**EVERY)


@pytest.fixture
def visitor(world: World, new_visitor_at: NewVisitorAt) -> Visitor:
    return new_visitor_at(world)


@pytest.fixture
def ada(world: World) -> Person:
    return world.person(ADA, FirstName="Ada")


def path_of(world: World, email: str = ADA) -> str:
    parts = urlsplit(link_in(mails_to(world.services, world.tenant_id, email)[-1]))
    return f"{parts.path}?{parts.query}"


def code(world: World, email: str = ADA) -> str:
    return code_in(mails_to(world.services, world.tenant_id, email)[-1])


def by_mail(page: Seen, name: str = ADA) -> Seen:
    return page.follow("Email me a link No password needed").press("Email me a link", identifier=name)


def on_a_device(page: Seen, name: str = ADA) -> Seen:
    return page.follow("Say yes on another device Where you read your mail").press("Ask my mailbox", identifier=name)


def number_on(page: Seen) -> str:
    return page.html.partition('class="number" dir="ltr">')[2][:2]


def test_the_link_opened_in_the_same_browser_ends_at_the_application(
    world: World, visitor: Visitor, ada: Person
) -> None:
    sent = by_mail(visitor.asked_by(world.application("shop", client_name="Acme Shop")))
    assert (sent.status, sent.heading) == (200, "Check your mail")
    page = visitor.open(path_of(world))
    assert ada.email in page.text
    assert "Acme Shop" in page.text
    assert page.press("Sign in").query["code"]


def test_looking_at_the_link_uses_nothing_up(
    world: World, visitor: Visitor, new_visitor_at: NewVisitorAt, ada: Person
) -> None:
    by_mail(visitor.open("/login"), ada.email)
    link = path_of(world)
    for _ in range(3):
        assert new_visitor_at(world).open(link).heading == "Sign in here?"
    assert new_visitor_at(world).send("HEAD", f"{visitor.home}{link}", None).status == 200
    page = new_visitor_at(world).open(link)
    assert page.answer
    assert page.answer.headers["Referrer-Policy"] == "no-referrer"
    assert page.press("Sign in").address.endswith("/profile")


def test_the_link_signs_in_the_browser_in_which_it_is_opened(
    world: World, visitor: Visitor, new_visitor_at: NewVisitorAt, ada: Person
) -> None:
    """It is led to the application's home, which asks for a sign-in and finds one; the first browser is told nothing."""
    shop = world.application("shop", client_uri="https://shop.example/")
    sent = by_mail(visitor.asked_by(shop), ada.email)
    elsewhere = new_visitor_at(world)
    assert elsewhere.open(path_of(world)).press("Sign in").address == "https://shop.example/"
    assert elsewhere.asked_by(shop).query["code"]
    assert visitor.open(sent.address).heading == "Check your mail"
    assert visitor.open("/profile").heading == "Welcome back"


def test_the_code_is_typed_where_it_was_asked_for(world: World, visitor: Visitor, ada: Person) -> None:
    sent = by_mail(visitor.asked_by(world.application("shop")), ada.email)
    wrong = sent.press("Sign in", code="000000")
    assert (wrong.status, "That code did not work" in wrong.text) == (403, True)
    right = code(world)
    arabic = f"{right[:3]}-{right[3:]}".translate(str.maketrans("0123456789", "٠١٢٣٤٥٦٧٨٩"))
    assert wrong.press("Sign in", code=arabic).query["code"]


def test_a_used_link_leads_on(world: World, visitor: Visitor, new_visitor_at: NewVisitorAt, ada: Person) -> None:
    by_mail(visitor.open("/login"), ada.email)
    page = visitor.open(path_of(world))
    assert page.press("Sign in").address.endswith("/profile")
    assert page.press("Sign in").address.endswith("/profile")
    late = new_visitor_at(world).open(path_of(world))
    assert late.heading == "This link was used already"
    world.services.clock.advance(seconds=31)  # type: ignore[attr-defined]  # the tests' clock is moved by hand
    assert late.press("Send a new link").heading == "Check your mail"


def test_an_old_link_leads_on(world: World, visitor: Visitor, new_visitor_at: NewVisitorAt, ada: Person) -> None:
    by_mail(visitor.open("/login"), ada.email)
    world.services.clock.advance(minutes=61)  # type: ignore[attr-defined]  # as above
    other = new_visitor_at(world)
    assert other.open(path_of(world)).heading == "This link no longer works"
    assert other.open("/sign-in/link?vtoken=x").heading == "This link is not complete"


def test_older_addresses_lead_there(visitor: Visitor) -> None:
    assert urlsplit(visitor.open("/auth.aspx?vtype=oneclicksignin&vtoken=x").address).path == "/sign-in/link"
    assert urlsplit(visitor.open("/auth.aspx?vtype=autologin&vtoken=x").address).path == "/sign-in/approve"


def test_another_mail_waits_half_a_minute(world: World, visitor: Visitor, ada: Person) -> None:
    sent = by_mail(visitor.open("/login"), ada.email)
    early = sent.press("Send it again")
    assert (early.status, "A message is on its way" in early.text) == (429, True)
    world.services.clock.advance(seconds=31)  # type: ignore[attr-defined]  # as above
    first = path_of(world)
    assert "We sent another message" in sent.press("Send it again").text
    assert visitor.open(first).heading == "This link no longer works"
    assert len(mails_to(world.services, world.tenant_id, ada.email)) == 2


def test_a_second_factor_comes_before_the_application(new_world: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    there = new_world(**EVERY, two_factor="required")
    visitor, ada = new_visitor_at(there), there.person(ADA)
    by_mail(visitor.asked_by(there.application("shop")), ada.email)
    after = visitor.open(path_of(there)).press("Sign in")
    assert urlsplit(after.address).path == "/second-factor"


def test_a_locked_account_says_so_to_its_mailbox_alone(world: World, visitor: Visitor, ada: Person) -> None:
    sent = by_mail(visitor.open("/login"), ada.email)
    page = visitor.open("/login")
    for _ in range(5):
        page = page.press("Sign in", identifier=ada.email, password="wrong")
    refused = visitor.open(path_of(world)).press("Sign in")
    assert (refused.heading, "Too many tries" in refused.text) == ("You cannot sign in now", True)
    assert "That code did not work" in sent.press("Sign in", code=code(world)).text


def test_another_device_says_yes_by_the_number(
    world: World, visitor: Visitor, new_visitor_at: NewVisitorAt, ada: Person
) -> None:
    waits = on_a_device(visitor.asked_by(world.application("shop", client_name="Acme Shop")), ada.email)
    assert waits.heading == "Say yes in your mailbox"
    number = number_on(waits)
    asked = new_visitor_at(world).open(path_of(world))
    assert asked.heading == "Is it you who signs in there?"
    assert all(said in asked.text for said in (ada.email, "Acme Shop", "Firefox, Linux"))
    assert re.search(rf"\b{number}\b", asked.text) is None
    assert waits.form("I have said yes").action == "/sign-in/sent"
    assert "data-poll=" in waits.html
    assert "Nobody has said yes yet" in waits.press("I have said yes").text
    done = asked.press("Yes, sign it in", number=number)
    assert done.heading == "You said yes"
    assert "Sign" not in done.visitor.cookies("session")
    assert visitor.open(f"/sign-in/waiting?attempt={waits.query['attempt']}").html == "approved"
    assert waits.press("I have said yes").query["code"]


def test_a_wrong_number_says_no_in_the_end(
    world: World, visitor: Visitor, new_visitor_at: NewVisitorAt, ada: Person
) -> None:
    waits = on_a_device(visitor.open("/login"), ada.email)
    number = int(number_on(waits))
    asked = new_visitor_at(world).open(path_of(world))
    assert asked.press("Yes, sign it in", number="").status == 422
    for _ in range(3):
        wrong = asked.press("Yes, sign it in", number=str(number - 1 or 99))
        assert (wrong.status, "That is not the number" in wrong.text) == (403, True)
    assert asked.press("Yes, sign it in", number=str(number)).heading == "You said no"
    assert waits.press("I have said yes").heading == "The answer was no"


def test_no_is_no(world: World, visitor: Visitor, new_visitor_at: NewVisitorAt, ada: Person) -> None:
    waits = on_a_device(visitor.open("/login"), ada.email)
    asked = new_visitor_at(world).open(path_of(world))
    assert asked.press("No, that is not me").heading == "You said no"
    assert asked.press("Yes, sign it in", number=number_on(waits)).heading == "You said no"
    assert visitor.open(waits.address).heading == "The answer was no"


def test_a_device_of_somebody_else_does_not_go_on(
    world: World, visitor: Visitor, new_visitor_at: NewVisitorAt, ada: Person
) -> None:
    """Whoever sees the address of the page that waits has not begun it."""
    waits = on_a_device(visitor.open("/login"), ada.email)
    new_visitor_at(world).open(path_of(world)).press("Yes, sign it in", number=number_on(waits))
    stranger = new_visitor_at(world)
    assert stranger.open(waits.address).status == 410
    assert stranger.open(f"/sign-in/waiting?attempt={waits.query['attempt']}").html == "over"
    assert waits.press("I have said yes").address.endswith("/profile")


def test_by_a_text_message(new_world: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    there = new_world(**EVERY, phone_login=True, one_touch=True, default_country="GB")
    visitor = new_visitor_at(there)
    asked = visitor.asked_by(there.application("shop")).follow("Text me a code No password needed")
    sent = asked.press("Text me a code", identifier=NUMBER)
    assert (sent.status, sent.heading) == (200, "Check your phone")
    texted = sent_messages(there.services, there.tenant_id, "sms")[-1]
    assert texted["to"] == KEPT
    assert sent.press("Sign in", code=code_in(texted)).query["code"]
    assert new_visitor_at(there).open("/profile").heading == "Welcome back"
    assert "+44 20 7946 0123" in visitor.open("/profile").text.replace("\u00a0", " ")


def test_whoever_is_new_gets_an_account_by_one_touch(new_world: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    there = new_world(one_touch=True)
    visitor = new_visitor_at(there)
    asked = visitor.asked_by(there.application("shop")).follow("Email me a link No password needed")
    assert "If you are new, you get an account by it." in asked.text
    asked.press("Email me a link", identifier=NEW)
    page = visitor.open(path_of(there, NEW))
    assert "If you are new, you get an account by it." in page.text
    assert page.press("Sign in").query["code"]
    assert NEW in visitor.open("/profile").text


@pytest.mark.parametrize("closed", [{"registration": False}, {"registration_captcha": True}], ids=str)
def test_nobody_gets_an_account_where_registration_is_off_or_asks_more(
    new_world: NewWorld, new_visitor_at: NewVisitorAt, closed: dict[str, bool]
) -> None:
    there = new_world(one_touch=True, **closed)
    visitor = new_visitor_at(there)
    by_mail(visitor.open("/login"), NEW)
    mail = mails_to(there.services, there.tenant_id, NEW)[-1]
    assert "There is no account" in mail["subject"]
    assert "vtoken" not in str(mail)


def test_a_stranger_who_registered_first_keeps_no_way_in(new_world: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    """The mailbox signs in to the account that somebody made with its address: their password and session end."""
    there = new_world(**EVERY, email_verification="optional")
    eve, ada = new_visitor_at(there), new_visitor_at(there)
    eve.open("/register").press("Create account", email=ADA, password="Zebra-kettle-91")
    assert ADA in eve.open("/profile").text
    by_mail(ada.open("/login"))
    assert ada.open(path_of(there)).press("Sign in").address.endswith("/profile")
    assert eve.open("/profile").heading == "Welcome back"
    again = eve.open("/login").press("Sign in", identifier=ADA, password="Zebra-kettle-91")
    assert "That did not work" in again.text


def test_what_is_switched_off_is_not_there(new_world: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    visitor = new_visitor_at(new_world())
    assert "Other ways to sign in" not in visitor.open("/login").text
    for way in ("mail", "sms", "device", "nothing"):
        assert urlsplit(visitor.open(f"/sign-in/{way}").address).path == "/login"


def test_the_sign_in_page_asks_nobody(world: World, visitor: Visitor) -> None:
    visitor.open("/login")
    for path in ("/login", "/sign-in/mail", "/sign-in/device"):
        assert not any(visitor.open(path).cost.values())


def live_sessions(world: World) -> int:
    work = UnitOfWork(world.services.database, world.tenant_id)
    try:
        return len(work.all(select(sessions.c.session_id).where(sessions.c.tenant_id == world.tenant_id)))
    finally:
        work.rollback()


def test_of_fifty_clicks_on_a_link_one_signs_in(world: World, visitor: Visitor, ada: Person) -> None:
    by_mail(visitor.open("/login"), ada.email)
    page = visitor.open(path_of(world))
    seen = at_once([partial(tab.press, "Sign in") for tab in tabs(page)])
    assert live_sessions(world) == 1
    assert all(one.address.endswith("/profile") or "used already" in one.text for one in seen)


def test_of_fifty_devices_that_go_on_one_does(
    world: World, visitor: Visitor, new_visitor_at: NewVisitorAt, ada: Person
) -> None:
    waits = on_a_device(visitor.open("/login"), ada.email)
    new_visitor_at(world).open(path_of(world)).press("Yes, sign it in", number=number_on(waits))
    seen = at_once([partial(tab.press, "I have said yes") for tab in tabs(waits)])
    assert live_sessions(world) == 1
    assert not [one.status for one in seen if one.status >= 500]
