"""Sign-in by a phone: one browser shows a QR code, a phone's browser approves it (decision 0241)."""

from __future__ import annotations

import re
from functools import partial
from urllib.parse import urlsplit

import pytest

from app.hub.components.qr_codes import qr_code
from app.identity.authentication.sign_in.tables import sessions
from app.identity.platform.audit import audit
from tests.support.oauth.relying_party import Person
from tests.support.oauth.world import NewWorld, World
from tests.support.races import at_once, tabs
from tests.support.services.identity_service import pass_time
from tests.support.visitors.phone_sign_in import (
    PATH,
    approved,
    link_on,
    number_on,
    path_on,
    rows,
    shown,
    signed_in,
    state_of,
    wrong,
)
from tests.support.visitors.visitor import NewVisitorAt, VisitedPage, Visitor, is_empty_with_focus

FREE = {"sign_in_per_minute_per_address": 0}


@pytest.fixture
def world(new_world: NewWorld) -> World:
    return new_world(qr_sign_on=True, limits=FREE)


@pytest.fixture
def ada(world: World) -> Person:
    return world.person("ada@example.com")


@pytest.fixture
def desktop(world: World, new_visitor_at: NewVisitorAt) -> Visitor:
    return new_visitor_at(world)


@pytest.fixture
def phone(world: World, new_visitor_at: NewVisitorAt, ada: Person) -> Visitor:
    """A browser that is signed in."""
    return signed_in(new_visitor_at(world), ada)


def test_phone_signs_the_browser_in_to_the_application(
    world: World, desktop: Visitor, phone: Visitor, ada: Person
) -> None:
    shop = world.application("shop", client_name="Acme Shop")
    page = desktop.authorize(shop).follow("Sign in with your phone")
    assert qr_code(link_on(page)).path in page.html
    assert state_of(page) == "waits"
    question = phone.open(path_on(page))
    assert question.heading == "Sign in on the other device?"
    assert all(fact in question.text for fact in (ada.email, "Acme Shop", "Firefox, Linux"))
    assert re.search(rf"\b{number_on(page)}\b", question.text) is None, "the person reads it on the other device"
    assert path_on(page).removeprefix("/q/") not in question.address, "no later address has the code"
    assert state_of(page) == "opened"
    opened = desktop.open(page.address)
    assert (opened.heading, number_on(opened)) == ("Continue on the other device", number_on(page))
    assert question.press("Approve", number=number_on(page)).heading == "Approved"
    assert state_of(page) == "approved"
    assert opened.press("Continue").query["code"]
    assert {"cross_device.begun", "cross_device.opened", "cross_device.approved", "cross_device.signed_in"} <= {
        row.event for row in rows(world, audit.c.event)
    }


@pytest.mark.parametrize(("button", "heading"), [("Approve", "Already approved"), ("Deny sign-in", "Already denied")])
def test_answered_question_is_not_asked_again(
    desktop: Visitor, phone: Visitor, ada: Person, button: str, heading: str
) -> None:
    page = shown(desktop)
    question = phone.open(path_on(page))
    question.press(button, number=number_on(page))
    for again in (phone.open(question.address), question.press("Approve", number=number_on(page))):
        assert again.heading == heading
        assert "this sign-in earlier" in again.text


def test_page_continues_by_itself_without_a_script(desktop: Visitor, phone: Visitor, ada: Person) -> None:
    page = shown(desktop)
    reload = re.search(r'<noscript><meta http-equiv="refresh" content="5; url=([^"]+)"></noscript>', page.html)
    assert reload is not None
    assert "Sign in with your phone" in desktop.open(reload[1]).heading
    assert approved(phone, page).heading == "Approved"
    assert desktop.send("HEAD", f"{desktop.home}{reload[1]}", None).status == 200
    assert state_of(page) == "approved", "a HEAD request signs nothing in"
    assert desktop.open(reload[1]).address.endswith("/profile")
    assert ada.email in desktop.open("/profile").text


def test_reload_shows_the_same_code(desktop: Visitor) -> None:
    page = shown(desktop)
    again = desktop.open(page.address)
    assert (link_on(again), number_on(again)) == (link_on(page), number_on(page))


def test_signed_out_phone_signs_in_first(
    world: World, desktop: Visitor, new_visitor_at: NewVisitorAt, ada: Person
) -> None:
    page, phone = shown(desktop), new_visitor_at(world)
    question = phone.open(path_on(page)).press("Sign in", identifier=ada.email, password=ada.password)
    assert question.heading == "Sign in on the other device?"
    assert question.press("Approve", number=number_on(page)).heading == "Approved"
    assert page.press("Continue").address.endswith("/profile")


def test_slow_sign_in_on_the_phone_keeps_the_code(
    world: World, desktop: Visitor, new_visitor_at: NewVisitorAt, ada: Person
) -> None:
    page, phone = shown(desktop), new_visitor_at(world)
    login = phone.open(path_on(page))
    pass_time(world.services, seconds=240)
    question = login.press("Sign in", identifier=ada.email, password=ada.password)
    assert question.press("Approve", number=number_on(page)).heading == "Approved"
    assert page.press("Continue").address.endswith("/profile")


def test_preview_does_not_lengthen_the_code(world: World, desktop: Visitor, phone: Visitor) -> None:
    page = shown(desktop)
    assert phone.send("HEAD", f"{phone.home}{path_on(page)}", None).status in (200, 302)
    assert state_of(page) == "waits"


def test_number_is_required_at_its_field(desktop: Visitor, phone: Visitor) -> None:
    page = shown(desktop)
    question = phone.open(path_on(page))
    empty = question.press("Approve", number="")
    assert (empty.status, "Enter the number on the other device." in empty.text) == (422, True)
    refused = question.press("Approve", number=wrong(number_on(page)))
    assert (refused.status, "Wrong number." in refused.text) == (403, True)
    assert is_empty_with_focus(refused, "number")
    assert refused.press("Approve", number=f" {number_on(page)} ").heading == "Approved"


def test_three_wrong_numbers_deny(desktop: Visitor, phone: Visitor) -> None:
    page = shown(desktop)
    question = phone.open(path_on(page))
    for _ in range(3):
        assert question.press("Approve", number=wrong(number_on(page))).status == 403
    assert question.press("Approve", number=number_on(page)).heading == "Denied"
    assert page.press("Continue").heading == "Request denied"


def test_denied_code_stays_denied(world: World, desktop: Visitor, phone: Visitor) -> None:
    page = shown(desktop)
    question = phone.open(path_on(page))
    assert question.press("Deny sign-in").heading == "Denied"
    assert "Approve" not in question.press("Approve", number=number_on(page)).html.partition("<main")[2]
    assert phone.open(path_on(page)).heading == "Denied"
    assert state_of(page) == "denied"
    denied = page.press("Continue")
    assert denied.heading == "Request denied"
    assert "refresh" not in denied.html
    renewed = denied.press("Get new code")
    assert "Sign in with your phone" in renewed.heading
    assert link_on(renewed) != link_on(page)
    assert "cross_device.denied" in {row.event for row in rows(world, audit.c.event)}


def test_expired_code_is_renewed_by_one_button(world: World, desktop: Visitor, phone: Visitor, ada: Person) -> None:
    page = shown(desktop)
    pass_time(world.services, seconds=121)
    assert phone.open(path_on(page)).heading == "Code expired"
    assert state_of(page) == "expired"
    expired = desktop.open(page.address)
    assert expired.heading == "Code expired"
    renewed = expired.press("Get new code")
    approved(phone, renewed)
    assert renewed.press("Continue").address.endswith("/profile")


def test_late_approval_can_be_collected(world: World, desktop: Visitor, phone: Visitor) -> None:
    page = shown(desktop)
    question = phone.open(path_on(page))
    pass_time(world.services, seconds=299)
    question.press("Approve", number=number_on(page))
    pass_time(world.services, seconds=30)
    assert page.press("Continue").address.endswith("/profile")


@pytest.mark.both_databases
def test_foreign_tenants_code_is_unknown(
    desktop: Visitor, new_world: NewWorld, new_visitor_at: NewVisitorAt, world: World
) -> None:
    other = new_world(qr_sign_on=True)
    phone = signed_in(new_visitor_at(other), other.person("ada@example.com"))
    page = shown(desktop)
    assert phone.open(path_on(page)).heading == "Code expired"
    assert state_of(page) == "waits"
    assert "cross_device.code_refused" in {row.event for row in rows(other, audit.c.event)}


def test_opened_codes_of_one_network_are_limited(phone: Visitor) -> None:
    pages = [phone.open("/q/unknown") for _ in range(61)]
    assert (pages[0].heading, pages[-1].status) == ("Code expired", 429)


def test_approval_that_is_not_collected_in_time_ends(world: World, desktop: Visitor, phone: Visitor) -> None:
    page = shown(desktop)
    approved(phone, page)
    pass_time(world.services, seconds=301)
    assert page.press("Continue").heading == "Code expired"


def test_renewed_code_ends_the_one_before(desktop: Visitor, phone: Visitor) -> None:
    page = shown(desktop)
    question = phone.open(path_on(page))
    renewed = desktop.open(page.address).press("Get new code")
    assert question.press("Approve", number=number_on(page)).heading == "Code expired"
    assert state_of(renewed) == "waits"


def test_code_works_once(world: World, desktop: Visitor, phone: Visitor, new_visitor_at: NewVisitorAt) -> None:
    page, other = shown(desktop), signed_in(new_visitor_at(world), world.person("bob@example.com"))
    second = other.open(path_on(page))
    approved(phone, page)
    assert second.press("Approve", number=number_on(page)).heading == "Code already used"
    assert other.open(path_on(page)).heading == "Code already used"
    page.press("Continue")
    assert "ada@example.com" in desktop.open("/profile").text
    assert phone.open(path_on(page)).heading == "Code expired"


def test_code_and_addresses_collect_nothing_in_another_browser(
    world: World, desktop: Visitor, phone: Visitor, new_visitor_at: NewVisitorAt
) -> None:
    page = shown(desktop)
    approved(phone, page)
    thief = new_visitor_at(world)
    assert thief.open(page.address).status == 410
    assert thief.open(f"{PATH}/state?attempt={page.query['attempt']}").html == "over"
    assert thief.open(path_on(page)).heading == "Code already used"
    token = thief.open("/login").form("Sign in").fields["token"]
    posted = thief.client.post(
        f"{PATH}?attempt={page.query['attempt']}", data={"do": "go", "token": token}, base_url=thief.home
    )
    assert posted.status_code in (403, 410)
    assert "session" not in str(thief.cookies("session"))
    assert page.press("Continue").address.endswith("/profile")


def test_phones_question_is_bound_to_its_browser_and_account(
    world: World, desktop: Visitor, phone: Visitor, new_visitor_at: NewVisitorAt
) -> None:
    page, bob = shown(desktop), world.person("bob@example.com")
    question = phone.open(path_on(page))
    assert new_visitor_at(world).open(question.address).status == 410
    token = new_visitor_at(world).open("/login").form("Sign in").fields["token"]
    assert question.press("Approve", number=number_on(page), token=token).status == 403
    stale = phone.open(question.address)
    question.press("Not you?")
    signed_in(phone, bob)
    again = stale.press("Approve", number=number_on(page))
    assert bob.email in again.text, "the page asked Ada"
    assert state_of(page) == "opened"


def test_signed_out_phone_approved_nothing(desktop: Visitor, phone: Visitor) -> None:
    page = shown(desktop)
    approved(phone, page)
    phone.open("/logout").press("Sign out")
    assert page.press("Continue").heading == "Code expired"


@pytest.mark.parametrize("columns", [{"is_active": False}, {"login_disabled": True}], ids=["blocked", "disabled"])
def test_closed_account_does_not_sign_in(
    desktop: Visitor, phone: Visitor, ada: Person, columns: dict[str, bool]
) -> None:
    page = shown(desktop)
    approved(phone, page)
    ada.set_columns(**columns)
    assert page.press("Continue").heading == "Code expired"
    assert desktop.open("/profile").is_sign_in


def test_twenty_approvals_of_one_code_make_one(world: World, desktop: Visitor, phone: Visitor) -> None:
    page = shown(desktop)
    question = phone.open(path_on(page))
    answers = at_once([partial(tab.press, "Approve", number=number_on(page)) for tab in tabs(question, 20)])
    assert not [answer.status for answer in answers if answer.status >= 500]
    assert [row.event for row in rows(world, audit.c.event)].count("cross_device.approved") == 1


def test_twenty_collections_make_one_session(world: World, desktop: Visitor, phone: Visitor) -> None:
    page, before = shown(desktop), len(rows(world, sessions.c.session_id))
    approved(phone, page)
    answers = at_once([partial(tab.press, "Continue") for tab in tabs(page, 20)])
    assert not [answer.status for answer in answers if answer.status >= 500]
    assert len(rows(world, sessions.c.session_id)) == before + 1


def test_it_is_off_by_default(new_world: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    visitor = new_visitor_at(new_world())
    assert "Sign in with your phone" not in visitor.open("/login").text
    assert urlsplit(visitor.open(PATH).address).path == "/login"
    assert visitor.open("/q/x").status == 404


def test_signed_in_browser_goes_on(world: World, phone: Visitor) -> None:
    assert phone.open(PATH).address.endswith("/profile")
    page = phone.authorize(world.application("shop"))
    assert page.query["code"]


def test_sign_in_in_another_tab_continues_the_page(desktop: Visitor, ada: Person) -> None:
    page = shown(desktop)
    signed_in(desktop, ada)
    assert state_of(page) == "over"
    assert page.press("Continue").address.endswith("/profile")


def test_session_of_another_account_does_not_reload_the_page(
    world: World, desktop: Visitor, phone: Visitor, ada: Person
) -> None:
    signed_in(desktop, world.person("grace@example.com"))
    pass_time(world.services, seconds=10)
    page = desktop.authorize(world.application("shop"), login_hint=ada.email).follow("Sign in with your phone")
    assert state_of(page) == "waits"
    approved(phone, page)
    assert page.press("Continue").query["code"]


def test_codes_of_one_browser_are_limited(desktop: Visitor) -> None:
    page = shown(desktop)
    answers = [renew(page) for _ in range(16)]
    assert (answers[0].status, answers[-1].status) == (200, 429)


def renew(page: VisitedPage) -> VisitedPage:
    fields = {**page.form("Continue").fields, "do": "renew"}
    return page.visitor.send("POST", f"{page.visitor.home}{PATH}", fields)


@pytest.mark.parametrize("button", ["Approve", "Deny sign-in"])
def test_what_was_switched_off_meanwhile_has_a_page(
    world: World, desktop: Visitor, phone: Visitor, caplog: pytest.LogCaptureFixture, button: str
) -> None:
    page = shown(desktop)
    shown_page = phone.open(path_on(page))
    world.change_settings(qr_sign_on=False)
    refused = shown_page.press(button, number=number_on(page))
    assert (refused.status, refused.heading) == (404, "Page not found")
    assert "a page broke" not in caplog.text
