"""Text message, mail and security questions as second factors."""

from __future__ import annotations

import re
from typing import Any

import pytest
from sqlalchemy import insert, update

from app.identity.directory.accounts.tables import accounts, identifiers
from app.identity.platform.store.unit_of_work import UnitOfWork
from tests.support.accounts.mailbox import code_in, sent_messages
from tests.support.journeys.account_security import signed_in
from tests.support.journeys.second_factors import close_browser, sign_in
from tests.support.oauth.relying_party import Person
from tests.support.oauth.world import NewWorld, World
from tests.support.services.identity_service import pass_time
from tests.support.visitors.visitor import NewVisitorAt, VisitedPage, Visitor

QUESTIONS = {"pet": "Your first pet?", "city": "Where were you born?", "school": "Your first school?"}
NONE = {"totp": False, "email": False, "passkey": False}
NUMBER = "+44 20 7946 0123"


def world_with_factors(make: NewWorld, *kinds: str, **settings: Any) -> World:
    """Return a tenant that requires one of these factors."""
    switches = {**NONE, **dict.fromkeys(kinds, True)}
    defaults = {"two_factor": "required", "second_factors": switches, "security_questions": QUESTIONS}
    return make(**{**defaults, **settings})


def sent_codes(tenant: World, kind: str = "sms") -> list[dict[str, Any]]:
    """Return the texts or mails that carry a sign-in code."""
    messages = sent_messages(tenant.services, tenant.tenant_id, kind)
    return [message for message in messages if re.search(r"verification code", message["text"], re.IGNORECASE)]


def enrol_number(visitor: Visitor, tenant: World, ada: Person) -> VisitedPage:
    page = sign_in(visitor, tenant, ada)
    return page.press("Send code", target=NUMBER).press("Verify", code=code_in(sent_codes(tenant)[-1]))


@pytest.fixture
def visitor_at(new_visitor_at: NewVisitorAt) -> Any:
    return new_visitor_at


def test_phone_number_is_enrolled_and_then_asked(new_world: NewWorld, visitor_at: Any) -> None:
    tenant = world_with_factors(new_world, "sms")
    ada, browser = tenant.person("ada@example.com"), visitor_at(tenant)
    page = sign_in(browser, tenant, ada)
    assert page.heading == "Protect your account"
    wrong = page.press("Send code", target="12")
    assert (wrong.status, "like +1 202 555 0123" in wrong.text) == (400, True)
    typed = wrong.press("Send code", target=NUMBER)
    assert "texted to ***********23" in typed.text
    codes_page = typed.press("Verify", code=code_in(sent_codes(tenant)[-1]))
    assert codes_page.heading == "Save your backup codes"
    pass_time(tenant.services, seconds=30)
    page = sign_in(visitor_at(tenant), tenant, ada)
    assert (page.heading, len(sent_codes(tenant))) == ("Two-step verification", 2), "the code is sent without a click"
    assert page.press("Verify", code=code_in(sent_codes(tenant)[-1])).query["code"]


@pytest.mark.both_databases
def test_mistyped_number_is_corrected_without_waiting(new_world: NewWorld, visitor_at: Any) -> None:
    tenant = world_with_factors(new_world, "sms")
    ada = tenant.person("ada@example.com")
    page = sign_in(visitor_at(tenant), tenant, ada).press("Send code", target="+442079460999")
    again = page.press("Resend code")
    assert (again.status, len(sent_codes(tenant))) == (429, 1)
    corrected = again.press("Send code", target=NUMBER)
    assert corrected.press("Verify", code=code_in(sent_codes(tenant)[-2])).status == 403
    assert corrected.press("Verify", code=code_in(sent_codes(tenant)[-1])).heading == "Save your backup codes"


def test_repeated_sign_ins_send_one_code_per_cool_down(new_world: NewWorld, visitor_at: Any) -> None:
    tenant = world_with_factors(new_world, "sms")
    ada = tenant.person("ada@example.com")
    enrol_number(visitor_at(tenant), tenant, ada)
    pages = [sign_in(visitor_at(tenant), tenant, ada) for _ in range(3)]
    assert len(sent_codes(tenant)) == 2
    assert {"You can resend it in" in page.text for page in pages} == {True}
    assert pages[-1].press("Verify", code=code_in(sent_codes(tenant)[-1])).query["code"]


@pytest.mark.both_databases
def test_message_limit_leaves_the_other_factors(new_world: NewWorld, visitor_at: Any) -> None:
    tenant = world_with_factors(new_world, "sms", sending={"sms": {"amount": 1, "minutes": 60}})
    ada = tenant.person("ada@example.com")
    codes = enrol_number(visitor_at(tenant), tenant, ada)
    codes.press("I’ve saved them")
    pass_time(tenant.services, seconds=31)
    page = sign_in(visitor_at(tenant), tenant, ada)
    assert (page.status, page.heading, len(sent_codes(tenant))) == (200, "Two-step verification", 1)
    limited = page.press("Send code")
    assert "Too many messages" in limited.text
    codes_page = limited.follow("Try another way").press("Backup code")
    code = re.findall(r"<code>([0-9a-f]{5}-[0-9a-f]{5})</code>", codes.html)[0]
    assert codes_page.press("Verify", backup_code=code).query["code"]


def test_mailed_code_is_enrolled_and_then_asked(new_world: NewWorld, visitor_at: Any) -> None:
    tenant = world_with_factors(new_world, "email", "totp")
    ada = tenant.person("ada@example.com")
    page = sign_in(visitor_at(tenant), tenant, ada).press("Email")
    assert "sent to a•a@example.com" in page.text
    assert "ada@example.com" not in page.html.split("</h1>")[1].split("<footer")[0]
    assert page.press("Verify", code=code_in(sent_codes(tenant, "mail")[-1])).heading == "Save your backup codes"
    pass_time(tenant.services, seconds=31)
    again = sign_in(visitor_at(tenant), tenant, ada)
    wrong = again.press("Verify", code="000000")
    assert (wrong.status, "Wrong or expired code" in wrong.text) == (403, True)
    assert wrong.press("Verify", code=code_in(sent_codes(tenant, "mail")[-1])).query["code"]


@pytest.mark.parametrize(("name", "shown"), [("ada@example.com", "ada@example.com"), ("ada", "a•a@example.com")])
def test_choice_masks_an_email_that_was_not_typed(new_world: NewWorld, visitor_at: Any, name: str, shown: str) -> None:
    tenant = world_with_factors(new_world, "email", "totp", email_login=True, username_login=True)
    ada, shop = tenant.person("ada@example.com"), tenant.application("shop")
    known = {"tenant_id": tenant.tenant_id, "kind": "username", "value": "ada", "uid": ada.uid, "is_verified": True}
    where = (accounts.c.tenant_id == tenant.tenant_id, accounts.c.uid == ada.uid)
    with UnitOfWork(tenant.services.database, tenant.tenant_id).separate_transaction() as work:
        work.run(update(accounts).where(*where).values(username="ada"))
        work.run(insert(identifiers), known)
    enrolled = sign_in(visitor_at(tenant), tenant, ada).press("Email")
    enrolled.press("Verify", code=code_in(sent_codes(tenant, "mail")[-1])).press("I’ve saved them")
    page = visitor_at(tenant).authorize(shop).press("Sign in", identifier=name, password=ada.password)
    assert f"Code to \u2066{shown}\u2069" in page.follow("Try another way").text


@pytest.mark.parametrize("chosen", ["a•a@example.com", "l••••••e@example.org"])
def test_chosen_email_gets_the_code(new_world: NewWorld, visitor_at: Any, chosen: str) -> None:
    tenant = world_with_factors(new_world, "email", "totp")
    ada, addresses = tenant.person("ada@example.com"), ("ada@example.com", "lovelace@example.org")
    emails = [{"Type": "Primary", "Value": address, "verified": True} for address in addresses]
    where = (accounts.c.tenant_id == tenant.tenant_id, accounts.c.uid == ada.uid)
    with UnitOfWork(tenant.services.database, tenant.tenant_id).separate_transaction() as work:
        work.run(update(accounts).where(*where).values(emails=emails))
    page = sign_in(visitor_at(tenant), tenant, ada).press("Email").press(chosen)
    assert f"sent to {chosen}" in page.text
    assert [mail["to"] for mail in sent_codes(tenant, "mail")] == [addresses[chosen[0] == "l"]]


def test_security_questions_are_enrolled_and_then_asked(new_world: NewWorld, visitor_at: Any) -> None:
    tenant = world_with_factors(new_world, "security_questions")
    ada, browser = tenant.person("ada@example.com"), visitor_at(tenant)
    page = sign_in(browser, tenant, ada)
    incomplete = page.press("Continue", **{"answer.pet": "Grey Owl"})
    assert (incomplete.status, "Not enough answers" in incomplete.text) == (403, True)
    answers = {"answer.pet": "Grey Owl", "answer.city": "Zürich"}
    assert incomplete.press("Continue", **answers).heading == "Save your backup codes"
    close_browser(browser)
    requested = sign_in(browser, tenant, ada)
    assert "Your first school?" not in requested.text
    wrong = requested.press("Continue", **{**answers, "answer.city": "Bern"})
    assert (wrong.status, "Wrong answer." in wrong.text) == (403, True)
    assert "Bern" not in wrong.html
    assert wrong.press("Continue", **{"answer.pet": " grey  OWL", "answer.city": "zürich"}).query["code"]


def test_number_and_answers_are_added_while_signed_in(new_world: NewWorld, visitor_at: Any) -> None:
    tenant = world_with_factors(new_world, "sms", "security_questions", two_factor="optional")
    ada, browser = tenant.person("ada@example.com"), visitor_at(tenant)
    page = signed_in(browser, ada).press("Text message")
    wrong = page.press("Send code", target="12")
    assert "like +1 202 555 0123" in wrong.text
    typed = wrong.press("Send code", target=NUMBER)
    assert "texted to ***********23" in typed.text
    assert typed.press("Verify", code=code_in(sent_codes(tenant)[-1])).heading == "Save your backup codes"
    chosen = browser.open("/second-factors").press("Security questions")
    saved = chosen.press("Continue", **{"answer.pet": "Grey Owl", "answer.school": "Hill"})
    assert saved.status == 200
    assert "Text message Default" in browser.open("/second-factors").text, "sign-in asks for it first"
    close_browser(browser)
    question_page = sign_in(browser, tenant, ada).follow("Try another way").press("Security questions")
    assert question_page.press("Continue", **{"answer.pet": "grey owl", "answer.school": "hill"}).query["code"]
