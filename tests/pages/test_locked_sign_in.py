"""Getting into a locked account on the page, without JavaScript; and what a stranger learns there, which is nothing."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import select, update

from app.hub.forms.captcha import question_text
from app.hub.locale import LANGUAGES, use_language
from app.identity.directory.accounts.tables import accounts
from app.identity.platform.store.unit import UnitOfWork
from tests.support.captchas import answer_to, asked_on, worked
from tests.support.identity_service import CHEAP
from tests.support.oauth_world import NewWorld, World
from tests.support.relying_party import Person
from tests.support.visitor import Seen, Visitor

PASSWORD = "correct horse 7"
MOST = 3
NO_LIMITS = {"sign_in_per_minute_per_address": 0, "sign_in_per_minute": 0, "captcha_question_per_minute_per_address": 0}
PET = {"pet": "What was the name of your first pet?", "town": "Where did you grow up?"}


@pytest.fixture
def locking(new_world: NewWorld, new_visitor_at: Callable[[World], Visitor]) -> Callable[..., tuple[World, Visitor]]:
    """A tenant that locks after three failures, and a visitor there."""

    def make(kind: str, **settings: Any) -> tuple[World, Visitor]:
        lockout = {"type": kind, "maximum_failed_attempts": MOST, "suspend_seconds": 600, **settings.pop("lockout", {})}
        limits = {**NO_LIMITS, **settings.pop("limits", {})}
        world = new_world(lockout=lockout, limits=limits, security_questions=PET, **settings)
        return world, new_visitor_at(world)

    return make


def locked_out(visitor: Visitor, email: str, times: int = MOST) -> Seen:
    """Type a wrong password as often as the tenant allows; the page after the last."""
    page = visitor.open("/login")
    for _ in range(times):
        page = page.press("Sign in", identifier=email, password="wrong")
    return page


def answers(world: World, person: Person, **given: str) -> None:
    """Let the person have answered security questions."""
    kept = {name: world.services.hashing.hash(text.casefold(), CHEAP) for name, text in given.items()}
    with UnitOfWork(world.services.database, world.tenant_id).apart() as work:
        where = (accounts.c.tenant_id == world.tenant_id, accounts.c.uid == person.uid)
        work.run(update(accounts).where(*where).values(private={"security_answers": kept}))


def is_locked(world: World, person: Person) -> bool:
    work = UnitOfWork(world.services.database, world.tenant_id)
    where = (accounts.c.tenant_id == world.tenant_id, accounts.c.uid == person.uid)
    try:
        return bool(work.run(select(accounts.c.is_locked).where(*where)).scalar_one())
    finally:
        work.rollback()


Locking = Callable[..., tuple[World, Visitor]]


# Captcha.


def test_the_answer_in_words_opens_an_account_locked_by_a_captcha(locking: Locking) -> None:
    world, visitor = locking("captcha")
    ada = world.person("ada@example.com")
    page = locked_out(visitor, ada.email)
    assert is_locked(world, ada)
    assert page.form("Sign in").fields["identifier"] == ada.email
    right = page.press("Sign in", password=PASSWORD, captcha=str(answer_to(asked_on(page))))
    assert right.heading == ada.email
    assert not is_locked(world, ada)


def test_who_comes_back_to_a_locked_account_is_asked_at_the_first_try(locking: Locking) -> None:
    world, visitor = locking("captcha")
    ada = world.person("ada@example.com")
    locked_out(visitor, ada.email)
    page = visitor.open("/login").press("Sign in", identifier=ada.email, password=PASSWORD)
    assert (page.status, page.title.startswith("Error: ")) == (403, True)
    assert "One question more" in page.text
    assert page.press("Sign in", password=PASSWORD, captcha=str(answer_to(asked_on(page)))).heading == ada.email


def test_the_work_of_a_browser_opens_it_too(locking: Locking) -> None:
    world, visitor = locking("captcha", captcha={"work_bits": 10})
    ada = world.person("ada@example.com")
    page = locked_out(visitor, ada.email)
    bits, seed, *_ = page.form("Sign in").fields["captcha_asked"].split(".")
    assert bits == "10"
    assert page.press("Sign in", password=PASSWORD, captcha_work=worked(seed, 10)).heading == ada.email


@pytest.mark.parametrize("script", ["٠١٢٣٤٥٦٧٨٩", "۰۱۲۳۴۵۶۷۸۹", "0123456789", "०१२३४५६७८९"])
def test_digits_of_any_script_are_understood(locking: Locking, script: str) -> None:
    world, visitor = locking("captcha")
    ada = world.person("ada@example.com")
    page = locked_out(visitor, ada.email)
    typed = "".join(script[int(digit)] for digit in str(answer_to(asked_on(page))))
    assert page.press("Sign in", password=PASSWORD, captcha=f" \u200f{typed} ").heading == ada.email


def test_a_wrong_answer_gets_another_question_and_says_so_at_the_field(locking: Locking) -> None:
    world, visitor = locking("captcha")
    ada = world.person("ada@example.com")
    page = locked_out(visitor, ada.email)
    before = page.form("Sign in").fields
    page = page.press("Sign in", password=PASSWORD, captcha=str(answer_to(asked_on(page)) + 1))
    after = page.form("Sign in").fields
    assert page.status == 403
    assert 'id="captcha-problem"' in page.html
    assert 'href="#captcha"' in page.html
    assert "Here is another question" in page.text
    assert after["captcha_challenge"] != before["captcha_challenge"]
    assert (after["captcha"], after["password"], after["identifier"]) == ("", "", ada.email)
    assert page.press("Sign in", password=PASSWORD, captcha=str(answer_to(asked_on(page)))).heading == ada.email


def test_a_right_answer_with_a_wrong_password_gets_another_question(locking: Locking) -> None:
    world, visitor = locking("captcha")
    ada = world.person("ada@example.com")
    page = locked_out(visitor, ada.email)
    page = page.press("Sign in", password="wrong", captcha=str(answer_to(asked_on(page))))
    assert page.status == 401
    assert page.press("Sign in", password=PASSWORD, captcha=str(answer_to(asked_on(page)))).heading == ada.email


def test_no_answer_is_asked_for_again(locking: Locking) -> None:
    world, visitor = locking("captcha")
    ada = world.person("ada@example.com")
    page = locked_out(visitor, ada.email).press("Sign in", password=PASSWORD)
    assert page.status == 403
    assert "Answer this question, too." in page.text


def test_a_form_that_lacks_the_password_keeps_its_question_and_asks_nobody(locking: Locking) -> None:
    world, visitor = locking("captcha")
    ada = world.person("ada@example.com")
    page = locked_out(visitor, ada.email)
    again = page.press("Sign in", captcha="7")
    assert (again.status, again.cost["api"]) == (422, 0)
    assert again.form("Sign in").fields["captcha_challenge"] == page.form("Sign in").fields["captcha_challenge"]
    assert again.form("Sign in").fields["captcha"] == "7"


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_question_is_asked_in_the_language_of_the_visitor(locking: Locking, language: str) -> None:
    world, visitor = locking("captcha")
    button = {"en": "Sign in", "de": "Anmelden", "ar": "تسجيل الدخول"}[language]
    visitor.language = language
    ada, page = world.person("ada@example.com"), visitor.open("/login")
    for _ in range(MOST):
        page = page.press(button, identifier=ada.email, password="wrong")
    with visitor.client.application.test_request_context("/"):
        use_language(LANGUAGES[language])
        question = str(question_text(asked_on(page, button)))
    assert question in page.text
    typed = str(answer_to(asked_on(page, button)))
    assert page.press(button, password=PASSWORD, captcha=typed).heading == ada.email


@pytest.mark.parametrize("typed", ["\x00", "1" * 10_000, "\ud800", "<b>7</b>", "-7", "7.0", "²", "", " ", "seven"])
@pytest.mark.parametrize("name", ["captcha", "captcha_challenge", "captcha_asked", "captcha_work"])
def test_whatever_comes_back_with_a_challenge_gets_a_page(locking: Locking, name: str, typed: str) -> None:
    world, visitor = locking("captcha")
    page = locked_out(visitor, world.person("ada@example.com").email)
    sent = typed.encode("utf-8", "surrogatepass").decode("latin-1")
    page = page.press("Sign in", **{"password": PASSWORD, name: sent})
    assert page.status in (400, 403, 422)
    assert page.heading == "Welcome back"


def test_questions_in_words_are_limited_by_address(locking: Locking) -> None:
    world, visitor = locking("captcha", limits={"captcha_question_per_minute_per_address": 2})
    ada = world.person("ada@example.com")
    page = locked_out(visitor, ada.email)
    for _ in range(2):
        page = page.press("Sign in", password=PASSWORD, captcha="999")
        assert page.status == 403
    page = page.press("Sign in", password=PASSWORD, captcha=str(answer_to(asked_on(page))))
    assert page.status == 429
    assert page.answer
    assert int(page.answer.headers["Retry-After"]) > 0
    assert "captcha_challenge" in page.form("Sign in").fields


def test_passwords_tried_with_a_solved_captcha_are_limited_by_account(locking: Locking) -> None:
    world, visitor = locking("captcha", limits={"captcha_tries_per_hour_per_account": 2})
    ada = world.person("ada@example.com")
    page = locked_out(visitor, ada.email)
    for _ in range(2):
        page = page.press("Sign in", password="wrong", captcha=str(answer_to(asked_on(page))))
    assert page.press("Sign in", password=PASSWORD, captcha=str(answer_to(asked_on(page)))).status == 429


# Security question.


def test_the_answer_to_the_security_question_opens_the_account(locking: Locking) -> None:
    world, visitor = locking("security_question")
    ada = world.person("ada@example.com")
    answers(world, ada, town="Grey Harbour")
    page = locked_out(visitor, ada.email)
    assert PET["town"] in page.text
    wrong = page.press("Sign in", password=PASSWORD, security_answer="Blue Harbour")
    assert wrong.status == 403
    assert 'id="security_answer-problem"' in wrong.html
    assert wrong.form("Sign in").fields["security_answer"] == ""
    assert wrong.press("Sign in", password=PASSWORD, security_answer=" grey  HARBOUR").heading == ada.email
    assert not is_locked(world, ada)


def test_tries_at_the_security_question_are_limited(locking: Locking) -> None:
    world, visitor = locking("security_question")
    ada = world.person("ada@example.com")
    answers(world, ada, pet="Rex")
    page = locked_out(visitor, ada.email)
    for _ in range(3):
        page = page.press("Sign in", password=PASSWORD, security_answer="Max")
        assert page.status == 403
    page = page.press("Sign in", password=PASSWORD, security_answer="Rex")
    assert page.status == 429
    assert "That was a lot at once" in page.text
    assert is_locked(world, ada)


@pytest.mark.parametrize("typed", ["\x00", "1" * 10_000, "\ud800", "<b>7</b>"])
@pytest.mark.parametrize("name", ["security_answer", "security_question"])
def test_whatever_is_answered_gets_a_page(locking: Locking, name: str, typed: str) -> None:
    world, visitor = locking("security_question")
    page = locked_out(visitor, world.person("ada@example.com").email)
    sent = typed.encode("utf-8", "surrogatepass").decode("latin-1")
    page = page.press("Sign in", **{"password": PASSWORD, "security_answer": "x", name: sent})
    assert page.status in (400, 403, 422)
    assert page.heading == "Welcome back"


def test_the_form_cannot_be_made_to_ask_what_the_tenant_does_not(locking: Locking) -> None:
    _, visitor = locking("security_question")
    page = visitor.open("/login").press("Sign in", identifier="a@b.c", security_question="Your bank card?")
    assert "bank card" not in page.html


# The other locks, as the page shows them.


def test_a_suspension_says_how_long_and_a_block_where_help_is(locking: Locking) -> None:
    for kind, sentence in (("suspend", "Try again in 10 minutes."), ("block", "This account is blocked")):
        world, visitor = locking(kind)
        page = locked_out(visitor, world.person("ada@example.com").email, MOST + 1)
        assert (page.status, sentence in page.text) == (403, True), kind
        assert "captcha_challenge" not in page.form("Sign in").fields


# What strangers learn.


def told(page: Seen, name: str) -> tuple[int, str, str]:
    """What a page says, without what differs from visit to visit."""
    text = re.sub(r"(How much is|Which of these numbers)[^?]*\?", "QUESTION", page.text.replace(name, "NAME"))
    fields = ",".join(sorted(page.form("Sign in").fields))
    return page.status, re.sub(r"\d+ (second|minute)s?", "SOON", text), fields


@pytest.mark.parametrize("has_answers", [True, False])
@pytest.mark.parametrize("kind", ["suspend", "captcha", "security_question", "block"])
def test_an_unknown_account_locks_and_answers_as_a_known_one(locking: Locking, kind: str, has_answers: bool) -> None:
    world, visitor = locking(kind)
    questions = PET.values()
    ada = world.person("ada@example.com")
    if has_answers:
        answers(world, ada, pet="Rex", town="Harbour")
    seen: dict[str, list[Any]] = {}
    for name in (ada.email, "nobody@example.com"):
        page = visitor.open("/login")
        for number in range(2 * MOST):
            given = {"security_answer": "no"} if number > MOST else {}
            if number > MOST and "captcha_asked" in page.form("Sign in").fields:
                given = {"captcha": str(answer_to(asked_on(page)))}
            page = page.press("Sign in", identifier=name, password="wrong", **given)
            status, text, fields = told(page, name)
            for question in questions:
                text = text.replace(question, "QUESTION")
            seen.setdefault(name, []).append((status, text, fields, page.cost["hashes"], page.cost["commits"]))
    assert seen[ada.email] == seen["nobody@example.com"]


def test_an_unknown_account_is_asked_the_same_question_at_every_try(locking: Locking) -> None:
    _, visitor = locking("security_question")
    asked = set()
    for name in ("nobody@example.com", "NOBODY@example.com ", "nobody@example.com"):
        page = locked_out(visitor, name, MOST + 1)
        asked.add(page.form("Sign in").fields["security_question"])
    assert len(asked) == 1
    other = {
        locked_out(visitor, f"nobody{number}@example.com").form("Sign in").fields["security_question"]
        for number in range(12)
    }
    assert other == set(PET)


def test_a_locked_sign_in_stays_within_its_budget(locking: Locking) -> None:
    world, visitor = locking("captcha")
    ada = world.person("ada@example.com")
    page = locked_out(visitor, ada.email)
    client, form = visitor.client, page.form("Sign in")
    sent = {**form.fields, "password": PASSWORD, "captcha": str(answer_to(asked_on(page)))}
    answer = client.post("/login", base_url=visitor.home, data=sent)
    cost = Seen(visitor, visitor.home, answer).cost
    assert answer.status_code == 303
    assert (cost["api"], cost["sql"] <= 8) == (1, True), cost
