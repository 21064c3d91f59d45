"""Concurrent uses of one link or code: one wins, the others get a page that offers to continue."""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import Any

import pytest
from sqlalchemy import select

from app.identity.authentication.sign_in.tables import sessions
from app.identity.directory.accounts.tables import identifiers
from app.identity.platform.audit import audit
from app.identity.platform.store.unit_of_work import UnitOfWork
from tests.support.accounts.customers import NEW, a_customer
from tests.support.accounts.mailbox import code_in, mails_to, token_in
from tests.support.journeys.verification import PendingVerification, verification_mails
from tests.support.oauth.relying_party import claims_in
from tests.support.oauth.world import NewWorld, World
from tests.support.races import RACERS, at_once, tabs
from tests.support.tenants.tenant_server import NewTenantServer, answered, refused
from tests.support.visitors.people import leads_on
from tests.support.visitors.visitor import NewVisitorAt, VisitedPage, Visitor

pytestmark = pytest.mark.both_databases

EMAIL, PASSWORD = "/identity/v2/auth/email", "correct horse 7"
BY_SMS = "/identity/v2/auth/password/otp"
FREE = {
    "sign_in_per_minute_per_address": 0,
    "reset_per_minute_per_address": 0,
    "forgot_per_minute_per_address": 0,
    "email_codes_tried_per_day": 0,
}


@pytest.fixture
def world(new_world: NewWorld) -> World:
    return new_world(limits=FREE)


@pytest.fixture
def visitor(world: World, new_visitor_at: NewVisitorAt) -> Visitor:
    return new_visitor_at(world)


def rows(world: World, table: Any) -> list[Any]:
    work = UnitOfWork(world.services.database, world.tenant_id)
    try:
        return list(work.all(select(table).where(table.c.tenant_id == world.tenant_id)))
    finally:
        work.rollback()


def events(world: World, name: str) -> int:
    return sum(row.event == f"event.{name}" for row in rows(world, audit))


def assert_all_offer_next_step(pages: list[VisitedPage]) -> None:
    """Assert that every answer is the application's callback or a page with a link or form."""
    assert [(page.status, page.text) for page in pages if page.answer is not None and not leads_on(page)] == []
    assert {page.status for page in pages} <= {0, 200, 403, 410, 429}


def assert_one_account(world: World, pending: PendingVerification, pages: list[VisitedPage]) -> None:
    """Assert that every code belongs to this account and is redeemed once (decision 0070)."""
    assert {row.uid for row in rows(world, sessions)} == {pending.ada.uid}
    for code in [page.query["code"] for page in pages if pending.is_at_application(page)]:
        answers = at_once([partial(pending.shop.redeem, code)] * 2)
        redeemed = [answer for answer in answers if answer.status_code == 200]
        assert len(redeemed) <= 1
        assert [claims_in(answer.json["id_token"])["sub"] for answer in redeemed if answer.json] == [
            pending.ada.uid
        ] * len(redeemed)


def test_link_in_many_browsers_is_used_once(world: World, visitor: Visitor, new_visitor_at: NewVisitorAt) -> None:
    pending = PendingVerification(world, visitor)
    pages = [new_visitor_at(world).open(pending.link) for _ in range(RACERS)]
    pages = at_once([partial(page.press, "Verify") for page in pages])
    assert_all_offer_next_step(pages)
    assert events(world, "EmailVerification") == 1
    assert (
        sum(
            "welcome" in str(mail["subject"]).lower()
            for mail in mails_to(world.services, world.tenant_id, pending.ada.email)
        )
        <= 1
    )
    assert rows(world, sessions) == []
    assert pending.page.press("Continue").heading == "Email verified"


def test_link_that_signs_in_does_so_in_one_browser(new_world: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    world = new_world(limits=FREE, login_on_email_verification=True)
    pending = PendingVerification(world, new_visitor_at(world))
    pages = [new_visitor_at(world).open(pending.link) for _ in range(RACERS)]
    pages = at_once([partial(page.press, "Verify") for page in pages])
    assert_all_offer_next_step(pages)
    assert len(rows(world, sessions)) == 1
    assert sum(bool(page.visitor.cookies("session")) for page in pages) == 1


def test_link_in_many_tabs_is_used_once(world: World, visitor: Visitor) -> None:
    pending = PendingVerification(world, visitor)
    pages = at_once([partial(page.press, "Verify") for page in tabs(visitor.open(pending.link))])
    assert_all_offer_next_step(pages)
    assert events(world, "EmailVerification") == 1
    assert_one_account(world, pending, pages)


def test_code_in_many_tabs_is_used_once(world: World, visitor: Visitor) -> None:
    pending = PendingVerification(world, visitor)
    code = code_in(verification_mails(world)[-1])
    pages = at_once([partial(page.press, "Verify", code=code) for page in tabs(pending.page)])
    assert_all_offer_next_step(pages)
    assert events(world, "EmailVerification") == 1
    assert_one_account(world, pending, pages)


def test_link_and_code_of_one_mail_verify_once(world: World, visitor: Visitor) -> None:
    pending = PendingVerification(world, visitor)
    code = code_in(verification_mails(world)[-1])
    links, codes = tabs(visitor.open(pending.link), RACERS // 2), tabs(pending.page, RACERS // 2)
    acts = [partial(page.press, "Verify") for page in links]
    pages = at_once([*acts, *(partial(page.press, "Verify", code=code) for page in codes)])
    assert_all_offer_next_step(pages)
    assert events(world, "EmailVerification") == 1
    assert_one_account(world, pending, pages)


def test_code_of_a_new_address_is_used_once(world: World, visitor: Visitor) -> None:
    ada = world.person("ada@example.test")
    visitor.open("/login").press("Sign in", identifier=ada.email, password=PASSWORD)
    page = visitor.open("/emails/add").press("Send email", email="new@example.test")
    code = code_in(mails_to(world.services, world.tenant_id, "new@example.test")[-1])
    pages = at_once([partial(tab.press, "Verify", code=code) for tab in tabs(page)])
    assert_all_offer_next_step(pages)
    address_rows = [row for row in rows(world, identifiers) if row.value == "new@example.test"]
    assert [(row.uid, row.is_verified) for row in address_rows] == [(ada.uid, True)]
    assert sum(row.event == "email.added" for row in rows(world, audit)) == 1


def test_link_and_code_over_the_api_are_used_once(new_tenant_server: NewTenantServer) -> None:
    tenant = new_tenant_server(limits=FREE, email_verification_codes=True)
    for number, kind in enumerate(("link", "code", "either")):
        email = f"ada{number}@example.test"
        tenant.create(Email=[{"Type": "Primary", "Value": email}])
        ask = partial(tenant.send, with_secret=False)
        answered(ask("PUT", "/identity/v2/auth/register", {"email": email}))
        mail = mails_to(tenant.services, tenant.tenant_id, email)[-1]
        link = partial(ask, "GET", EMAIL, verificationtoken=token_in(mail))
        code = partial(ask, "PUT", EMAIL, {"email": email, "otp": code_in(mail)})
        acts = {"link": [link], "code": [code], "either": [link, code]}
        answers: Counter[tuple[int, Any]] = Counter(
            refused(answer) for answer in at_once(acts[kind] * (RACERS // len(acts[kind])))
        )
        assert answers[200, None] == 1
        assert {status for status, _ in answers} == {200, 403}
        assert kind == "either" or answers[403, 974] == (RACERS - 1 if kind == "link" else 0)


def test_texted_code_sets_one_password(new_tenant_server: NewTenantServer) -> None:
    customer = a_customer(new_tenant_server, phone_login=True)
    answered(customer.ask("POST", {"phone": customer.phone}, path=BY_SMS))
    code = customer.texted()
    answers = at_once(
        [
            partial(
                customer.ask, "PUT", {"phone": customer.phone, "otp": code, "password": f"{NEW}-{number}"}, path=BY_SMS
            )
            for number in range(RACERS)
        ]
    )
    winners = [number for number, answer in enumerate(answers) if answer.status_code == 200]
    assert len(winners) == 1
    assert {answer.status_code for answer in answers} == {200, 403}
    answered(customer.logs_in(f"{NEW}-{winners[0]}"))
