"""A forgotten PIN on our pages: by mail, by text message, by answers; and what it does not open."""

from __future__ import annotations

import json

import pytest
from sqlalchemy import insert, select

from app.identity.directory.accounts.tables import accounts, identifiers
from app.identity.platform.store.unit import UnitOfWork
from tests.support.mailbox import code_in, link_in, mails_to, sent_messages
from tests.support.oauth_world import NewWorld, World
from tests.support.relying_party import Person
from tests.support.visitor import NewVisitorAt, Seen, Visitor

pytestmark = pytest.mark.parametrize("services", ["sqlite"], indirect=True)  # the store is asked in tests/api
PIN, OTHER = "270486", "905142"
NUMBER = "+442079460123"
QUESTIONS = {"pet": "What was the name of your first pet?", "town": "In which town did you grow up?"}


@pytest.fixture
def there(new_world: NewWorld) -> World:
    return new_world(
        pin={"is_on": True}, username_login=True, email_login=True, phone_login=True, security_questions=QUESTIONS
    )


@pytest.fixture
def visitor(there: World, new_visitor_at: NewVisitorAt) -> Visitor:
    someone: Visitor = new_visitor_at(there)
    return someone


@pytest.fixture
def ada(there: World, visitor: Visitor) -> Person:
    """Somebody with a PIN, who is not here any more."""
    ada = there.person("ada@example.com")
    visitor.open("/pin").press("Sign in", identifier=ada.email, password=ada.password)
    visitor.open("/pin").press("Save the PIN", pin=PIN)
    visitor.open("/security-questions").press("Save", answer_0="Rex", answer_1="Graz")
    visitor.forget("session")
    return ada


def kept(ada: Person) -> str:
    """What the account holds of its PIN."""
    with UnitOfWork(ada.services.database, ada.tenant_id).apart() as work:
        held = select(accounts.c.private).where(accounts.c.tenant_id == ada.tenant_id, accounts.c.uid == ada.uid)
        return json.dumps(work.run(held).scalar_one()["pin"])


def has_number(ada: Person) -> None:
    ada.lives(phone=NUMBER, phone_verified=True)
    known = {"tenant_id": ada.tenant_id, "kind": "phone", "value": NUMBER, "uid": ada.uid, "is_verified": True}
    with UnitOfWork(ada.services.database, ada.tenant_id).apart() as work:
        work.run(insert(identifiers), known)


def asks(visitor: Visitor, name: str) -> Seen:
    return visitor.open("/forgot-pin").press("Send it", identifier=name)


@pytest.mark.parametrize("by", ["code", "link"])
def test_a_mail_sets_a_new_one(there: World, visitor: Visitor, ada: Person, by: str) -> None:
    before = kept(ada)
    page = asks(visitor, ada.email)
    assert "If ada@example.com has a PIN here" in page.text
    mail = mails_to(there.services, there.tenant_id, ada.email)[-1]
    if by == "code":
        assert page.press("Continue", code="000000").status == 403
        page = page.press("Continue", code=code_in(mail))
    else:
        page = visitor.open(link_in(mail)[len(visitor.home) :])
    assert page.heading == "Set a new PIN"
    refused = page.press("Save the PIN", pin="1111")
    assert (refused.status, refused.heading) == (400, "Set a new PIN")
    assert refused.press("Save the PIN", pin=OTHER).heading == "Your PIN is new"
    assert kept(ada) != before
    assert visitor.open("/security").heading != "Security", "nobody is signed in by it"


def test_a_text_message_sets_a_new_one(there: World, visitor: Visitor, ada: Person) -> None:
    has_number(ada)
    page = asks(visitor, NUMBER)
    assert page.heading == "Check your phone"
    page = page.press("Continue", code=code_in(sent_messages(there.services, there.tenant_id, "sms")[-1]))
    assert page.press("Save the PIN", pin=OTHER).heading == "Your PIN is new"


def test_whoever_has_none_is_sent_none_and_told_the_same(there: World, visitor: Visitor, ada: Person) -> None:
    grace = there.person("grace@example.com")
    page = asks(visitor, grace.email)
    assert page.says(grace.email) == asks(visitor, ada.email).says(ada.email)
    assert not mails_to(there.services, there.tenant_id, grace.email)


def test_answers_set_a_new_one(there: World, visitor: Visitor, ada: Person) -> None:
    before = kept(ada)
    page = visitor.open("/forgot-pin").follow("Answer your security questions instead")
    wrong = {"identifier": ada.email, "answer_0": "Rex", "answer_1": "", "pin": OTHER}
    said = [page.press("Save the PIN", **{**wrong, **one}) for one in ({}, {"answer_1": "Wien"}, {"identifier": "eve"})]
    assert len({(one.status, one.text.replace("eve", ada.email)) for one in said}) == 1
    assert kept(ada) == before
    assert page.press("Save the PIN", **{**wrong, "answer_1": "graz"}).heading == "Your PIN is new"
    assert kept(ada) != before


def test_a_link_that_is_over_leads_to_another_one(visitor: Visitor, ada: Person) -> None:
    page = visitor.open("/reset-pin?vtoken=unknown").follow("Have a new link sent")
    assert page.heading == "Forgot your PIN?"
    assert visitor.open("/reset-pin").heading == "Forgot your PIN?"


@pytest.mark.parametrize("address", ["/forgot-pin", "/forgot-pin/questions"])
def test_a_tenant_without_pins_has_none_to_forget(
    new_world: NewWorld, new_visitor_at: NewVisitorAt, address: str
) -> None:
    visitor: Visitor = new_visitor_at(new_world())
    assert visitor.open(address).heading == "Welcome back"
