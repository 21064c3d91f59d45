"""Tags of the members of a union, which pydantic adds to the location of a problem though no document has them."""

from __future__ import annotations


def union_tag(name: str) -> str:
    """Return the tag of a member."""
    return f"({name})"


def is_union_tag(part: str | int) -> bool:
    """Return whether a part of a location is a tag; no field or key that is accepted looks like one."""
    return isinstance(part, str) and part.startswith("(") and part.endswith(")")
