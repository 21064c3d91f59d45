"""Parses profile values of a JSON body into their stored form, by kind."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any

from babel import Locale

from app.contract import errors
from app.contract.profile import Kind, ProfileMember

_MAX_TEXT, _MAX_ELEMENTS, _MAX_NAMES = 10_000, 500, 200
_MAX_COUNT = 2**53 - 1  # the largest integer that every JSON parser represents exactly
_FLAGS = {"true": True, "1": True, "false": False, "0": False}


def read(member: ProfileMember, value: Any, at: str = "") -> Any:
    """Return the value in its stored form; raises BadParameter that names the member."""
    name = f"{at}{member.name}"
    if member.name == "Country" and member.kind is Kind.OBJECT:
        value = _as_country(value)
    if member.kind is Kind.OBJECT:
        return _object(member, value, name)
    if member.kind is Kind.LIST:
        elements = _elements(value, name)
        return [_object(member, element, f"{name}[{index}]") for index, element in enumerate(elements)]
    return _FLAT[member.kind](value, name)


def absent(member: ProfileMember) -> Any:
    """Return the stored value of an absent member of an object."""
    return False if member.kind is Kind.FLAG else None


def find(names: Mapping[str, Any], member: ProfileMember) -> Any:
    """Return the member's value by exact name, otherwise by another letter case or older name."""
    if member.name in names:
        return names[member.name]
    spellings = {spelt.lower() for spelt in (member.name, *member.also)}
    return next((value for name, value in names.items() if name.lower() in spellings), None)


def refused(name: str) -> errors.BadParameter:
    """Return BadParameter for a malformed member."""
    return errors.BadParameter(f"The {name} is not formatted correctly.")


def _object(member: ProfileMember, value: Any, name: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise refused(name)
    values = {}
    for nested in member.members:
        provided = find(value, nested)
        values[nested.name] = absent(nested) if provided is None else read(nested, provided, f"{name}.")
    return values


def _elements(value: Any, name: str) -> list[Any]:
    if not isinstance(value, list) or len(value) > _MAX_ELEMENTS:
        raise refused(name)
    return value


def _text(value: Any, name: str) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | float) or len(str(value)) > _MAX_TEXT:
        raise refused(name)
    return str(value)


def _flag(value: Any, name: str) -> bool:
    flag = _FLAGS.get(str(value).lower()) if isinstance(value, bool | int | str) else None
    if flag is None:
        raise refused(name)
    return flag


def _count(value: Any, name: str) -> int:
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise refused(name)
    if isinstance(value, str) and not (value.isascii() and value.isdigit() and len(value) < 17):
        raise refused(name)
    if not 0 <= int(value) <= _MAX_COUNT:
        raise refused(name)
    return int(value)


def _number(value: Any, name: str) -> float:
    if isinstance(value, bool) or not isinstance(value, str | int | float) or len(str(value)) > 40:
        raise refused(name)
    try:
        number = float(value)
    except (ValueError, OverflowError):
        raise refused(name) from None
    if not math.isfinite(number):
        raise refused(name)
    return number


def _texts(value: Any, name: str) -> list[str]:
    return [_text(element, f"{name}[{index}]") for index, element in enumerate(_elements(value, name))]


def _map(value: Any, name: str) -> dict[str, str | None]:
    if not isinstance(value, dict) or len(value) > _MAX_NAMES:
        raise refused(name)
    return {key: None if text is None else _map_text(text, f"{name}.{key}") for key, text in value.items()}


def _map_text(value: Any, name: str) -> str:
    return str(value).lower() if isinstance(value, bool) else _text(value, name)


_FLAT: dict[Kind, Callable[[Any, str], Any]] = {
    Kind.TEXT: _text,
    Kind.INSTANT: _text,
    Kind.FLAG: _flag,
    Kind.COUNT: _count,
    Kind.NUMBER: _number,
    Kind.TEXTS: _texts,
    Kind.MAP: _map,
}


def folded(names: Iterable[str]) -> dict[str, str]:
    """Return names by their lower case."""
    return {name.lower(): name for name in names}


def _as_country(value: Any) -> Any:
    """Return the country with its ISO 3166 code looked up by name, or its name by code; a string is a name."""
    if isinstance(value, str):
        value = {"Name": value}
    if not isinstance(value, dict):
        return value
    provided = {name.lower(): member for name, member in value.items() if isinstance(name, str)}
    name, code = provided.get("name"), provided.get("code")
    if isinstance(name, str) and name:
        return {"Name": name, "Code": _codes().get(name.casefold().strip())}
    if isinstance(code, str) and code:
        return {"Name": _names().get(code.upper()), "Code": code.upper()[:3]}
    return {"Name": name, "Code": code}


@cache
def _names() -> dict[str, str]:
    return {code: name for code, name in Locale("en").territories.items() if len(code) == 2 and code.isalpha()}


@cache
def _codes() -> dict[str, str]:
    return {name.casefold(): code for code, name in _names().items()}
