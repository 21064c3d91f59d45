"""Partial updates: an absent member keeps the stored value, null or an empty value clears it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Final

from pydantic import ValidationInfo, field_validator
from pydantic_core import to_jsonable_python

from app.kit.operations.wire import From, Wire, shape_of

NOTE: Final = "Members that the request leaves out stay as they are; null or an empty value clears a member."
"""The sentence that the API reference adds to these operations."""


class PartialUpdate(Wire):
    """The request (or a part of the request) of a PUT that keeps absent members. PUTs with other models replace.

    Every member is optional. An empty text clears as null does, and so does an empty object that stands for a part with
    members of its own; lists and maps are values, which replace the stored ones.
    """

    never_cleared: ClassVar[tuple[str, ...]] = ()
    """Fields without which nothing can be stored: null is refused."""

    @field_validator("*", mode="before")
    @classmethod
    def _read_empty_as_null(cls, value: Any, info: ValidationInfo) -> Any:
        name = info.field_name or ""
        if value not in ("", {}) or name not in shape_of(cls).places[From.BODY]:
            return value
        return None if value == "" or _is_part(cls.model_fields[name].annotation) else value

    @field_validator("*", mode="after")
    @classmethod
    def _refuse_cleared(cls, value: Any, info: ValidationInfo) -> Any:
        if value is None and info.field_name in cls.never_cleared:
            raise ValueError("a value is required")
        return value


def _is_part(annotation: Any) -> bool:
    options = (annotation, *getattr(annotation, "__args__", ()))
    return any(isinstance(option, type) and issubclass(option, PartialUpdate) for option in options)


def merged(stored: Mapping[str, Any], update: PartialUpdate) -> dict[str, Any]:
    """Return stored members, by their names on the wire, after a partial update, without those that it clears."""
    members = dict(stored)
    for name, wire in shape_of(type(update)).places[From.BODY].items():
        if name not in update.model_fields_set:
            continue
        value = getattr(update, name)
        if isinstance(value, PartialUpdate):
            value = merged(members.get(wire) or {}, value) or None
        if value is None:
            members.pop(wire, None)
        else:
            members[wire] = to_jsonable_python(value)
    return members


def described(request: type[Wire], description: str) -> str:
    """Return the description of an operation, with what a partial update does."""
    return f"{description} {NOTE}" if issubclass(request, PartialUpdate) else description
