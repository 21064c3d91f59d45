"""PIN reset on the hosted pages, by mail, text message and security questions."""

from __future__ import annotations

import json

import pytest
from sqlalchemy import insert, select

from app.identity.directory.accounts.tables import accounts, identifiers
from app.identity.platform.store.unit_of_work import UnitOfWork
from tests.support.accounts.mailbox import code_in, link_in, mails_to, sent_messages
from tests.support.oauth.relying_party import Person
from tests.support.oauth.world import NewWorld, World
from tests.support.visitors.visitor import NewVisitorAt, VisitedPage, Visitor

pytestmark = pytest.mark.parametrize("services", ["sqlite"], indirect=True)  # tests/api covers both databases
PIN, OTHER = "270486", "905142"
NUMBER = "+442079460123"
QUESTIONS = {"pet": "What was the name of your first pet?", "town": "In which town did you grow up?"}


@pytest.fixture
def tenant(new_world: NewWorld) -> World:
    return new_world(
        pin={"is_on": True}, username_login=True, email_login=True, phone_login=True, security_questions=QUESTIONS
    )


@pytest.fixture
def visitor(tenant: World, new_visitor_at: NewVisitorAt) -> Visitor:
    browser: Visitor = new_visitor_at(tenant)
    return browser


@pytest.fixture
def ada(tenant: World, visitor: Visitor) -> Person:
    """Return a signed-out person who has a PIN."""
    ada = tenant.person("ada@example.com")
    visitor.open("/pin").press("Sign in", identifier=ada.email, password=ada.password)
    visitor.open("/pin").press("Save PIN", pin=PIN)
    visitor.open("/security-questions").press("Save", answer_0="Rex", answer_1="Graz")
    visitor.forget("session")
    return ada


def stored_pin(ada: Person) -> str:
    """Return the stored PIN of the account, as JSON."""
    with UnitOfWork(ada.services.database, ada.tenant_id).separate_transaction() as work:
        query = select(accounts.c.private).where(accounts.c.tenant_id == ada.tenant_id, accounts.c.uid == ada.uid)
        return json.dumps(work.run(query).scalar_one()["pin"])


def add_number(ada: Person) -> None:
    ada.set_columns(phone=NUMBER, phone_verified=True)
    identifier = {"tenant_id": ada.tenant_id, "kind": "phone", "value": NUMBER, "uid": ada.uid, "is_verified": True}
    with UnitOfWork(ada.services.database, ada.tenant_id).separate_transaction() as work:
        work.run(insert(identifiers), identifier)


def request_reset(visitor: Visitor, name: str) -> VisitedPage:
    return visitor.open("/forgot-pin").press("Continue", identifier=name)


@pytest.mark.parametrize("by", ["code", "link"])
def test_mail_resets_the_pin(tenant: World, visitor: Visitor, ada: Person, by: str) -> None:
    before = stored_pin(ada)
    page = request_reset(visitor, ada.email)
    assert "If ada@example.com has a PIN" in page.text
    mail = mails_to(tenant.services, tenant.tenant_id, ada.email)[-1]
    if by == "code":
        assert page.press("Verify", code="000000").status == 403
        page = page.press("Verify", code=code_in(mail))
    else:
        page = visitor.open(link_in(mail)[len(visitor.home) :])
    assert page.heading == "Reset PIN"
    refused = page.press("Save PIN", pin="1111")
    assert (refused.status, refused.heading) == (400, "Reset PIN")
    assert refused.press("Save PIN", pin=OTHER).heading == "Your PIN was changed"
    assert stored_pin(ada) != before
    assert visitor.open("/security").heading != "Security", "a PIN reset signs no account in"


def test_text_message_resets_the_pin(tenant: World, visitor: Visitor, ada: Person) -> None:
    add_number(ada)
    page = request_reset(visitor, NUMBER)
    assert page.heading == "Check your phone"
    page = page.press("Verify", code=code_in(sent_messages(tenant.services, tenant.tenant_id, "sms")[-1]))
    assert page.press("Save PIN", pin=OTHER).heading == "Your PIN was changed"


def test_account_without_pin_gets_no_mail_and_same_page(tenant: World, visitor: Visitor, ada: Person) -> None:
    grace = tenant.person("grace@example.com")
    page = request_reset(visitor, grace.email)
    assert page.comparable_text(grace.email) == request_reset(visitor, ada.email).comparable_text(ada.email)
    assert not mails_to(tenant.services, tenant.tenant_id, grace.email)


def test_security_answers_reset_the_pin(tenant: World, visitor: Visitor, ada: Person) -> None:
    before = stored_pin(ada)
    page = visitor.open("/forgot-pin").follow("Answer security questions instead")
    wrong = {"identifier": ada.email, "answer_0": "Rex", "answer_1": "", "pin": OTHER}
    refused_pages = [
        page.press("Save PIN", **{**wrong, **change}) for change in ({}, {"answer_1": "Wien"}, {"identifier": "eve"})
    ]
    assert len({(page_shown.status, page_shown.text.replace("eve", ada.email)) for page_shown in refused_pages}) == 1
    assert stored_pin(ada) == before
    assert page.press("Save PIN", **{**wrong, "answer_1": "graz"}).heading == "Your PIN was changed"
    assert stored_pin(ada) != before


def test_invalid_link_offers_a_new_one(visitor: Visitor, ada: Person) -> None:
    page = visitor.open("/reset-pin?vtoken=unknown").follow("Request new link")
    assert page.heading == "Forgot PIN?"
    assert visitor.open("/reset-pin").heading == "Forgot PIN?"


@pytest.mark.parametrize("address", ["/forgot-pin", "/forgot-pin/questions"])
def test_tenant_without_pins_redirects_to_login(
    new_world: NewWorld, new_visitor_at: NewVisitorAt, address: str
) -> None:
    visitor: Visitor = new_visitor_at(new_world())
    assert visitor.open(address).is_sign_in
