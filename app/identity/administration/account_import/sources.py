"""Reads import files as a stream: NDJSON, a JSON array of accounts, or Keycloak's realms, one object or an array of them."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from pathlib import Path
from typing import IO, Any, Final

from app.identity.administration.account_import import json_events
from app.identity.administration.account_import.import_record import RecordPosition, RecordRefused
from app.identity.administration.account_import.json_events import Keys, NotJson, Stream

MAX_LINE_BYTES: Final = 1_000_000
_LOOKAHEAD: Final = 64 * 1024
_BOM: Final = b"\xef\xbb\xbf"


class _Shape(Enum):
    LINES = auto()
    ARRAY = auto()
    REALM = auto()
    REALMS = auto()


@dataclass
class Realm:
    """A realm of a Keycloak export, without its users."""

    name: str = ""
    organizations: list[tuple[str, Any]] = field(default_factory=list)
    """Each with its place, for refusals."""


def records(files: Sequence[Path], left_out: Container[tuple[Path, int]] = ()) -> Iterator[tuple[RecordPosition, Any]]:
    """Yield each record with its place; an unreadable one is yielded as RecordRefused. Raises RecordRefused for a broken JSON file.

    Args:
        left_out: realms, by their file and number in it.
    """
    number = 0
    for path in files:
        with path.open("rb") as file:
            for line, unit, record in _of_file(file, path, left_out):
                number += 1
                yield RecordPosition(number, path.name, line, unit), record


def realms(path: Path) -> dict[int, Realm]:
    """Return the realms that a file holds, by their number in it. Raises RecordRefused."""
    with path.open("rb") as file:
        shape = _shape(file, path.name)
        if shape not in (_Shape.REALM, _Shape.REALMS):
            return {}
        realms_by_number: dict[int, Realm] = {}
        for number, keys, line, value in _values(file, path.name, shape, _describes_realm):
            realm = realms_by_number.setdefault(number, Realm())
            if keys == ("realm",):
                realm.name = value if isinstance(value, str) else ""
            else:
                realm.organizations.append((f"{path.name}: line {line}: organizations[{keys[1]}]", value))
        return realms_by_number


def _of_file(file: IO[bytes], path: Path, left_out: Container[tuple[Path, int]]) -> Iterator[tuple[int, str, Any]]:
    shape = _shape(file, path.name)
    if shape is _Shape.LINES:
        yield from _lines(file)
        return
    number = 0
    for realm, _, line, value in _values(file, path.name, shape, _is_account):
        if (path, realm) not in left_out:
            number += 1
            yield (
                number,
                "account",
                RecordRefused(f"line {line}: {value}") if isinstance(value, RecordRefused) else value,
            )


def _values(
    file: IO[bytes], name: str, shape: _Shape, is_selected: Callable[[Keys], bool]
) -> Iterator[tuple[int, Keys, int, Any]]:
    """Yield the wanted values with the number of their realm, their keys within it, and their line."""

    def within(keys: Keys) -> tuple[int, Keys]:
        if shape is _Shape.REALMS:
            return int(keys[0]), keys[1:]
        return 0, ("users", *keys) if shape is _Shape.ARRAY else keys

    def is_wanted_here(keys: Keys) -> bool:
        return bool(keys) and is_selected(within(keys)[1])

    for keys, line, value in json_events.values(Stream(file, name), is_wanted_here):
        yield *within(keys), line, value


def _is_account(keys: Keys) -> bool:
    return len(keys) == 2 and keys[0] == "users"


def _describes_realm(keys: Keys) -> bool:
    return keys == ("realm",) or (len(keys) == 2 and keys[0] == "organizations")


def _shape(file: IO[bytes], name: str) -> _Shape:
    """Return the shape of a file: an object that goes on after its first line is a realm, and so is one with a name and users."""
    start = file.read(MAX_LINE_BYTES).removeprefix(_BOM).lstrip()
    file.seek(0)
    if start.startswith(b"["):
        keys, _ = json_events.outline(start[:_LOOKAHEAD])
        return _Shape.REALMS if "realm" in keys or "users" in keys else _Shape.ARRAY
    if not start.startswith(b"{"):
        raise RecordRefused(f"{name} is neither JSON nor one JSON object per line")
    keys, is_complete = json_events.outline(start.split(b"\n", 1)[0])
    return _Shape.LINES if is_complete and not {"realm", "users"} <= keys else _Shape.REALM


def _lines(file: IO[bytes]) -> Iterator[tuple[int, str, Any]]:
    for number, line in enumerate(iter(lambda: file.readline(MAX_LINE_BYTES + 1), b""), 1):
        if len(line) > MAX_LINE_BYTES:
            raise RecordRefused(f"line {number} is longer than {MAX_LINE_BYTES:,} bytes")
        text = line.removeprefix(_BOM).strip()
        if text:
            yield number, "line", _parsed(text)


def _parsed(text: bytes) -> Any:
    try:
        return json_events.parsed(text)
    except NotJson:
        return RecordRefused("expected one JSON object")
    except RecordRefused as refusal:
        return refusal
