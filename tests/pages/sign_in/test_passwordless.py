"""Passwordless sign-in pages: mailed link or code, text message, approval on another device, one-touch."""

from __future__ import annotations

import re
from functools import partial
from urllib.parse import urlsplit

import pytest
from sqlalchemy import select

from app.contract.messages.models import MailKind, MailTemplate
from app.identity.authentication.sign_in.tables import sessions
from app.identity.platform.store.unit_of_work import UnitOfWork
from tests.support.accounts.mailbox import code_in, links_in, mails_to, sent_messages
from tests.support.journeys.passwordless import (
    ADA,
    ALL_METHODS,
    E164,
    NEW,
    NUMBER,
    by_device,
    by_mail,
    code,
    link_path,
    number_on,
)
from tests.support.oauth.relying_party import Person
from tests.support.oauth.world import NewWorld, World
from tests.support.races import at_once, tabs
from tests.support.services.identity_service import pass_time
from tests.support.tenants.message_templates import add_templates
from tests.support.visitors.visitor import NewVisitorAt, Visitor, is_empty_with_focus


@pytest.fixture
def world(new_world: NewWorld) -> World:
    return new_world(**ALL_METHODS)


@pytest.fixture
def visitor(world: World, new_visitor_at: NewVisitorAt) -> Visitor:
    return new_visitor_at(world)


@pytest.fixture
def ada(world: World) -> Person:
    return world.person(ADA, FirstName="Ada")


def test_link_in_same_browser_continues_to_application(world: World, visitor: Visitor, ada: Person) -> None:
    sent = by_mail(visitor.authorize(world.application("shop", client_name="Acme Shop")))
    assert (sent.status, sent.heading) == (200, "Check your email")
    page = visitor.open(link_path(world))
    assert ada.email in page.text
    assert "Acme Shop" in page.text
    assert page.press("Sign in").query["code"]


@pytest.mark.parametrize(
    ("html", "content", "has_code"),
    [('<a href="#Url#">Sign in</a>', "a link", False), ("<p>#OTP#</p>", "a code", True)],
    ids=["link", "code"],
)
def test_page_names_what_the_own_template_sends_to_anyone(
    world: World, new_visitor_at: NewVisitorAt, ada: Person, html: str, content: str, has_code: bool
) -> None:
    add_templates(world, MailTemplate(type=MailKind.SIGN_IN, subject="Sign in", html=html))
    for name in (ada.email, NEW):
        page = by_mail(new_visitor_at(world).open("/login"), name)
        too_soon = page.press("Resend email")
        for shown in (page, too_soon):
            assert f"If {name} has an account, we’ve emailed it {content}" in shown.text
            assert ('name="code"' in shown.html) is has_code
            assert ("Opening the link on another device?" in shown.text) is not has_code


def test_opening_the_link_does_not_use_it_up(
    world: World, visitor: Visitor, new_visitor_at: NewVisitorAt, ada: Person
) -> None:
    by_mail(visitor.open("/login"), ada.email)
    link = link_path(world)
    for _ in range(3):
        assert new_visitor_at(world).open(link).heading == "Sign in"
    assert new_visitor_at(world).send("HEAD", f"{visitor.home}{link}", None).status == 200
    page = new_visitor_at(world).open(link)
    assert page.answer
    assert page.answer.headers["Referrer-Policy"] == "no-referrer"
    assert page.press("Sign in here").address.endswith("/profile")


def test_link_signs_in_the_browser_that_opens_it(
    world: World, visitor: Visitor, new_visitor_at: NewVisitorAt, ada: Person
) -> None:
    """That browser is sent to the application's home; the first browser stays signed out."""
    shop = world.application("shop", client_uri="https://shop.example/")
    sent = by_mail(visitor.authorize(shop), ada.email)
    other = new_visitor_at(world)
    assert other.open(link_path(world)).press("Sign in here").address == "https://shop.example/"
    assert other.authorize(shop).query["code"]
    assert visitor.open(sent.address).heading == "Check your email"
    assert visitor.open("/profile").is_sign_in


def test_code_signs_in_the_requesting_browser(world: World, visitor: Visitor, ada: Person) -> None:
    sent = by_mail(visitor.authorize(world.application("shop")), ada.email)
    wrong = sent.press("Sign in", code="000000")
    assert (wrong.status, "Wrong or expired code" in wrong.text) == (403, True)
    assert is_empty_with_focus(wrong, "code")
    right_code = code(world)
    arabic = f"{right_code[:3]}-{right_code[3:]}".translate(str.maketrans("0123456789", "٠١٢٣٤٥٦٧٨٩"))
    assert wrong.press("Sign in", code=arabic).query["code"]


def test_used_link_offers_a_new_one(world: World, visitor: Visitor, new_visitor_at: NewVisitorAt, ada: Person) -> None:
    by_mail(visitor.open("/login"), ada.email)
    page = visitor.open(link_path(world))
    assert page.press("Sign in").address.endswith("/profile")
    assert page.press("Sign in").address.endswith("/profile")
    used = new_visitor_at(world).open(link_path(world))
    assert used.heading == "Link already used"
    pass_time(world.services, seconds=31)
    assert used.press("Request new link").heading == "Check your email"


def test_expired_or_malformed_link_is_reported(
    world: World, visitor: Visitor, new_visitor_at: NewVisitorAt, ada: Person
) -> None:
    by_mail(visitor.open("/login"), ada.email)
    pass_time(world.services, minutes=61)
    other = new_visitor_at(world)
    assert other.open(link_path(world)).heading == "Link expired"
    assert other.open("/sign-in/link?vtoken=x").heading == "Link incomplete"


def test_legacy_link_addresses_resolve(visitor: Visitor) -> None:
    assert urlsplit(visitor.open("/auth.aspx?vtype=oneclicksignin&vtoken=x").address).path == "/s/x"
    assert urlsplit(visitor.open("/auth.aspx?vtype=autologin&vtoken=x").address).path == "/a/x"


def test_resend_waits_and_invalidates_the_older_link(world: World, visitor: Visitor, ada: Person) -> None:
    sent = by_mail(visitor.open("/login"), ada.email)
    early = sent.press("Resend email")
    assert (early.status, "Email sent" in early.text) == (429, True)
    pass_time(world.services, seconds=31)
    first = link_path(world)
    assert "Email resent" in sent.press("Resend email").text
    assert visitor.open(first).heading == "Link expired"
    assert len(mails_to(world.services, world.tenant_id, ada.email)) == 2


def test_second_factor_is_asked_after_the_link(new_world: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    tenant = new_world(**ALL_METHODS, two_factor="required")
    visitor, ada = new_visitor_at(tenant), tenant.person(ADA)
    by_mail(visitor.authorize(tenant.application("shop")), ada.email)
    after = visitor.open(link_path(tenant)).press("Sign in")
    assert urlsplit(after.address).path == "/second-factor"


def test_lock_is_reported_to_the_mailbox_only(world: World, visitor: Visitor, ada: Person) -> None:
    sent = by_mail(visitor.open("/login"), ada.email)
    page = visitor.open("/login")
    for _ in range(5):
        page = page.press("Sign in", identifier=ada.email, password="wrong")
    refused = visitor.open(link_path(world)).press("Sign in")
    assert (refused.heading, "Sign-in is locked" in refused.text) == ("You can’t sign in right now", True)
    assert "Wrong or expired code" in sent.press("Sign in", code=code(world)).text


def test_approval_on_another_device_needs_the_number(
    world: World, visitor: Visitor, new_visitor_at: NewVisitorAt, ada: Person
) -> None:
    waiting = by_device(visitor.authorize(world.application("shop", client_name="Acme Shop")), ada.email)
    assert waiting.heading == "Check your email"
    number = number_on(waiting)
    request_page = new_visitor_at(world).open(link_path(world))
    assert request_page.heading == "Approve sign-in?"
    assert all(fact in request_page.text for fact in (ada.email, "Acme Shop", "Firefox, Linux"))
    assert re.search(rf"\b{number}\b", request_page.text) is None
    assert waiting.form("Continue").action == "/sign-in/sent"
    assert "data-poll=" in waiting.html
    assert "Not approved yet" in waiting.press("Continue").text
    approved = request_page.press("Approve", number=number)
    assert approved.heading == "Approved"
    assert "Sign" not in approved.visitor.cookies("session")
    assert visitor.open(f"/sign-in/waiting?attempt={waiting.query['attempt']}").html == "approved"
    assert waiting.press("Continue").query["code"]


def test_three_wrong_numbers_deny_the_request(
    world: World, visitor: Visitor, new_visitor_at: NewVisitorAt, ada: Person
) -> None:
    waiting = by_device(visitor.open("/login"), ada.email)
    number = int(number_on(waiting))
    request_page = new_visitor_at(world).open(link_path(world))
    assert request_page.press("Approve", number="").status == 422
    for _ in range(3):
        wrong = request_page.press("Approve", number=str(number - 1 or 99))
        assert is_empty_with_focus(wrong, "number") or wrong.heading == "Denied"
        assert (wrong.status, "Wrong number" in wrong.text) == (403, True)
    assert request_page.press("Approve", number=str(number)).heading == "Denied"
    assert waiting.press("Continue").heading == "Request denied"


def test_denied_request_stays_denied(world: World, visitor: Visitor, new_visitor_at: NewVisitorAt, ada: Person) -> None:
    waiting = by_device(visitor.open("/login"), ada.email)
    request_page = new_visitor_at(world).open(link_path(world))
    assert request_page.press("Deny sign-in").heading == "Denied"
    assert request_page.press("Approve", number=number_on(waiting)).heading == "Denied"
    assert visitor.open(waiting.address).heading == "Request denied"


def test_other_browser_cannot_continue_approved_request(
    world: World, visitor: Visitor, new_visitor_at: NewVisitorAt, ada: Person
) -> None:
    """Knowing the URL of the waiting page is not enough."""
    waiting = by_device(visitor.open("/login"), ada.email)
    new_visitor_at(world).open(link_path(world)).press("Approve", number=number_on(waiting))
    other = new_visitor_at(world)
    assert other.open(waiting.address).status == 410
    assert other.open(f"/sign-in/waiting?attempt={waiting.query['attempt']}").html == "over"
    assert waiting.press("Continue").address.endswith("/profile")


def test_texted_code_signs_in(new_world: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    tenant = new_world(**ALL_METHODS, phone_login=True, one_touch=True, default_country="GB")
    visitor = new_visitor_at(tenant)
    request_page = visitor.authorize(tenant.application("shop")).follow("Get a code by text message")
    sent = request_page.press("Text me a code", identifier=NUMBER)
    assert (sent.status, sent.heading) == (200, "Check your phone")
    texted = sent_messages(tenant.services, tenant.tenant_id, "sms")[-1]
    assert texted["to"] == E164
    assert sent.press("Sign in", code=code_in(texted)).query["code"]
    assert new_visitor_at(tenant).open("/profile").is_sign_in
    assert "+44 20 7946 0123" in visitor.open("/profile").text.replace("\u00a0", " ")


def test_one_touch_creates_an_account(new_world: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    tenant = new_world(one_touch=True)
    visitor = new_visitor_at(tenant)
    request_page = visitor.authorize(tenant.application("shop")).follow("Get an email link")
    assert "New here? We’ll create your account." in request_page.text
    request_page.press("Email me a link", identifier=NEW)
    page = visitor.open(link_path(tenant, NEW))
    assert "New here? We’ll create your account." in page.text
    assert page.press("Sign in").query["code"]
    assert NEW in visitor.open("/profile").text


@pytest.mark.parametrize("closed", [{"registration": False}, {"registration_captcha": True}], ids=str)
def test_one_touch_respects_closed_registration(
    new_world: NewWorld, new_visitor_at: NewVisitorAt, closed: dict[str, bool]
) -> None:
    tenant = new_world(one_touch=True, **closed)
    visitor = new_visitor_at(tenant)
    by_mail(visitor.open("/login"), NEW)
    mail = mails_to(tenant.services, tenant.tenant_id, NEW)[-1]
    assert "don’t have an account" in mail["subject"]
    assert not links_in(mail)


@pytest.mark.both_databases
def test_mailbox_sign_in_ends_attackers_access(new_world: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    """A sign-in by the mailbox ends the password and session of the account's earlier registrant."""
    tenant = new_world(**ALL_METHODS, email_verification="optional")
    eve, ada = new_visitor_at(tenant), new_visitor_at(tenant)
    eve.open("/register").press("Create account", email=ADA, password="Zebra-kettle-91")
    assert ADA in eve.open("/profile").text
    by_mail(ada.open("/login"))
    assert ada.open(link_path(tenant)).press("Sign in").address.endswith("/profile")
    assert eve.open("/profile").is_sign_in
    again = eve.open("/login").press("Sign in", identifier=ADA, password="Zebra-kettle-91")
    assert "Wrong email or password" in again.text


def test_disabled_methods_are_not_offered(new_world: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    visitor = new_visitor_at(new_world())
    assert 'class="method' not in visitor.open("/login").html
    for method in ("mail", "sms", "device", "nothing"):
        assert urlsplit(visitor.open(f"/sign-in/{method}").address).path == "/login"


def test_sign_in_pages_make_no_api_call(world: World, visitor: Visitor) -> None:
    visitor.open("/login")
    for path in ("/login", "/sign-in/mail", "/sign-in/device"):
        assert not any(visitor.open(path).cost.values())


def live_sessions(world: World) -> int:
    work = UnitOfWork(world.services.database, world.tenant_id)
    try:
        return len(work.all(select(sessions.c.session_id).where(sessions.c.tenant_id == world.tenant_id)))
    finally:
        work.rollback()


def test_many_uses_of_a_link_make_one_session(world: World, visitor: Visitor, ada: Person) -> None:
    by_mail(visitor.open("/login"), ada.email)
    page = visitor.open(link_path(world))
    answers = at_once([partial(tab.press, "Sign in") for tab in tabs(page)])
    assert live_sessions(world) == 1
    assert all(answer.address.endswith("/profile") or "already used" in answer.text for answer in answers)


def test_many_continuations_make_one_session(
    world: World, visitor: Visitor, new_visitor_at: NewVisitorAt, ada: Person
) -> None:
    waiting = by_device(visitor.open("/login"), ada.email)
    new_visitor_at(world).open(link_path(world)).press("Approve", number=number_on(waiting))
    answers = at_once([partial(tab.press, "Continue") for tab in tabs(waiting)])
    assert live_sessions(world) == 1
    assert not [answer.status for answer in answers if answer.status >= 500]
