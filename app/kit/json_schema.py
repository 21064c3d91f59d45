"""A bounded part of JSON Schema (draft 2020-12): no references, no regular expressions, no combinations, so that a check costs little.

A keyword that this part lacks is refused when the schema is set: ignored, it would let pass what the schema forbids.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sized
from typing import Any, Final

_MOST_SCHEMAS: Final = 500
_DEEPEST: Final = 20
_MOST_VALUES: Final = 100
_LONGEST_PATH: Final = 200
_ANNOTATIONS: Final = frozenset(
    {"$schema", "$id", "$comment", "title", "description", "default", "examples", "format", "deprecated", "readOnly", "writeOnly"}
)  # fmt: skip
Schema = Mapping[str, Any] | bool


def _is_integer(value: Any) -> bool:
    return _is_number(value) and float(value).is_integer()


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


_TYPES: Final[Mapping[str, Callable[[Any], bool]]] = {
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
    "number": _is_number,
    "integer": _is_integer,
}


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_bound(value: Any) -> bool:
    return _is_number(value) and math.isfinite(value)


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)


def _is_type(value: Any) -> bool:
    names = value if isinstance(value, list) else [value]
    return bool(names) and all(isinstance(one, str) and one in _TYPES for one in names)


_KEYWORDS: Final[Mapping[str, tuple[Callable[[Any], bool], str]]] = {
    "type": (_is_type, "one of the seven types, or a list of them"),
    "enum": (lambda value: isinstance(value, list) and 0 < len(value) <= _MOST_VALUES, "1 to 100 values"),
    "const": (lambda _: True, ""),
    "properties": (lambda value: isinstance(value, dict), "an object of schemas"),
    "required": (_is_texts, "a list of names"),
    **dict.fromkeys(("additionalProperties", "items"), (lambda value: isinstance(value, dict | bool), "a schema")),
    **dict.fromkeys(
        ("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"), (_is_count, "a count")
    ),
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), (_is_bound, "a number")),
}  # fmt: skip


def check_schema(schema: Any) -> None:
    """Raise ValueError with what is expected, unless it is an object of this part of JSON Schema within the bounds."""
    waiting: list[tuple[str, Any, int]] = [("", schema, 0)]
    count = 0
    while waiting:
        path, one, depth = waiting.pop()
        count += 1
        if count > _MOST_SCHEMAS or depth > _DEEPEST:
            raise ValueError(f"a schema of at most {_MOST_SCHEMAS} parts and {_DEEPEST} levels")
        keywords = None if isinstance(one, bool) and path else one
        if not isinstance(keywords, dict | None):
            raise ValueError(f"a JSON Schema object at {path or '/'}")  # noqa: TRY004 - as pydantic expects
        for name, value in (keywords or {}).items():
            _check_keyword(path, name, value)
        waiting += [(f"{path}/{name}", inner, depth + 1) for name, inner in _inner(keywords or {})]


def _check_keyword(path: str, name: str, value: Any) -> None:
    if name in _ANNOTATIONS:
        return
    if name not in _KEYWORDS:
        raise ValueError(f"keywords among {', '.join(sorted(_KEYWORDS))}; found {name[:60]} at {path or '/'}")
    is_valid, expected = _KEYWORDS[name]
    if not is_valid(value):
        raise ValueError(f"{expected} for {name} at {path or '/'}")


def _inner(schema: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    yield from ((f"properties/{name}", one) for name, one in schema.get("properties", {}).items())
    yield from ((name, schema[name]) for name in ("additionalProperties", "items") if name in schema)


def problem_of(schema: Schema, value: Any, path: str = "") -> str:
    """Return the first place where a value breaks a checked schema, and how; empty if it fits."""
    if isinstance(schema, bool):
        return "" if schema else f"{path[:_LONGEST_PATH]} isn't allowed"
    broken = next((name for name in schema if name in _RULES and not _RULES[name](schema[name], value)), None)
    if broken is not None:
        return f"{path[:_LONGEST_PATH] or '/'} breaks {broken}"
    parts = _parts_of_object(schema, value) if isinstance(value, dict) else _parts_of_array(schema, value)
    found = (problem_of(one, inner, f"{path}/{name}") for name, one, inner in parts)
    return next(filter(None, found), "")


def _parts_of_object(schema: Mapping[str, Any], value: Mapping[str, Any]) -> Iterator[tuple[str, Schema, Any]]:
    properties, others = schema.get("properties", {}), schema.get("additionalProperties", True)
    yield from ((name, properties.get(name, others), inner) for name, inner in value.items())


def _parts_of_array(schema: Mapping[str, Any], value: Any) -> Iterator[tuple[str, Schema, Any]]:
    if isinstance(value, list) and "items" in schema:
        yield from ((str(number), schema["items"], inner) for number, inner in enumerate(value))


def _has_type(names: Any, value: Any) -> bool:
    return any(_TYPES[name](value) for name in (names if isinstance(names, list) else [names]))


def _is_same(one: Any, other: Any) -> bool:
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_is_same, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_is_same(one[name], other[name]) for name in one)
    return bool(one == other)


def _sized(kind: type[Sized], is_within: Callable[[int, int], bool]) -> Callable[[Any, Any], bool]:
    return lambda bound, value: not isinstance(value, kind) or is_within(len(value), bound)


def _numbered(is_within: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    return lambda bound, value: not _is_number(value) or is_within(value, bound)


_RULES: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    "type": _has_type,
    "enum": lambda values, value: (
        value in values if isinstance(value, str) else any(_is_same(one, value) for one in values)
    ),
    "const": _is_same,
    "required": lambda names, value: not isinstance(value, dict) or all(name in value for name in names),
    "minLength": _sized(str, lambda size, bound: size >= bound),
    "maxLength": _sized(str, lambda size, bound: size <= bound),
    "minItems": _sized(list, lambda size, bound: size >= bound),
    "maxItems": _sized(list, lambda size, bound: size <= bound),
    "minProperties": _sized(dict, lambda size, bound: size >= bound),
    "maxProperties": _sized(dict, lambda size, bound: size <= bound),
    "minimum": _numbered(lambda value, bound: value >= bound),
    "maximum": _numbered(lambda value, bound: value <= bound),
    "exclusiveMinimum": _numbered(lambda value, bound: value > bound),
    "exclusiveMaximum": _numbered(lambda value, bound: value < bound),
}
