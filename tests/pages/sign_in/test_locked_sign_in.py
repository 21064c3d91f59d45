"""Sign-in to a locked account without JavaScript, and that locks do not reveal accounts."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import select, update

from app.identity.directory.accounts.tables import accounts
from app.identity.platform.store.unit_of_work import UnitOfWork
from tests.support.oauth.relying_party import Person
from tests.support.oauth.world import NewWorld, World
from tests.support.services.identity_service import CHEAP
from tests.support.visitors.captchas import WRONG_WORK, solving
from tests.support.visitors.visitor import VisitedPage, Visitor

PASSWORD = "correct horse 7"
CHECK = "Continue"
"""The button of the page that asks for the captcha alone."""
MAX_FAILURES = 3
NO_LIMITS = {"sign_in_per_minute_per_address": 0, "sign_in_per_minute": 0, "captcha_question_per_minute_per_address": 0}
QUESTIONS = {"pet": "What was the name of your first pet?", "town": "Where did you grow up?"}


@pytest.fixture
def new_locking_world(
    new_world: NewWorld, new_visitor_at: Callable[[World], Visitor]
) -> Callable[..., tuple[World, Visitor]]:
    """Return a function that makes a tenant which locks after three failures, and a visitor."""

    def make(kind: str, **settings: Any) -> tuple[World, Visitor]:
        lockout = {
            "type": kind,
            "maximum_failed_attempts": MAX_FAILURES,
            "suspend_seconds": 600,
            **settings.pop("lockout", {}),
        }
        limits = {**NO_LIMITS, **settings.pop("limits", {})}
        world = new_world(lockout=lockout, limits=limits, security_questions=QUESTIONS, **settings)
        return world, new_visitor_at(world)

    return make


def lock_out(visitor: Visitor, email: str, times: int = MAX_FAILURES) -> VisitedPage:
    """Type a wrong password until the account locks; return the last page."""
    page = visitor.open("/login")
    for _ in range(times):
        page = page.press("Sign in", identifier=email, password="wrong")
    return page


def store_answers(world: World, person: Person, **values: str) -> None:
    """Store the person's answers to security questions."""
    hashed = {name: world.services.hashing.hash(text.casefold(), CHEAP) for name, text in values.items()}
    with UnitOfWork(world.services.database, world.tenant_id).separate_transaction() as work:
        where = (accounts.c.tenant_id == world.tenant_id, accounts.c.uid == person.uid)
        work.run(update(accounts).where(*where).values(private={"security_answers": hashed}))


def is_locked(world: World, person: Person) -> bool:
    work = UnitOfWork(world.services.database, world.tenant_id)
    where = (accounts.c.tenant_id == world.tenant_id, accounts.c.uid == person.uid)
    try:
        return bool(work.run(select(accounts.c.is_locked).where(*where)).scalar_one())
    finally:
        work.rollback()


NewLockingWorld = Callable[..., tuple[World, Visitor]]


# Captcha.


def test_proof_of_work_unlocks_the_account(new_locking_world: NewLockingWorld) -> None:
    world, visitor = new_locking_world("captcha")
    ada = world.person("ada@example.com")
    page = lock_out(visitor, ada.email)
    assert is_locked(world, ada)
    assert page.form("Sign in").fields["identifier"] == ada.email
    signed_in = page.press("Sign in", password=PASSWORD, **solving(page))
    assert signed_in.heading == "Profile"
    assert not is_locked(world, ada)


def test_locked_account_asks_captcha_at_the_first_try(new_locking_world: NewLockingWorld) -> None:
    world, visitor = new_locking_world("captcha")
    ada = world.person("ada@example.com")
    lock_out(visitor, ada.email)
    page = visitor.open("/login").press("Sign in", identifier=ada.email, password=PASSWORD)
    assert (page.status, page.title.startswith("Error: ")) == (403, False)
    assert page.heading == "One more check"
    assert page.press(CHECK, **solving(page, CHECK)).heading == "Profile"


def test_wrong_work_gets_a_new_challenge(new_locking_world: NewLockingWorld) -> None:
    world, visitor = new_locking_world("captcha")
    ada = world.person("ada@example.com")
    page = lock_out(visitor, ada.email)
    before = page.form("Sign in").fields
    page = page.press("Sign in", password=PASSWORD, **WRONG_WORK)
    after = page.form(CHECK).fields
    assert page.status == 403
    assert "We couldn’t verify that you’re human. Try again." in page.text
    assert after["captcha_challenge"] != before["captcha_challenge"]
    assert (after["captcha_work"], after["identifier"]) == ("", ada.email)
    assert page.press(CHECK, **solving(page, CHECK)).heading == "Profile"


def test_wrong_password_with_right_work_gets_new_challenge(new_locking_world: NewLockingWorld) -> None:
    world, visitor = new_locking_world("captcha")
    ada = world.person("ada@example.com")
    page = lock_out(visitor, ada.email)
    page = page.press("Sign in", password="wrong", **solving(page))
    assert page.status == 401
    assert page.press("Sign in", password=PASSWORD, **solving(page)).heading == "Profile"


def test_missing_password_keeps_work_without_api_call(new_locking_world: NewLockingWorld) -> None:
    world, visitor = new_locking_world("captcha")
    ada = world.person("ada@example.com")
    page = lock_out(visitor, ada.email)
    again = page.press("Sign in", captcha_work="7")
    assert (again.status, again.cost["api"]) == (422, 0)
    assert again.form("Sign in").fields["captcha_challenge"] == page.form("Sign in").fields["captcha_challenge"]
    assert again.form("Sign in").fields["captcha_work"] == "7"


MALFORMED = "\x00", "1" * 10_000, "\ud800", "<b>7</b>"


@pytest.mark.parametrize("name", ["captcha_challenge", "captcha_asked", "captcha_work"])
def test_malformed_captcha_fields_get_a_page_not_an_error(
    new_locking_world: NewLockingWorld, subtests: pytest.Subtests, name: str
) -> None:
    world, visitor = new_locking_world("captcha")
    locked = lock_out(visitor, world.person("ada@example.com").email)
    for typed in (*MALFORMED, "-7", "7.0", "²", "", " ", "seven"):
        with subtests.test(repr(typed)[:20]):
            locked = sent_malformed(locked, name, typed, captcha_script="y")


def sent_malformed(locked: VisitedPage, name: str, typed: str, **others: str) -> VisitedPage:
    """Return the page that answers the right password with this field; it asks for the next answer."""
    sent = typed.encode("utf-8", "surrogatepass").decode("latin-1")
    button = "Sign in" if locked.is_sign_in else CHECK
    page = locked.press(button, **{"password": PASSWORD, **others, name: sent})
    assert page.status in (400, 403, 422)
    assert page.is_sign_in or page.heading == "One more check"
    return page


def test_tries_with_solved_captcha_are_limited_per_account(new_locking_world: NewLockingWorld) -> None:
    world, visitor = new_locking_world("captcha", limits={"captcha_tries_per_hour_per_account": 2})
    ada = world.person("ada@example.com")
    page = lock_out(visitor, ada.email)
    for _ in range(2):
        page = page.press("Sign in", password="wrong", **solving(page))
    assert page.press("Sign in", password=PASSWORD, **solving(page)).status == 429


# Security question.


@pytest.mark.both_databases
def test_security_answer_unlocks_the_account(new_locking_world: NewLockingWorld) -> None:
    world, visitor = new_locking_world("security_question")
    ada = world.person("ada@example.com")
    store_answers(world, ada, town="Grey Harbour")
    page = lock_out(visitor, ada.email)
    assert QUESTIONS["town"] in page.text
    wrong = page.press("Sign in", password=PASSWORD, security_answer="Blue Harbour")
    assert wrong.status == 403
    assert 'id="security_answer-problem"' in wrong.html
    assert wrong.form("Sign in").fields["security_answer"] == ""
    assert wrong.press("Sign in", password=PASSWORD, security_answer=" grey  HARBOUR").heading == "Profile"
    assert not is_locked(world, ada)


def test_security_answers_are_limited(new_locking_world: NewLockingWorld) -> None:
    world, visitor = new_locking_world("security_question")
    ada = world.person("ada@example.com")
    store_answers(world, ada, pet="Rex")
    page = lock_out(visitor, ada.email)
    for _ in range(3):
        page = page.press("Sign in", password=PASSWORD, security_answer="Max")
        assert page.status == 403
    page = page.press("Sign in", password=PASSWORD, security_answer="Rex")
    assert page.status == 429
    assert "Too many attempts" in page.text
    assert is_locked(world, ada)


@pytest.mark.parametrize("name", ["security_answer", "security_question"])
def test_malformed_security_answers_get_a_page_not_an_error(
    new_locking_world: NewLockingWorld, subtests: pytest.Subtests, name: str
) -> None:
    world, visitor = new_locking_world("security_question")
    locked = lock_out(visitor, world.person("ada@example.com").email)
    for typed in MALFORMED:
        with subtests.test(repr(typed)[:20]):
            locked = sent_malformed(locked, name, typed, security_answer="x")


def test_form_cannot_inject_a_security_question(new_locking_world: NewLockingWorld) -> None:
    _, visitor = new_locking_world("security_question")
    page = visitor.open("/login").press("Sign in", identifier="a@b.c", security_question="Your bank card?")
    assert "bank card" not in page.html


# Other locks.


@pytest.mark.both_databases
def test_suspension_shows_wait_and_block_shows_help(new_locking_world: NewLockingWorld) -> None:
    for kind, sentence in (
        ("suspend", "Sign-in is locked Too many failed attempts. Try again in "),
        ("block", "Account blocked"),
    ):
        world, visitor = new_locking_world(kind)
        page = lock_out(visitor, world.person("ada@example.com").email, MAX_FAILURES + 1)
        assert (page.status, sentence in page.text) == (403, True), kind
        assert "captcha_challenge" not in page.html
    assert visitor.open("/login").is_sign_in


# Account enumeration.


def summary(page: VisitedPage, name: str) -> tuple[int, str, str]:
    """Return status, text and field names without parts that differ between requests."""
    text = page.text.replace(name, "NAME")
    fields = ",".join(sorted(re.findall(r'name="(\w+)"', page.html)))
    return page.status, re.sub(r"\d+ (second|minute)s?|\d+:\d+ [AP]M", "SOON", text), fields


@pytest.mark.parametrize("has_answers", [True, False])
@pytest.mark.parametrize("kind", ["suspend", "captcha", "security_question", "block"])
def test_unknown_account_locks_like_a_known_one(
    new_locking_world: NewLockingWorld, kind: str, has_answers: bool
) -> None:
    world, visitor = new_locking_world(kind)
    questions = QUESTIONS.values()
    ada = world.person("ada@example.com")
    if has_answers:
        store_answers(world, ada, pet="Rex", town="Harbour")
    seen: dict[str, list[Any]] = {}
    for name in (ada.email, "absent@example.com"):
        page = visitor.open("/login")
        for number in range(2 * MAX_FAILURES):
            if 'name="password"' not in page.html:  # a blocked account's page has no form
                page = visitor.open("/login")
            values = {"security_answer": "no"} if number > MAX_FAILURES else {}
            if number > MAX_FAILURES and "captcha_asked" in page.form("Sign in").fields:
                values = solving(page)
            page = page.press("Sign in", identifier=name, password="wrong", **values)
            status, text, fields = summary(page, name)
            for question in questions:
                text = text.replace(question, "QUESTION")
            seen.setdefault(name, []).append((status, text, fields, page.cost["hashes"], page.cost["commits"]))
    assert seen[ada.email] == seen["absent@example.com"]


def test_unknown_account_gets_a_stable_question(new_locking_world: NewLockingWorld) -> None:
    _, visitor = new_locking_world("security_question")
    questions_shown = set()
    for name in ("absent@example.com", "ABSENT@example.com ", "absent@example.com"):
        page = lock_out(visitor, name, MAX_FAILURES + 1)
        questions_shown.add(page.form("Sign in").fields["security_question"])
    assert len(questions_shown) == 1
    other = {
        lock_out(visitor, f"absent{number}@example.com").form("Sign in").fields["security_question"]
        for number in range(12)
    }
    assert other == set(QUESTIONS)


def test_locked_sign_in_stays_within_its_cost_budget(new_locking_world: NewLockingWorld) -> None:
    world, visitor = new_locking_world("captcha", captcha={"work_bits": 8})
    ada = world.person("ada@example.com")
    page = lock_out(visitor, ada.email)
    client, form = visitor.client, page.form("Sign in")
    sent = {**form.fields, "password": PASSWORD, **solving(page)}
    answer = client.post("/login", base_url=visitor.home, data=sent)
    cost = VisitedPage(visitor, visitor.home, answer).cost
    assert answer.status_code == 303
    assert (cost["api"], cost["sql"] <= 8) == (1, True), cost
