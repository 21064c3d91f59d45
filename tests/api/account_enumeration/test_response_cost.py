"""With `hide_unknown_accounts` a wrong code costs the same statements and commits for every account and for none."""

from __future__ import annotations

import re
from typing import Any

import pytest

from app.contract.catalogue import CATALOGUE, load_catalogue
from tests.support.accounts.account_states import HIDING, Subject
from tests.support.tenants.tenant_server import NewTenantServer

load_catalogue()
pytestmark = pytest.mark.parametrize("services", ["sqlite"], indirect=True)
REQUESTS: dict[str, tuple[str, dict[str, str]]] = {
    "passwordless code by mail": ("U51", {"email": "email", "otp": ""}),
    "passwordless code by SMS": ("U54", {"phone": "phone", "otp": ""}),
    "smart login by mailed code": ("U57", {"email": "email", "verificationtoken": ""}),
    "smart login by texted code": ("U57", {"phone": "phone", "verificationtoken": ""}),
    "one touch by mailed code": ("U61", {"email": "email", "verificationtoken": ""}),
    "phone code is requested": ("U62", {"phone": "phone"}),
    "phone code is verified": ("U63", {"phone": "phone", "otp": ""}),
}


def cost(who: Subject, operation_id: str, fields: dict[str, str]) -> str:
    values: dict[str, Any] = {name: getattr(who, of) if of else "000000" for name, of in fields.items()}
    operation = next(item for item in CATALOGUE if item.documentation.row == operation_id)
    answer = who.ask(operation.method, operation.path, values if operation.method != "GET" else None, **values)
    return "".join(re.findall(r"sql=\d+; commits=\d+", answer.headers["X-Gatehouse-Cost"]))


@pytest.mark.parametrize("name", REQUESTS)
def test_wrong_code_costs_the_same_for_every_account_state(new_tenant_server: NewTenantServer, name: str) -> None:
    tenant = new_tenant_server(**HIDING)
    operation_id, fields = REQUESTS[name]
    states = ("known", "unverified", "registered", "blocked", "unknown")
    subjects = {state: Subject(tenant, state).create() for state in states}
    cost(Subject(tenant, "unknown"), operation_id, fields)  # reads the tenant into the cache
    costs = {state: cost(who, operation_id, fields) for state, who in subjects.items()}
    assert costs == dict.fromkeys(states, costs["unknown"])
