"""The profile's table as JSON Schema, for the published description of the interface."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from app.contract.profile.fields import FIELDS, Field, Write
from app.contract.profile.member_kinds import Kind, ProfileMember

_FLAT: dict[Kind, dict[str, Any]] = {
    Kind.TEXT: {"type": ["string", "null"]},
    Kind.FLAG: {"type": "boolean"},
    Kind.COUNT: {"type": ["integer", "null"]},
    Kind.NUMBER: {"type": ["number", "null"]},
    Kind.INSTANT: {"type": ["string", "null"], "format": "date-time"},
    Kind.TEXTS: {"type": ["array", "null"], "items": {"type": "string"}},
    Kind.MAP: {"type": ["object", "null"], "additionalProperties": {"type": ["string", "null"]}},
}


def of_member(member: ProfileMember) -> dict[str, Any]:
    """Return the schema of one member."""
    if member.kind is Kind.OBJECT:
        return {"type": ["object", "null"], "properties": of_members(member.members)}
    if member.kind is Kind.LIST:
        element = {"type": "object", "properties": of_members(member.members)}
        return {"type": ["array", "null"], "items": element}
    return dict(_FLAT[member.kind])


def of_members(members: Iterable[ProfileMember]) -> dict[str, Any]:
    """Return the schemas of members by their names."""
    return {member.name: of_member(member) for member in members}


def describe_answer(schema: dict[str, Any]) -> None:
    """Fill in a profile as it is answered."""
    schema.pop("additionalProperties", None)
    schema["properties"] = of_members(FIELDS.values())


def describe_request(schema: dict[str, Any], *writers: Write) -> None:
    """Add the free fields that a request may contain, beside its declared fields."""
    written = (field for field in FIELDS.values() if field.write in writers)
    schema.pop("additionalProperties", None)
    properties = schema.setdefault("properties", {})
    for field in written:
        properties.setdefault(field.name, _as_request(field))


def _as_request(field: Field) -> dict[str, Any]:
    described = of_member(field)
    return {"type": ["object", "string"], **described} if field.name == "Country" else described
