"""Builds the values of a JSON file while it is read, with their lines, and never deeper than a bound.

`ijson.items` keeps the path of every level as a text of its own, so that some hundred thousand brackets take all memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from io import BytesIO
from typing import IO, Any, Final

from app.identity.administration.account_import.import_record import RecordRefused

MAX_DEPTH: Final = 64
"""Levels of lists and objects in a record."""
TOO_DEEP: Final = f"expected at most {MAX_DEPTH} levels of lists and objects"
_SELECTED_LEVELS: Final = 3
_CHUNK: Final = 64 * 1024
_BOM: Final = b"\xef\xbb\xbf"

Keys = tuple[str | int, ...]
Event = tuple[str, Any]


class NotJson(RecordRefused):
    """A text is no JSON."""


class Stream:
    """The events of a JSON file (`ijson.basic_parse`), and the line of the present one."""

    def __init__(self, file: IO[bytes], name: str) -> None:
        self.line = 1
        self._file, self._name = file, name

    def __iter__(self) -> Iterator[Event]:
        """Raises NotJson."""
        events, parser = _parser()
        try:
            while chunk := self._file.readline(_CHUNK):
                parser.send(chunk.removeprefix(_BOM) if self.line == 1 else chunk)
                yield from events
                del events[:]
                self.line += chunk.endswith(b"\n")
            parser.close()
            yield from events  # a number that nothing follows ends here
        except (_json_error(), UnicodeDecodeError) as problem:
            text = " ".join(str(problem).split())
            raise NotJson(f"{self._name}: line {self.line} isn't valid JSON: {text}") from None


@dataclass(slots=True)
class _Container:
    """A list or an object that is open; without a `value`, nothing in it is kept."""

    value: Any
    key: str | int
    """Of the present member."""
    line: int
    depth: int = 0
    """Below the value that is built."""


def values(stream: Stream, is_selected: Callable[[Keys], bool]) -> Iterator[tuple[Keys, int, Any]]:
    """Yield each selected value with its keys and its line; yield RecordRefused for a value that is nested too deep. Raises NotJson.

    Args:
        is_selected: asked with the keys of a value, of the first levels only.
    """
    opened: list[_Container] = []
    refusal: RecordRefused | None = None
    for event, value in stream:
        if event == "map_key":
            opened[-1].key = value
            continue
        if event.startswith("end_"):
            closed = opened.pop()
            if closed.depth == 1:
                yield _keys(opened), closed.line, refusal or closed.value
                refusal = None
            _count(opened)
            continue
        depth = _depth(opened, is_selected)
        if depth > MAX_DEPTH:
            refusal = RecordRefused(TOO_DEEP)
        content = _empty(event, value) if depth and refusal is None else None
        if depth > 1 and refusal is None:
            _put(opened[-1], content)
        if event.startswith("start_"):
            opened.append(_Container(content, "" if event == "start_map" else 0, stream.line, depth))
            continue
        if depth == 1:
            yield _keys(opened), stream.line, value
        _count(opened)


def _depth(opened: list[_Container], is_selected: Callable[[Keys], bool]) -> int:
    """Return how deep the next value is within the wanted one, from 1; 0 outside of one."""
    if opened and opened[-1].depth:
        return opened[-1].depth + 1
    return int(len(opened) <= _SELECTED_LEVELS and is_selected(_keys(opened)))


def _empty(event: str, value: Any) -> Any:
    """Return the scalar of an event, or the list or object that it starts."""
    if event == "start_map":
        return {}
    return [] if event == "start_array" else value


def parsed(text: bytes) -> Any:
    """Return the value of a JSON text. Raises NotJson, and RecordRefused where it is too deep."""
    found = [value for _, _, value in values(Stream(BytesIO(text), "text"), lambda keys: not keys)]
    if isinstance(found[0], RecordRefused):
        raise found[0]
    return found[0]


def outline(start: bytes) -> tuple[set[str], bool]:
    """Return the keys of the first object in the beginning of a file, and whether the beginning is one complete value."""
    keys: set[str] = set()
    depth, is_first = 0, True
    try:
        for event, value in Stream(BytesIO(start), "beginning"):
            if event == "map_key" and depth == 1:
                keys.add(value)
            elif is_first and (depth or event == "start_map"):
                depth += event.startswith("start_") - event.startswith("end_")
                is_first = depth > 0
    except NotJson:
        return keys, False
    return keys, True


def _parser() -> tuple[Any, Any]:
    import ijson  # noqa: PLC0415 - only this command needs it

    events = ijson.sendable_list()
    # `use_float` refuses numbers beyond 64 bits: as decimals, a long one ends the process, and 1e9999999 takes hours
    return events, ijson.basic_parse_coro(events, use_float=True)


def _json_error() -> type[Exception]:
    import ijson  # noqa: PLC0415 - as above

    found: type[Exception] = ijson.JSONError
    return found


def _keys(opened: list[_Container]) -> Keys:
    return tuple(item.key for item in opened)


def _put(parent: _Container, value: Any) -> None:
    if isinstance(parent.value, list):
        parent.value.append(value)
    else:
        parent.value[parent.key] = value


def _count(opened: list[_Container]) -> None:
    """Go to the next element of the innermost list."""
    if opened and isinstance(opened[-1].key, int):
        opened[-1].key += 1
