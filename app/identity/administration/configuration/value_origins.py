"""Origins of configuration values: the last file, an operation, or the default.

A tenant stores the keys that the last file named, with a digest of each value. Any other stored value was set by an operation
(decision 0162).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic_core import to_json

from app.identity.administration.configuration.plan import display_value
from app.kit import randomness

Marks = dict[str, Any]
"""The keys that a file named, nested as in the file, with a digest of each value."""
BY_OPERATIONS = ("two_factor", "second_factors", "push", "duo")
"""The settings that management operations change."""
_NOTHING: Any = object()


def marks(value: Any) -> Any:
    """Return the digest of a value; of a map, the digest of each of its values."""
    if isinstance(value, Mapping):
        return {key: marks(inner) for key, inner in value.items()}
    return randomness.digest(to_json(value).decode())[:16]


def of_files(settings: Mapping[str, Any], brand: Mapping[str, Any]) -> Marks:
    """Return the marks of a tenant that has none stored yet: only `BY_OPERATIONS` did not come from a file."""
    return {
        "settings": marks({key: value for key, value in settings.items() if key not in BY_OPERATIONS}),
        "brand": marks(brand),
    }


def merged(stored: Mapping[str, Any], named: Mapping[str, Any], before: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values to store: those that the file names, and the stored values that did not come from the last file.

    Args:
        before: the marks of the last file.
    """
    after: dict[str, Any] = {}
    for key, value in stored.items():
        if key not in named and (rest := _without_file(value, before.get(key, _NOTHING))) is not _NOTHING:
            after[key] = rest
    for key, value in named.items():
        if isinstance(value, Mapping):
            after[key] = merged(_map(stored.get(key)), value, _map(before.get(key)))
        else:
            after[key] = value
    return after


def _without_file(value: Any, mark: Any) -> Any:
    """Return the value without its parts that came from the last file; `_NOTHING` if none remain."""
    if mark is _NOTHING:
        return value
    if marks(value) == mark:
        return _NOTHING
    if isinstance(value, Mapping) and isinstance(mark, Mapping):
        left = {key: _without_file(inner, mark.get(key, _NOTHING)) for key, inner in value.items()}
        return {key: inner for key, inner in left.items() if inner is not _NOTHING} or _NOTHING
    return value


def changes_with_origins(
    stored: Mapping[str, Any], after: Mapping[str, Any], before: Mapping[str, Any], prefix: str = ""
) -> Iterator[str]:
    """Yield `key: from -> to` for each difference, with a note if an operation had set the old value."""
    for key in sorted({*stored, *after}):
        old, new, mark = stored.get(key), after.get(key), before.get(key)
        if old == new and (key in stored) == (key in after):
            continue
        if isinstance(old, Mapping) and isinstance(new, Mapping):
            yield from changes_with_origins(old, new, _map(mark), f"{prefix}{key}.")
            continue
        origin = " (set through the API)" if key in stored and marks(old) != mark else ""
        yield f"{prefix}{key}: {display_value(old)} -> {display_value(new)}{origin}"


def unnamed(after: Mapping[str, Any], named: Mapping[str, Any], prefix: str = "") -> Iterator[str]:
    """Yield a note for each stored value that the file does not name: an operation set it."""
    for key in sorted(after):
        if key not in named:
            yield f"{prefix}{key}: {display_value(after[key])} kept, set through the API"
        elif isinstance(after[key], Mapping) and isinstance(named[key], Mapping):
            yield from unnamed(after[key], named[key], f"{prefix}{key}.")


def _map(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
