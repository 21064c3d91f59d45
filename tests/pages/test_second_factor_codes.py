"""Codes that are sent and questions that are asked, as second factors on our pages."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.pages.test_own_factors import signed_in
from tests.pages.test_second_factor import forgets, signs_in
from tests.support.mailbox import code_in, sent_messages
from tests.support.oauth_world import NewWorld, World
from tests.support.people import Person
from tests.support.visitor import NewVisitorAt, Seen, Visitor

QUESTIONS = {"pet": "Your first pet?", "city": "Where were you born?", "school": "Your first school?"}
NONE = {"totp": False, "email": False, "passkey": False}
NUMBER = "+44 20 7946 0123"


def a_world(make: NewWorld, *kinds: str, **settings: Any) -> World:
    """A tenant that wants one of these factors of everybody."""
    switches = {**NONE, **dict.fromkeys(kinds, True)}
    stated = {"two_factor": "required", "second_factors": switches, "security_questions": QUESTIONS}
    return make(**{**stated, **settings})


def sent(there: World, kind: str = "sms") -> list[dict[str, Any]]:
    """What was texted or mailed with a code to sign in."""
    held = sent_messages(there.services, there.tenant_id, kind)
    return [
        one for one in held if re.search(r"confirms that it is you|show that it is you", one["text"], re.IGNORECASE)
    ]


def enrols_number(visitor: Visitor, there: World, ada: Person) -> Seen:
    page = signs_in(visitor, there, ada)
    return page.press("Send code", target=NUMBER).press("Continue", code=code_in(sent(there)[-1]))


@pytest.fixture
def visitor_at(new_visitor_at: NewVisitorAt) -> Any:
    return new_visitor_at


def test_a_number_is_typed_proved_and_from_then_on_asked(new_world: NewWorld, visitor_at: Any) -> None:
    there = a_world(new_world, "sms")
    ada, someone = there.person("ada@example.com"), visitor_at(there)
    page = signs_in(someone, there, ada)
    assert page.heading == "Protect your account"
    wrong = page.press("Send code", target="12")
    assert (wrong.status, "such as +49 30 123456" in wrong.text) == (400, True)
    typed = wrong.press("Send code", target=NUMBER)
    assert "texted to ***********23" in typed.text
    paper = typed.press("Continue", code=code_in(sent(there)[-1]))
    assert paper.heading == "Backup codes"
    there.services.clock.advance(seconds=30)  # type: ignore[attr-defined]  # the tests' clock is moved by hand
    page = signs_in(visitor_at(there), there, ada)
    assert (page.heading, len(sent(there))) == ("Is it you?", 2), "the code is sent at once"
    assert page.press("Continue", code=code_in(sent(there)[-1])).query["code"]


def test_a_mistyped_number_is_put_right_without_waiting(new_world: NewWorld, visitor_at: Any) -> None:
    there = a_world(new_world, "sms")
    ada = there.person("ada@example.com")
    page = signs_in(visitor_at(there), there, ada).press("Send code", target="+442079460999")
    again = page.press("Send it again")
    assert (again.status, len(sent(there))) == (429, 1)
    right = again.press("Send code", target=NUMBER)
    assert right.press("Continue", code=code_in(sent(there)[-2])).status == 403
    assert right.press("Continue", code=code_in(sent(there)[-1])).heading == "Backup codes"


def test_however_often_sign_in_is_begun_one_code_is_sent_in_half_a_minute(new_world: NewWorld, visitor_at: Any) -> None:
    there = a_world(new_world, "sms")
    ada = there.person("ada@example.com")
    enrols_number(visitor_at(there), there, ada)
    pages = [signs_in(visitor_at(there), there, ada) for _ in range(3)]
    assert len(sent(there)) == 2
    assert {"You can have another one sent in" in page.text for page in pages} == {True}
    assert pages[-1].press("Continue", code=code_in(sent(there)[-1])).query["code"]


def test_where_no_message_may_be_sent_any_more_the_other_ways_are_there(new_world: NewWorld, visitor_at: Any) -> None:
    there = a_world(new_world, "sms", sending={"sms": {"amount": 1, "minutes": 60}})
    ada = there.person("ada@example.com")
    codes = enrols_number(visitor_at(there), there, ada).press("Show my backup codes")
    there.services.clock.advance(seconds=31)  # type: ignore[attr-defined]  # as above
    page = signs_in(visitor_at(there), there, ada)
    assert (page.status, page.heading, len(sent(there))) == (200, "Is it you?", 1)
    enough = page.press("Send code")
    assert "That is enough messages for now" in enough.text
    paper = enough.follow("Take another way").press("Backup code")
    code = re.findall(r"<code>([0-9a-f]{5}-[0-9a-f]{5})</code>", codes.html)[0]
    assert paper.press("Continue", backup_code=code).query["code"]


def test_codes_are_mailed_to_the_address_that_is_chosen(new_world: NewWorld, visitor_at: Any) -> None:
    there = a_world(new_world, "email", "totp")
    ada = there.person("ada@example.com")
    page = signs_in(visitor_at(there), there, ada).press("Email")
    assert "mailed to a*a@e*****e.c*m" in page.text
    assert "ada@example.com" not in page.html.split("</h1>")[1].split("<footer")[0]
    assert page.press("Continue", code=code_in(sent(there, "mail")[-1])).heading == "Backup codes"
    there.services.clock.advance(seconds=31)  # type: ignore[attr-defined]  # as above
    again = signs_in(visitor_at(there), there, ada)
    wrong = again.press("Continue", code="000000")
    assert (wrong.status, "That code did not work" in wrong.text) == (403, True)
    assert wrong.press("Continue", code=code_in(sent(there, "mail")[-1])).query["code"]


def test_questions_are_answered_as_they_were_chosen(new_world: NewWorld, visitor_at: Any) -> None:
    there = a_world(new_world, "security_questions")
    ada, someone = there.person("ada@example.com"), visitor_at(there)
    page = signs_in(someone, there, ada)
    few = page.press("Continue", **{"answer.pet": "Grey Owl"})
    assert (few.status, "Some answers are missing" in few.text) == (403, True)
    answers = {"answer.pet": "Grey Owl", "answer.city": "Zürich"}
    assert few.press("Continue", **answers).heading == "Backup codes"
    forgets(someone)
    asked = signs_in(someone, there, ada)
    assert "Your first school?" not in asked.text
    wrong = asked.press("Continue", **{**answers, "answer.city": "Bern"})
    assert (wrong.status, "Those answers did not work" in wrong.text) == (403, True)
    assert "Bern" not in wrong.html
    assert wrong.press("Continue", **{"answer.pet": " grey  OWL", "answer.city": "zürich"}).query["code"]


def test_a_number_and_answers_are_added_by_whoever_is_signed_in(new_world: NewWorld, visitor_at: Any) -> None:
    there = a_world(new_world, "sms", "security_questions", two_factor="optional")
    ada, someone = there.person("ada@example.com"), visitor_at(there)
    page = signed_in(someone, ada).press("Text message")
    wrong = page.press("Send code", target="12")
    assert "such as +49 30 123456" in wrong.text
    typed = wrong.press("Send code", target=NUMBER)
    assert "texted to ***********23" in typed.text
    assert typed.press("Continue", code=code_in(sent(there)[-1])).heading == "Backup codes"
    chosen = someone.open("/second-factors").press("Security questions")
    kept = chosen.press("Continue", **{"answer.pet": "Grey Owl", "answer.school": "Hill"})
    assert kept.status == 200
    forgets(someone)
    ways = signs_in(someone, there, ada).follow("Take another way").press("Security questions")
    assert ways.press("Continue", **{"answer.pet": "grey owl", "answer.school": "hill"}).query["code"]
