"""Password pages list the rules of the policy and mark those that the password breaks."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.support.accounts.mailbox import link_in, mails_to
from tests.support.oauth.world import NewWorld
from tests.support.visitors.visitor import NewVisitorAt, VisitedPage

OLD, BUTTON = "correct horse 7", "Save password"
BARE = {"require_number": False, "require_symbol": False, "history": 0, "common_check": False, "profile_check": False}
LEAST = "At least 10 characters"
LOWER = "A lowercase letter"
UPPER = "An uppercase letter"
NUMBER = "A number"
SIGN = "A symbol"
MARKED = "Doesn’t meet the requirements yet."
PERSON = "Don’t use your name or email."
COMMON = "Too common. Choose another."
EARLIER = "Used before. Choose another."

POLICIES: list[tuple[dict[str, Any], list[str], str, list[str], str]] = [
    ({}, [LEAST, NUMBER, SIGN], "short", [LEAST, NUMBER, SIGN], MARKED),
    ({}, [LEAST, NUMBER, SIGN], "longenough 7", [SIGN], MARKED),
    ({}, [LEAST, NUMBER, SIGN], "lovelace-1843", [], PERSON),
    ({**BARE, "min_length": 1}, ["At least 1 character"], "", [], ""),
    ({**BARE, "min_length": 14}, ["At least 14 characters"], "thirteen only", ["At least 14 characters"], MARKED),
    ({**BARE, "max_length": 16}, [LEAST, "At most 16 characters"], "a" * 17, ["At most 16 characters"], MARKED),
    ({**BARE, "common_check": True}, [LEAST], "1234567890", [], COMMON),
    (
        {**BARE, "require_lowercase": True, "require_uppercase": True},
        [LEAST, LOWER, UPPER],
        "1" * 10,
        [LOWER, UPPER],
        MARKED,
    ),
    ({**BARE, "history": 1}, [LEAST], OLD, [], EARLIER),
    ({**BARE, "breached": "change"}, [LEAST], "", [], ""),
]
"""Each with the rules that the page lists, a password, the rules that it breaks, and the error at the field."""
CASES = pytest.mark.parametrize(("policy", "listed_rules", "typed", "broken", "problem"), POLICIES)


def rules(page: VisitedPage) -> list[tuple[str, bool]]:
    """Return each rule on the page with whether it is marked as broken."""
    listed = re.findall(r'<ul class="rules[^"]*".*?</ul>', page.html, re.DOTALL)[0]
    items = re.findall(r"<li(.*?)>(?:<span>)?(.*?)</?span", listed, re.DOTALL)
    return [(text.strip(), "broken" in attributes) for attributes, text in items]


def assert_refused(page: VisitedPage, listed_rules: list[str], broken: list[str], problem: str) -> None:
    assert rules(page) == [(rule, rule in broken) for rule in listed_rules]
    assert page.html.count("not met yet</span>") == len(broken)
    assert page.status in {422, 403}
    assert page.title.startswith("Error: ")
    assert 'aria-invalid="true"' in page.html
    assert problem in page.text


@CASES
def test_reset_page_lists_and_marks_the_rules(
    new_world: NewWorld,
    new_visitor_at: NewVisitorAt,
    policy: dict[str, Any],
    listed_rules: list[str],
    typed: str,
    broken: list[str],
    problem: str,
) -> None:
    world = new_world(password_policy=policy)
    ada = world.person("ada@example.com", FirstName="Ada", LastName="Lovelace")
    visitor = new_visitor_at(world)
    visitor.open("/login").follow("Forgot password?").press("Send reset link", identifier=ada.email)
    page = visitor.open(link_in(mails_to(world.services, world.tenant_id, ada.email)[-1]))
    assert rules(page) == [(rule, False) for rule in listed_rules]
    if typed:
        assert_refused(page.press(BUTTON, password=typed), listed_rules, broken, problem)


@CASES
def test_change_page_lists_and_marks_the_rules(
    new_world: NewWorld,
    new_visitor_at: NewVisitorAt,
    policy: dict[str, Any],
    listed_rules: list[str],
    typed: str,
    broken: list[str],
    problem: str,
) -> None:
    world = new_world(password_policy=policy)
    ada = world.person("ada@example.com", FirstName="Ada", LastName="Lovelace")
    visitor = new_visitor_at(world)
    page = visitor.open("/change-password").press("Sign in", identifier=ada.email, password=OLD)
    assert rules(page) == [(rule, False) for rule in listed_rules]
    if typed:
        again = page.press(BUTTON, old_password=OLD, new_password=typed)
        assert_refused(again, listed_rules, broken, problem)


@CASES
def test_registration_page_lists_and_marks_the_rules(
    new_world: NewWorld,
    new_visitor_at: NewVisitorAt,
    policy: dict[str, Any],
    listed_rules: list[str],
    typed: str,
    broken: list[str],
    problem: str,
) -> None:
    world = new_world(password_policy=policy, limits={"register_per_minute_per_address": 0})
    page = new_visitor_at(world).open("/register")
    assert rules(page) == [(rule, False) for rule in listed_rules]
    if typed and problem != EARLIER:
        again = page.press("Create account", email="lovelace@example.com", password=typed)
        assert_refused(again, listed_rules, broken, problem)
        assert again.form("Create account").fields["email"] == "lovelace@example.com"
