"""Validates and patches profile lists, whose elements can request their deletion."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from app.contract import errors
from app.contract.profile import Field
from app.kit.operations.errors import ApiError

Element = dict[str, Any]

# By list: the type member, the error for a missing type, the error for a duplicate type.
_TYPED: dict[str, tuple[str, type[ApiError], type[ApiError]]] = {
    "Addresses": ("Type", errors.AddressTypeMissing, errors.AddressTypeTwice),
    "PhoneNumbers": ("PhoneType", errors.PhoneTypeMissing, errors.PhoneTypeTwice),
}


def refuse_untyped(name: str, elements: Sequence[Element]) -> None:
    """Raise AddressTypeMissing, PhoneTypeMissing for an element without a type, AddressTypeTwice, PhoneTypeTwice for a duplicate type."""
    if name not in _TYPED:
        return
    member, missing, _ = _TYPED[name]
    if any(not element[member] for element in elements):
        raise missing
    refuse_duplicates(name, [element for element in elements if not is_deletion(element)])


def refuse_duplicates(name: str, elements: Iterable[Element]) -> None:
    """Raise AddressTypeTwice, PhoneTypeTwice for a duplicate type, in any letter case."""
    if name not in _TYPED:
        return
    member, _, twice = _TYPED[name]
    types = [str(element[member]).strip().casefold() for element in elements]
    if len(types) != len(set(types)):
        raise twice


def is_deletion(element: Mapping[str, Any]) -> bool:
    """Return whether the element requests its deletion."""
    return str(element.get("Operation") or "").strip().lower() == "delete"


def patched(definition: Field, current: Sequence[Element], changes: Sequence[Element]) -> list[Element]:
    """Return the `current` list after the deletions, replacements and additions of `given`."""
    remaining = [
        element for element in current if not any(_names(item, element) for item in changes if is_deletion(item))
    ]
    for element in changes:
        if is_deletion(element):
            continue
        at = next((index for index, item in enumerate(remaining) if _same(definition, item, element)), None)
        if at is None:
            remaining.append(element)
        else:
            remaining[at] = element
    return remaining


def _names(deletion: Element, element: Element) -> bool:
    """Return whether the element matches every member of the deletion; an empty deletion matches nothing."""
    criteria = {
        name: value for name, value in deletion.items() if name != "Operation" and value not in (None, False, "")
    }
    return bool(criteria) and all(_folded(element.get(name)) == _folded(value) for name, value in criteria.items())


def _same(definition: Field, item: Element, other: Element) -> bool:
    keys = [name for name in definition.key if other.get(name)]
    return bool(keys) and all(_folded(item.get(name)) == _folded(other.get(name)) for name in keys)


def _folded(value: Any) -> Any:
    return value.strip().casefold() if isinstance(value, str) else value
