"""Sign-in by a phone: one browser shows a QR code, a phone's browser approves it (decisions/0241)."""

from __future__ import annotations

import re
from functools import partial
from typing import Any
from urllib.parse import urlsplit

import pytest
from sqlalchemy import select

from app.hub.parts.qr_codes import qr_code
from app.identity.authentication.sign_in.tables import sessions
from app.identity.platform.audit import audit
from app.identity.platform.store.unit import UnitOfWork
from tests.api.test_risks import CHROME
from tests.pages.test_second_factor import close_browser, code_now, enrol_totp, sign_in
from tests.support.oauth_world import NewWorld, World
from tests.support.races import at_once, tabs
from tests.support.relying_party import Person, claims_in
from tests.support.visitor import NewVisitorAt, VisitedPage, Visitor

FREE = {"sign_in_per_minute_per_address": 0}
PATH = "/sign-in/phone"


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


def signed_in(visitor: Visitor, person: Person) -> Visitor:
    visitor.open("/login").press("Sign in", identifier=person.email, password=person.password)
    return visitor


def shown(visitor: Visitor) -> VisitedPage:
    page = visitor.open("/login").follow("Sign in with your phone")
    assert page.heading == "Sign in with your phone", page.text
    return page


def link_on(page: VisitedPage) -> str:
    return page.html.partition('class="key" dir="ltr" translate="no">')[2].partition("<")[0]


def path_on(page: VisitedPage) -> str:
    return urlsplit(link_on(page)).path


def number_on(page: VisitedPage) -> str:
    found = re.search(r'<(?:strong|p class="number") dir="ltr">(\d\d)<', page.html)
    assert found is not None, page.html
    return found[1]


def wrong(number: str) -> str:
    return "10" if number != "10" else "11"


def state_of(page: VisitedPage) -> str:
    return page.visitor.open(f"{PATH}/state?attempt={page.query['attempt']}").html


def approved(phone: Visitor, page: VisitedPage) -> VisitedPage:
    return phone.open(path_on(page)).press("Approve", number=number_on(page))


def rows(world: World, *columns: Any) -> list[Any]:
    with UnitOfWork(world.services.database, world.tenant_id).separate_transaction() as work:
        table = columns[0].table
        return list(work.all(select(*columns).where(table.c.tenant_id == world.tenant_id)))


def newest_session(world: World) -> Any:
    table = sessions.c
    return max(rows(world, *table), key=lambda row: row.created_at)


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
    assert (opened.heading, number_on(opened)) == ("Continue on your phone", number_on(page))
    assert question.press("Approve", number=number_on(page)).heading == "Approved"
    assert state_of(page) == "approved"
    assert opened.press("Continue").query["code"]
    assert {"cross_device.begun", "cross_device.opened", "cross_device.approved", "cross_device.signed_in"} <= {
        row.event for row in rows(world, audit.c.event)
    }


def test_page_continues_by_itself_without_a_script(desktop: Visitor, phone: Visitor, ada: Person) -> None:
    page = shown(desktop)
    reload = re.search(r'<noscript><meta http-equiv="refresh" content="5; url=([^"]+)"></noscript>', page.html)
    assert reload is not None
    assert desktop.open(reload[1]).heading == "Sign in with your phone"
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
    world.services.clock.advance(seconds=240)  # type: ignore[attr-defined]  # a test clock
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
    assert (empty.status, "Enter the number shown next to the QR code." in empty.text) == (422, True)
    refused = question.press("Approve", number=wrong(number_on(page)))
    assert (refused.status, "Wrong number." in refused.text) == (403, True)
    assert refused.form("Approve").fields["number"] == wrong(number_on(page))
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
    assert question.press("Not me").heading == "Denied"
    assert "Approve" not in question.press("Approve", number=number_on(page)).html.partition("<main")[2]
    assert phone.open(path_on(page)).heading == "Denied"
    assert state_of(page) == "denied"
    denied = page.press("Continue")
    assert denied.heading == "Request denied"
    assert "refresh" not in denied.html
    renewed = denied.press("Get new code")
    assert renewed.heading == "Sign in with your phone"
    assert link_on(renewed) != link_on(page)
    assert "cross_device.denied" in {row.event for row in rows(world, audit.c.event)}


def test_expired_code_is_renewed_by_one_button(world: World, desktop: Visitor, phone: Visitor, ada: Person) -> None:
    page = shown(desktop)
    world.services.clock.advance(seconds=121)  # type: ignore[attr-defined]  # as above
    assert phone.open(path_on(page)).heading == "Code expired"
    assert state_of(page) == "expired"
    expired = desktop.open(page.address)
    assert expired.heading == "Code expired"
    renewed = expired.press("Get new code")
    approved(phone, renewed)
    assert renewed.press("Continue").address.endswith("/profile")


def test_approval_that_is_not_collected_in_time_ends(world: World, desktop: Visitor, phone: Visitor) -> None:
    page = shown(desktop)
    approved(phone, page)
    world.services.clock.advance(seconds=301)  # type: ignore[attr-defined]  # as above
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


def test_session_is_no_more_than_the_phones(world: World, desktop: Visitor, phone: Visitor) -> None:
    before = newest_session(world)
    world.services.clock.advance(minutes=40)  # type: ignore[attr-defined]  # as above
    page = shown(desktop)
    approved(phone, page)
    page.press("Continue")
    taken = newest_session(world)
    assert taken.session_id != before.session_id
    authenticated_at = before.authenticated_at.replace(microsecond=0)
    assert (taken.authenticated_at, taken.methods) == (authenticated_at, before.methods)
    assert taken.expires_at <= before.expires_at
    assert not taken.is_remembered


def test_claims_have_the_phones_time_of_authentication(world: World, desktop: Visitor, phone: Visitor) -> None:
    shop = world.application("shop")
    at = int(newest_session(world).authenticated_at.timestamp())
    world.services.clock.advance(minutes=30)  # type: ignore[attr-defined]  # as above
    page = desktop.authorize(shop).follow("Sign in with your phone")
    approved(phone, page)
    answer = shop.redeem(page.press("Continue").query["code"]).json or {}
    claims = claims_in(answer["id_token"])
    assert (claims["auth_time"], claims["amr"]) == (at, ["pwd"])
    assert claims.get("acr") != "2"


@pytest.mark.parametrize("asked", [{"prompt": "login"}, {"max_age": "60"}], ids=["prompt=login", "max_age"])
def test_application_that_asks_for_a_new_sign_in_gets_one(
    world: World, desktop: Visitor, phone: Visitor, ada: Person, asked: dict[str, str]
) -> None:
    shop = world.application("shop")
    world.services.clock.advance(minutes=30)  # type: ignore[attr-defined]  # as above
    page = desktop.authorize(shop, **asked).follow("Sign in with your phone")
    approved(phone, page)
    again = page.press("Continue")
    assert again.heading == "Confirm it’s you"
    assert again.press("Continue", password=ada.password).query["code"]


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
    assert desktop.open("/profile").heading == "Welcome back"


def with_totp(new_world: NewWorld, new_visitor_at: NewVisitorAt) -> tuple[World, Person, Any, Visitor]:
    """Return a tenant that requires two steps, a person, their authenticator app, and their phone, signed in by both."""
    tenant = new_world(qr_sign_on=True, two_factor="required", second_factors={"email": False, "passkey": False})
    person, phone = tenant.person("ada@example.com"), new_visitor_at(tenant)
    app, _ = enrol_totp(phone, tenant, person)
    later(tenant, seconds=30)
    return tenant, person, app, phone


def later(world: World, **by: float) -> None:
    world.services.clock.advance(**by)  # type: ignore[attr-defined]  # a test clock


def test_second_factor_of_the_phone_counts(new_world: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    tenant, _, _, phone = with_totp(new_world, new_visitor_at)
    shop = tenant.application("shop")
    page = new_visitor_at(tenant).authorize(shop).follow("Sign in with your phone")
    approved(phone, page)
    answer = shop.redeem(page.press("Continue").query["code"]).json or {}
    claims = claims_in(answer["id_token"])
    assert ("mfa" in claims["amr"], claims["acr"]) == (True, "2")


def test_second_factor_is_asked_if_the_phone_was_not(new_world: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    """The phone was trusted, so its session passed the password alone. The time of authentication stays the phone's."""
    tenant, person, app, phone = with_totp(new_world, new_visitor_at)
    close_browser(phone)
    sign_in(phone, tenant, person).press("Verify", code=code_now(tenant, app), trust="y")
    close_browser(phone)
    assert sign_in(phone, tenant, person).query["code"]
    trusted = newest_session(tenant)
    assert trusted.methods == ["pwd"]
    later(tenant, minutes=30)
    page = shown(new_visitor_at(tenant))
    approved(phone, page)
    asked = page.press("Continue")
    assert asked.heading == "Two-step verification"
    assert asked.press("Verify", code=code_now(tenant, app)).address.endswith("/profile")
    taken = newest_session(tenant)
    assert {"pwd", "mfa"} <= set(taken.methods)
    assert taken.authenticated_at == trusted.authenticated_at.replace(microsecond=0)
    assert taken.expires_at <= trusted.expires_at


def test_no_factor_is_enrolled_by_an_approval(new_world: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    tenant = new_world(qr_sign_on=True)
    ada = tenant.person("ada@example.com")
    phone, page = signed_in(new_visitor_at(tenant), ada), shown(new_visitor_at(tenant))
    approved(phone, page)
    tenant.change_settings(two_factor="required")
    login = page.press("Continue")
    assert (login.heading, "Your account needs one more step" in login.text) == ("Welcome back", True)
    assert len(rows(tenant, sessions.c.session_id)) == 1


def test_new_origin_demands_a_factor_whatever_the_phone_passed(
    new_world: NewWorld, new_visitor_at: NewVisitorAt
) -> None:
    tenant, _, app, phone = with_totp(new_world, new_visitor_at)
    tenant.change_settings(risk={"browser": "demand"})
    person = tenant.person("bob@example.com")
    phone = new_visitor_at(tenant)
    app, _ = enrol_totp(phone, tenant, person)
    later(tenant, seconds=30)
    desktop = new_visitor_at(tenant)
    desktop.agent = CHROME
    page = shown(desktop)
    approved(phone, page)
    asked = page.press("Continue")
    assert "You haven’t signed in from here before." in asked.text
    assert asked.press("Verify", code=code_now(tenant, app)).address.endswith("/profile")


def test_refused_origin_is_refused(new_world: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    tenant = new_world(qr_sign_on=True, risk={"browser": "refuse"})
    phone = signed_in(new_visitor_at(tenant), tenant.person("ada@example.com"))
    desktop = new_visitor_at(tenant)
    desktop.agent = CHROME
    page = shown(desktop)
    approved(phone, page)
    assert page.press("Continue").status == 403
    assert len(rows(tenant, sessions.c.session_id)) == 1


def test_expired_password_is_typed_where_it_is_replaced(new_world: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    tenant = new_world(qr_sign_on=True, password_policy={"expiry_days": 30})
    ada = tenant.person("ada@example.com")
    tenant.set_password_age(ada, days=1)
    phone, page = signed_in(new_visitor_at(tenant), ada), shown(new_visitor_at(tenant))
    tenant.set_password_age(ada, days=40)
    approved(phone, page)
    assert "Your account needs one more step" in page.press("Continue").text
    assert len(rows(tenant, sessions.c.session_id)) == 1


def test_session_limit_counts(world: World, desktop: Visitor, phone: Visitor, ada: Person) -> None:
    page = shown(desktop)
    approved(phone, page)
    ada.set_columns(session_limit=1)
    refused = page.press("Continue")
    assert refused.status >= 400
    assert len(rows(world, sessions.c.session_id)) == 1


def test_passkey_is_not_offered_after_an_approval(new_world: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    tenant = new_world(qr_sign_on=True, passkeys=True, passkey_settings={"progressive_enrollment": True})
    ada, phone = tenant.person("ada@example.com"), new_visitor_at(tenant)
    shop = tenant.application("shop")
    offered = phone.authorize(shop).press("Sign in", identifier=ada.email, password=ada.password)
    assert urlsplit(offered.address).path == "/passkeys/offer", "a sign-in by password offers one"
    page = new_visitor_at(tenant).authorize(shop).follow("Sign in with your phone")
    approved(phone, page)
    assert page.press("Continue").query["code"]


def test_twenty_approvals_of_one_code_make_one(world: World, desktop: Visitor, phone: Visitor) -> None:
    page = shown(desktop)
    question = phone.open(path_on(page))
    answers = at_once([partial(tab.press, "Approve", number=number_on(page)) for tab in tabs(question, 20)])
    assert not [one.status for one in answers if one.status >= 500]
    assert [row.event for row in rows(world, audit.c.event)].count("cross_device.approved") == 1


def test_twenty_collections_make_one_session(world: World, desktop: Visitor, phone: Visitor) -> None:
    page, before = shown(desktop), len(rows(world, sessions.c.session_id))
    approved(phone, page)
    answers = at_once([partial(tab.press, "Continue") for tab in tabs(page, 20)])
    assert not [one.status for one in answers if one.status >= 500]
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


def test_codes_of_one_browser_are_limited(desktop: Visitor) -> None:
    page = shown(desktop)
    answers = [renew(page) for _ in range(16)]
    assert (answers[0].status, answers[-1].status) == (200, 429)


def renew(page: VisitedPage) -> VisitedPage:
    fields = {**page.form("Continue").fields, "do": "renew"}
    return page.visitor.send("POST", f"{page.visitor.home}{PATH}", fields)
