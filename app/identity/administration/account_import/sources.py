"""Reads import files as a stream: NDJSON, a JSON array of accounts, or an object with the array `users`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any

from app.identity.administration.account_import.records import Place, Refused

_MAX_LINE_BYTES = 1_000_000
_LOOKAHEAD = 64 * 1024


def records(files: Sequence[Path]) -> Iterator[tuple[Place, Any]]:
    """Yield each record with its place; an unreadable line is yielded as Refused. Raises Refused for a broken JSON file."""
    number = 0
    for path in files:
        with path.open("rb") as file:
            for line, unit, record in _of_file(file, path.name):
                number += 1
                yield Place(number, path.name, line, unit), record


def elements(path: Path, key: str) -> Iterator[Any]:
    """Yield the elements of an array of the object that the file holds, such as `organizations`. Raises Refused."""
    with path.open("rb") as file:
        if _shape(file, path.name) == "object":
            yield from _items(file, path.name, f"{key}.item")


def is_object(path: Path) -> bool:
    """Return whether the file holds one object, as Keycloak exports do."""
    with path.open("rb") as file:
        return _shape(file, path.name) == "object"


def _of_file(file: IO[bytes], name: str) -> Iterator[tuple[int, str, Any]]:
    shape = _shape(file, name)
    if shape == "lines":
        yield from _lines(file)
        return
    prefix = "item" if shape == "array" else "users.item"
    for number, record in enumerate(_items(file, name, prefix), 1):
        yield number, "account", record


def _items(file: IO[bytes], name: str, prefix: str) -> Iterator[Any]:
    import ijson  # noqa: PLC0415 - only this command needs it

    try:
        # `use_float` refuses numbers beyond 64 bits: as decimals, a long one ends the process, and 1e9999999 takes hours
        yield from ijson.items(file, prefix, use_float=True)
    except (ijson.JSONError, UnicodeDecodeError) as problem:
        raise Refused(f"{name} isn't valid JSON: {' '.join(str(problem).split())}") from None


def _shape(file: IO[bytes], name: str) -> str:
    """Return `lines`, `array` or `object`: an object that goes on after its first line is no NDJSON."""
    start = file.read(_LOOKAHEAD).removeprefix(b"\xef\xbb\xbf").lstrip()
    file.seek(0)
    if start.startswith(b"["):
        return "array"
    if not start.startswith(b"{"):
        raise Refused(f"{name} is neither JSON nor one JSON object per line")
    return "object" if not _is_complete(start.split(b"\n", 1)[0]) or _is_realm(start) else "lines"


def _is_complete(line: bytes) -> bool:
    try:
        json.loads(line)
    except ValueError:
        return False
    return True


def _is_realm(start: bytes) -> bool:
    first = json.loads(start.split(b"\n", 1)[0])
    return isinstance(first, dict) and "realm" in first and isinstance(first.get("users"), list)


def _lines(file: IO[bytes]) -> Iterator[tuple[int, str, Any]]:
    for number, line in enumerate(iter(lambda: file.readline(_MAX_LINE_BYTES + 1), b""), 1):
        if len(line) > _MAX_LINE_BYTES:
            raise Refused(f"line {number} is longer than {_MAX_LINE_BYTES:,} bytes")
        text = line.removeprefix(b"\xef\xbb\xbf").strip()
        if not text:
            continue
        try:
            yield number, "line", json.loads(text)
        except (ValueError, RecursionError):
            yield number, "line", Refused("expected one JSON object")
