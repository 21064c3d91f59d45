"""The `RegistrationData` of a profile: links to choices of the tenant's lists."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.contract import errors
from app.identity.authentication.registration import choice_lists
from app.identity.directory.accounts.profile import profile_edits
from app.identity.platform.context import Context

MEMBER = "RegistrationData"
_MAX_LINKS = 50


def refuse_invalid_links(context: Context, profile: Mapping[str, Any], stored: Mapping[str, Any] | None = None) -> None:
    """Refuse links to unknown choices, and links without the choice's code.

    The code is beside the id, in `Value` or in the link itself, and is not stored. Links in the `stored` profile need none.

    Raises:
        UnknownRecord.
        MalformedRecord: no id, or the choice is of another list.
        RecordCodeMissing.
        WrongRecordCode.
    """
    links = _links(profile)
    if not links:
        return
    if len(links) > _MAX_LINKS:
        raise errors.MalformedRecord
    known = {record_id for _, record_id, _ in _links(stored or {})}
    for source, record_id, code in links:
        if not record_id:
            raise errors.MalformedRecord
        choice_lists.refuse_link(context, record_id, source=source, code=code, needs_code=record_id not in known)


def _links(profile: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """Return (list, id, code) of each link; other forms are refused where the profile's fields are read."""
    elements = _member(profile_edits.canonical_members(profile).get(MEMBER), "Data")
    return [_link(element) for element in elements if isinstance(element, dict)] if isinstance(elements, list) else []


def _link(element: dict[str, Any]) -> tuple[str, str, str]:
    value = _member(element, "Value")
    code = _member(value, "Code") or _member(element, "Code")
    return _text(_member(element, "DataSource")), _text(_member(value, "Id")), _text(code)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _member(value: Any, name: str) -> Any:
    """Return a member in any letter case, the exact spelling first; None if the value is not an object."""
    if not isinstance(value, dict):
        return None
    return value.get(name, next((member for key, member in value.items() if key.lower() == name.lower()), None))
