"""The `RegistrationData` of a profile: links to choices of the tenant's lists (interface profile.json.md)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.contract import errors as e
from app.identity.authentication.registration import choice_lists
from app.identity.directory.accounts import profile_edits
from app.identity.platform.context import Context

MEMBER = "RegistrationData"
_MAX_LINKS = 50


def refuse_invalid_links(context: Context, given: Mapping[str, Any], held: Mapping[str, Any] | None = None) -> None:
    """Refuse links that lead to no choice, or lack the choice's code.

    A code is beside the id, in `Value` or in the link itself, and is not stored. Links that the profile `held`
    already need none.

    Raises:
        UnknownRecord: 1150.
        MalformedRecord: 1151, no id, or the choice is of another list.
        RecordCodeMissing: 1157.
        WrongRecordCode: 1153.
    """
    linked = _links(given)
    if not linked:
        return
    if len(linked) > _MAX_LINKS:
        raise e.MalformedRecord
    known = {record_id for _, record_id, _ in _links(held or {})}
    for source, record_id, code in linked:
        if not record_id:
            raise e.MalformedRecord
        choice_lists.refuse_link(context, record_id, source=source, code=code, needs_code=record_id not in known)


def _links(profile: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """Return (list, id, code) of each link; other forms are refused where the profile's fields are read."""
    elements = _member(profile_edits.canonical_members(profile).get(MEMBER), "Data")
    return [_link(one) for one in elements if isinstance(one, dict)] if isinstance(elements, list) else []


def _link(element: dict[str, Any]) -> tuple[str, str, str]:
    value = _member(element, "Value")
    code = _member(value, "Code") or _member(element, "Code")
    return _text(_member(element, "DataSource")), _text(_member(value, "Id")), _text(code)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _member(held: Any, name: str) -> Any:
    """Return a member in any letter case, the exact spelling first; None where it is no object."""
    if not isinstance(held, dict):
        return None
    return held.get(name, next((value for spelt, value in held.items() if spelt.lower() == name.lower()), None))
