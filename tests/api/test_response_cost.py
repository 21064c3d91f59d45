"""Where it is hidden who has an account, a wrong code costs as many statements and commits whoever is named: time tells nobody."""

from __future__ import annotations

import re
from typing import Any

import pytest

from app.contract.operations import CATALOGUE, load_catalogue
from tests.support.account_states import HIDING, Subject
from tests.support.tenant_server import NewTenantServer

load_catalogue()
pytestmark = pytest.mark.parametrize("services", ["sqlite"], indirect=True)
ASKED: dict[str, tuple[str, dict[str, str]]] = {
    "a link's code by mail": ("U51", {"email": "email", "otp": ""}),
    "a code by text message": ("U54", {"phone": "phone", "otp": ""}),
    "a yes by a mailed code": ("U57", {"email": "email", "verificationtoken": ""}),
    "a yes by a texted code": ("U57", {"phone": "phone", "verificationtoken": ""}),
    "one touch by a mailed code": ("U61", {"email": "email", "verificationtoken": ""}),
    "a number is asked for": ("U62", {"phone": "phone"}),
    "a number is proved": ("U63", {"phone": "phone", "otp": ""}),
}


def cost(who: Subject, row: str, given: dict[str, str]) -> str:
    named: dict[str, Any] = {name: getattr(who, of) if of else "000000" for name, of in given.items()}
    stated = next(one for one in CATALOGUE if one.documentation.row == row)
    answer = who.ask(stated.method, stated.path, named if stated.method != "GET" else None, **named)
    return "".join(re.findall(r"sql=\d+; commits=\d+", answer.headers["X-Gatehouse-Cost"]))


@pytest.mark.parametrize("what", ASKED)
def test_wrong_code_costs_the_same_for_every_account_state(new_tenant_server: NewTenantServer, what: str) -> None:
    tenant = new_tenant_server(**HIDING)
    row, given = ASKED[what]
    states = ("known", "unverified", "registered", "blocked", "unknown")
    people = {state: Subject(tenant, state).comes() for state in states}
    cost(Subject(tenant, "unknown"), row, given)  # the tenant itself is read once
    costs = {state: cost(who, row, given) for state, who in people.items()}
    assert costs == dict.fromkeys(states, costs["unknown"])
