"""Reads the values of a record: one reader of texts, booleans, numbers and instants for every format.

A value of another type is refused by its own name, such as `credentials[0].createdDate`. Values are never shown: any may be secret.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from app.identity.administration.account_import.import_record import RecordRefused

_WORDS: Final = {
    **dict.fromkeys(("true", "1", "yes", "y", "on", "t"), True),
    **dict.fromkeys(("false", "0", "no", "n", "off", "f"), False),
}
_INTEGER: Final = re.compile(r"[-+]?[0-9]{1,18}")
_SECONDS: Final = re.compile(r"[-+]?[0-9]{9,18}")
"""Fewer digits are a day of ISO 8601, such as 20260131, or nothing that can be read."""
_ISO_DAY: Final = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})(?:T[0-9:.]+Z?)?")
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST_MILLISECONDS: Final = 100_000_000_000
"""A number below this counts seconds until the year 5138, one from this on milliseconds since 1973."""


@dataclass(frozen=True)
class Fields:
    """An object of a record."""

    members: Mapping[str, Any]
    path: str = ""

    def name(self, key: str) -> str:
        """Return the name of a member in refusals."""
        return f"{self.path}.{key}" if self.path else key

    def value(self, *keys: str) -> tuple[str, Any]:
        """Return the first of these members that has a value, with its name; MongoDB's extended JSON is unwrapped."""
        for key in keys:
            value = _unwrapped(self.name(key), self.members.get(key))
            if value not in (None, ""):
                return self.name(key), value
        return self.name(keys[0]), None

    def text(self, *keys: str) -> str | None:
        """Return a text; an integer counts as one, because some systems export ids so."""
        return as_text(*self.value(*keys))

    def boolean(self, *keys: str) -> bool | None:
        return as_boolean(*self.value(*keys))

    def integer(self, *keys: str) -> int | None:
        return as_integer(*self.value(*keys))

    def instant(self, *keys: str) -> datetime | None:
        """Return an instant: ISO 8601, or seconds or milliseconds since 1970."""
        return as_instant(*self.value(*keys))

    def date(self, *keys: str) -> str | None:
        """Return a day as the profile has it, MM-dd-yyyy, from ISO 8601; any other text unchanged."""
        name, value = self.value(*keys)
        if isinstance(value, datetime):
            return f"{value:%m-%d-%Y}"
        text = as_text(name, value)
        found = _ISO_DAY.fullmatch(text or "")
        return f"{found[2]}-{found[3]}-{found[1]}" if found else text

    def fields(self, key: str) -> Fields:
        """Return an object; an empty one if it is missing."""
        return as_fields(*self.value(key))

    def elements(self, key: str) -> list[tuple[str, Any]]:
        """Return the elements of a list with their names."""
        name, value = self.value(key)
        if value is None:
            return []
        if not isinstance(value, list):
            raise RecordRefused(f"{name}: expected a list; found {_kind(value)}")
        return [(f"{name}[{number}]", _unwrapped(f"{name}[{number}]", item)) for number, item in enumerate(value)]

    def objects(self, key: str) -> list[Fields]:
        return [as_fields(name, item) for name, item in self.elements(key)]

    def texts(self, key: str) -> list[str]:
        return [as_text(name, item) or "" for name, item in self.elements(key)]

    def first(self, key: str) -> tuple[str, Any]:
        """Return the only value of a member, which some exports have as a list, with its name."""
        name, value = self.value(key)
        if isinstance(value, list):
            return f"{name}[0]", _unwrapped(f"{name}[0]", value[0] if value else None)
        return name, value


def as_fields(name: str, value: Any) -> Fields:
    if value is None:
        return Fields({}, name)
    if not isinstance(value, dict):
        raise RecordRefused(f"{name}: expected an object; found {_kind(value)}" if name else "expected one JSON object")
    return Fields(value, name)


def as_text(name: str, value: Any) -> str | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise RecordRefused(f"{name}: expected a text; found {_kind(value)}")
    return str(value)


def as_boolean(name: str, value: Any) -> bool | None:
    if value is None or isinstance(value, bool):
        return value
    word = str(value).strip().lower() if isinstance(value, str | int) else ""
    if word not in _WORDS:
        raise RecordRefused(f"{name}: expected true or false; found {_kind(value, another=True)}")
    return _WORDS[word]


def as_integer(name: str, value: Any) -> int | None:
    if value is None:
        return None
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, str) and _INTEGER.fullmatch(value.strip()):
        return int(value)
    raise RecordRefused(f"{name}: expected a whole number; found {_kind(value, another=True)}")


def as_instant(name: str, value: Any) -> datetime | None:
    if value is None or isinstance(value, datetime):
        return value
    try:
        if isinstance(value, str) and not _SECONDS.fullmatch(value.strip()):
            read = datetime.fromisoformat(value.strip())
            return (read if read.tzinfo else read.replace(tzinfo=UTC)).astimezone(UTC)
        if not isinstance(value, bool) and isinstance(value, str | int | float):
            number = float(value)
            unit = "milliseconds" if abs(number) >= _FIRST_MILLISECONDS else "seconds"
            return _EPOCH + timedelta(**{unit: number})
    except (ValueError, OverflowError):
        pass
    raise RecordRefused(f"{name}: expected a time such as 2026-01-31T12:00:00Z; found {_kind(value, another=True)}")


def _unwrapped(name: str, value: Any) -> Any:
    """Return the value of MongoDB's extended JSON, canonical or relaxed; any other value unchanged."""
    if not isinstance(value, dict) or len(value) != 1:
        return value
    ((kind, inner),) = value.items()
    if kind == "$date":
        return as_instant(name, _unwrapped(name, inner))
    if kind in ("$numberInt", "$numberLong"):
        return as_integer(name, inner)
    if kind in ("$numberDouble", "$numberDecimal"):
        return _number(name, inner)
    return as_text(name, inner) if kind in ("$oid", "$uuid") else value


def _number(name: str, value: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number):
        raise RecordRefused(f"{name}: expected a number; found {_kind(value, another=True)}")
    return number


def _kind(value: Any, *, another: bool = False) -> str:
    """Return the type of a value in the words of JSON."""
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, str):
        return "another text" if another else "a text"
    if isinstance(value, int | float):
        return "another number" if another else "a number"
    return "a list" if isinstance(value, list) else "an object"
