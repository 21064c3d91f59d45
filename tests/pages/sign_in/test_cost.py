"""The statements of a sign-in, a sign-up, a forgotten password and the code flow, their cost for the database (docs/bench.md)."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from werkzeug.test import TestResponse

from tests.support.oauth.relying_party import Person
from tests.support.oauth.world import NewWorld, World
from tests.support.visitors.visitor import VisitedPage, Visitor

pytestmark = pytest.mark.both_databases

ANSWERS = {"answer.pet": "Rex", "answer.town": "Ulm"}
TWO_STEPS: dict[str, Any] = {
    "two_factor": "required",
    "second_factors": {
        "totp": False,
        "email": False,
        "passkey": False,
        "security_questions": True,
        "backup_codes": False,
    },
    "security_questions": {"pet": "What was your first pet called?", "town": "In which town were you born?"},
}


def cost(answer: TestResponse, what: str) -> int:
    return int(dict(part.split("=") for part in answer.headers["X-Gatehouse-Cost"].split("; "))[what])


def sql(answer: TestResponse) -> int:
    return cost(answer, "sql")


def post(page: VisitedPage, button: str, **typed: str) -> TestResponse:
    """Send the form of the button without following where it leads."""
    form, visitor = page.form(button), page.visitor
    name, value = form.buttons[button]
    sent = {**form.fields, **typed, **({name: value} if name else {})}
    answer: TestResponse = visitor.client.post(form.action or page.address, data=sent, base_url=visitor.home)
    assert answer.status_code == 303
    return answer


def fewest(new_visitor: Callable[[], Visitor], visit: Callable[[Visitor], list[int]]) -> list[int]:
    """Return the counts of the cheapest of some visits: the first stores more, and any may read the tenant anew."""
    return min((visit(new_visitor()) for _ in range(4)), key=sum)


@pytest.fixture
def ada(world: World) -> Person:
    person: Person = world.person("ada@example.com")
    return person


def test_sign_in_costs_five_statements(ada: Person, new_visitor: Callable[[], Visitor]) -> None:
    def visit(visitor: Visitor) -> list[int]:
        page = visitor.open("/login")
        sent = post(page, "Sign in", identifier=ada.email, password=ada.password)
        return [page.cost.get("sql", 0), sql(sent), visitor.open("/profile").cost["sql"]]

    assert fewest(new_visitor, visit) == [0, 4, 1]


def test_sign_in_in_two_steps_costs_fifteen_statements(
    new_world: NewWorld, new_visitor_at: Callable[[World], Visitor]
) -> None:
    tenant = new_world(**TWO_STEPS)
    bob = tenant.person("bob@example.com")
    enrolling = new_visitor_at(tenant).open("/login").press("Sign in", identifier=bob.email, password=bob.password)
    assert enrolling.press("Continue", **ANSWERS).heading

    def visit(visitor: Visitor) -> list[int]:
        first = post(visitor.open("/login"), "Sign in", identifier=bob.email, password=bob.password)
        page = visitor.open(first.headers["Location"])
        second = post(page, "Continue", **ANSWERS)
        return [sql(first), page.cost["sql"], sql(second), visitor.open("/profile").cost["sql"]]

    locking = 1 if not tenant.services.database.is_sqlite else 0  # SQLite's only writer needs no row lock
    assert fewest(lambda: new_visitor_at(tenant), visit) == [5, 1, 8 + locking, 1]


def test_sign_up_costs_nine_statements(new_world: NewWorld, new_visitor_at: Callable[[World], Visitor]) -> None:
    tenant, numbers = new_world(email_verification="optional"), count()

    def visit(visitor: Visitor) -> list[int]:
        email = f"cost{next(numbers)}@example.org"
        page = visitor.open("/register")
        sent = post(page, "Create account", email=email, password="Zebra-kettle-91")
        return [page.cost.get("sql", 0), sql(sent), cost(sent, "commits")]

    assert fewest(lambda: new_visitor_at(tenant), visit) == [0, 9, 1]


def test_forgotten_password_costs_six_statements(world: World, new_visitor: Callable[[], Visitor]) -> None:
    locking = 1 if not world.services.database.is_sqlite else 0
    people = [world.person(f"ada{number}@example.com") for number in range(4)]  # a mail over a limit costs less

    def visit(visitor: Visitor) -> list[int]:
        page = visitor.open("/forgot-password")
        sent = post(page, "Send reset link", identifier=people.pop().email)
        return [page.cost.get("sql", 0), sql(sent), cost(sent, "commits")]

    assert fewest(new_visitor, visit) == [0, 6 + locking, 1]


def test_code_flow_costs_seven_statements_and_one_signature(
    world: World, ada: Person, new_visitor: Callable[[], Visitor]
) -> None:
    shop = world.application("shop", grant_types=["authorization_code", "refresh_token"])
    visitor = new_visitor()
    visitor.open("/login").press("Sign in", identifier=ada.email, password=ada.password)

    def visit(visitor: Visitor) -> list[int]:
        parameters = shop.authorization_parameters(nonce="a nonce")
        begun = visitor.client.get("/service/oidc/authorize", query_string=parameters, base_url=visitor.home)
        code = parse_qs(urlsplit(begun.headers["Location"]).query)["code"][0]
        answer = shop.redeem(code)
        assert {"id_token", "refresh_token"} <= set(answer.json or {})
        return [sql(begun), sql(answer), cost(begun, "commits"), cost(answer, "commits"), cost(answer, "signatures")]

    assert fewest(lambda: visitor, visit) == [2, 5, 1, 1, 1]
