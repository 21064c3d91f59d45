"""Bodies of registrations, and lists that their forms offer."""

from __future__ import annotations

from typing import Any

from tests.support.operation_cases.cases import AccountHolder
from tests.support.tenants.tenant_server import answered

SCHOOL = {"type": "school", "key": "one", "value": "First", "code": "sesame"}


def record(who: AccountHolder, **members: Any) -> str:
    """Add an entry to a list; return its id."""
    answered(who.managed("A51", {"Data": [{**SCHOOL, **members}]}))
    return str(who.managed("A52", at={"type": str(members.get("type", "school"))}).get_json()[-1]["Id"])


def chosen(record_id: Any, **more: Any) -> dict[str, Any]:
    """Return a profile's reference to a list entry."""
    return {"Data": [{"DataSource": "school", "Value": {"Id": record_id, **more}}]}


def form(name: str) -> dict[str, Any]:
    fields = [{"name": "email"}, {"name": "password", "type": "password"}, {"name": name, "required": True}]
    return {"registration_form": fields}
