"""Mailed links in other hands: scanners, another person's browser, double submits, expired interactions."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import parse_qs, urljoin, urlsplit

import pytest

from tests.support.accounts.mailbox import mails_to, older_form, token_of
from tests.support.journeys.mailed_links import (
    BOB,
    NEW,
    SAVE,
    deletion,
    newest_link,
    recovery,
    security_alert,
    states,
    verification,
)
from tests.support.journeys.verification import ADA, PASSWORD, PendingVerification, is_verified, wait
from tests.support.oauth.relying_party import Person
from tests.support.oauth.world import World
from tests.support.visitors.people import forms_of, leads_on
from tests.support.visitors.visitor import NewVisitor, VisitedPage, Visitor

MACHINES = ("Barracuda Sentinel (EE)", "", "Mozilla/5.0 (compatible; SafeLinks preview)", "Mozilla/5.0 Firefox/140.0")


@pytest.mark.parametrize("send_mail", [verification, recovery, deletion, security_alert])
def test_scanner_does_not_use_up_a_link(
    world: World, visitor: Visitor, new_visitor: NewVisitor, send_mail: Any
) -> None:
    send_mail(world, visitor)
    link, before = newest_link(world), states(world)
    for agent in MACHINES:
        for method in ("HEAD", "OPTIONS", "GET"):
            scanner = new_visitor()
            seen = scanner.send(method, link, None, **{"User-Agent": agent})
            assert seen.status in (200, 204), (method, agent, seen.status)
            assert not scanner.cookies("session")
        for part in re.findall(
            r'(?:href|src|action)="([^"#]+)"', seen.html
        ):  # the scanner fetches every resource of the page
            fetched = scanner.send("GET", urljoin(link, part.replace("&amp;", "&")), None, **{"User-Agent": agent})
            assert fetched.status < 500
    assert states(world) == before


LINK_PARAMETERS = {"v": {"attempt"}, "r": {"attempt"}, "d": set(), "n": set()}


@pytest.mark.parametrize("send_mail", [verification, recovery, deletion, security_alert])
def test_link_to_own_page_has_only_the_token(world: World, visitor: Visitor, send_mail: Any) -> None:
    send_mail(world, visitor)
    link = urlsplit(newest_link(world))
    _, letter, token = link.path.split("/")
    assert len(token) == 43
    assert set(parse_qs(link.query)) <= LINK_PARAMETERS[letter]


def test_address_after_the_link_has_no_token(world: World, visitor: Visitor) -> None:
    recovery(world, visitor)
    link = newest_link(world)
    done = visitor.open(link).press(SAVE, password=NEW)
    assert done.status == 200
    assert token_of(link) not in done.address


@pytest.mark.parametrize("older", ["/auth.aspx?vtype=reset&", "/reset-password?vtype=reset&", "/reset-password?"])
def test_link_of_an_older_mail_still_works(world: World, visitor: Visitor, older: str) -> None:
    recovery(world, visitor)
    page = visitor.open(older + older_form(newest_link(world)).partition("?")[2])
    assert page.press(SAVE, password=NEW).status == 200
    visitor.forget("session")
    assert visitor.open("/login").press("Sign in", identifier=ADA, password=NEW).address.endswith("/profile")


@pytest.fixture
def bob_browser(world: World, new_visitor: NewVisitor) -> Visitor:
    """Return a browser in which Bob is signed in."""
    browser = new_visitor()
    browser.open("/profile").press("Sign in", identifier=world.person(BOB).email, password=PASSWORD)
    return browser


def test_link_in_foreign_browser_keeps_its_session(world: World, visitor: Visitor, bob_browser: Visitor) -> None:
    pending = PendingVerification(world, visitor)
    page = bob_browser.open(pending.link)
    assert ADA in page.text
    confirmed = page.press("Verify")
    assert confirmed.heading == "Email verified"
    assert is_verified(world, pending.ada)
    assert bob_browser.open("/profile").heading == "Profile"
    assert pending.page.press("Continue").heading == "Email verified"


def test_reset_in_foreign_browser_does_not_switch_account(world: World, visitor: Visitor, bob_browser: Visitor) -> None:
    recovery(world, visitor)
    page = bob_browser.open(newest_link(world))
    assert page.form(SAVE).fields["username"] == ADA
    page.press(SAVE, password=NEW)
    bobs = bob_browser.open("/profile")
    assert bobs.is_sign_in or bobs.heading == BOB
    assert visitor.open("/login").press("Sign in", identifier=ADA, password=NEW).address.endswith("/profile")


def test_double_submitted_reset_keeps_the_first_password(
    world: World, visitor: Visitor, new_visitor: NewVisitor
) -> None:
    recovery(world, visitor)
    page = visitor.open(newest_link(world))
    page.press(SAVE, password=NEW)
    second = page.press(SAVE, password="Amber-window-44")
    assert second.heading == "Link already used"
    assert leads_on(second)
    assert new_visitor().open("/login").press("Sign in", identifier=ADA, password=NEW).address.endswith("/profile")


def sign_up(visitor: Visitor, shop: Any) -> VisitedPage:
    return visitor.authorize(shop).follow("Create account")


def forgot(visitor: Visitor, shop: Any) -> VisitedPage:
    return visitor.authorize(shop).follow("Forgot password?")


def sent(visitor: Visitor, shop: Any) -> VisitedPage:
    return forgot(visitor, shop).press("Send reset link", identifier=ADA)


def check_mail(visitor: Visitor, shop: Any) -> VisitedPage:
    return sign_up(visitor, shop).press("Create account", email="new@example.com", password=NEW)


@pytest.mark.parametrize("open_page", [sign_up, forgot, sent, check_mail])
def test_expired_interaction_pages_offer_to_continue(world: World, visitor: Visitor, open_page: Any) -> None:
    person: Person = world.person(ADA)
    page = open_page(visitor, world.application("shop", client_name="Acme Shop"))
    wait(world, hours=26)
    typed = {"email": person.email, "identifier": person.email, "password": NEW, "code": "123456"}
    seen = [
        page.press(button, **{n: t for n, t in typed.items() if n in form.fields}) for form, button in forms_of(page)
    ]
    for answer in [*seen, visitor.open(page.address)]:
        assert answer.status < 500
        assert leads_on(answer), answer.text
        assert not visitor.cookies("session")


def test_mail_names_the_application_of_the_journey(world: World, visitor: Visitor) -> None:
    world.person(ADA)
    sent(visitor, world.application("shop", client_name="Acme Shop"))
    (mail,) = mails_to(world.services, world.tenant_id, ADA)
    assert "Requested for Acme Shop from Firefox on Linux" in mail["text"]
    assert "Requested for Acme Shop from Firefox on Linux" in mail["html"]
