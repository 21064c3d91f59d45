"""Validates against JSON Schemas of tenants within bounds: a check is cheap, and fetches nothing.

References are refused, because with combinations they take exponential time; patterns are of the kind that takes linear time.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

_MAX_SCHEMAS: Final = 500
_DEEPEST: Final = 20
_MAX_VALUES: Final = 100
_MAX_PATTERNS: Final = 50
_MAX_ALTERNATIVES: Final = 100
"""The most schemas beside one another: each may be tried for every part of a record, while no other request is served."""
_PATTERN_BYTES: Final = 100_000
"""The most memory of one compiled pattern."""
_MAX_PATH_LENGTH: Final = 200
_REFUSED: Final = frozenset({"$ref", "$dynamicRef", "$recursiveRef", "uniqueItems"})
_SCHEMAS_BY_NAME: Final = ("properties", "patternProperties", "dependentSchemas", "$defs", "definitions")
_BESIDE: Final = frozenset(
    {"allOf", "anyOf", "oneOf", "not", "if", "then", "else", "contains", "dependentSchemas", "dependencies", "propertyNames"}
)  # fmt: skip
_VALUES: Final = ("enum", "const", "default", "examples")


def check_schema(schema: Any) -> None:
    """Raise ValueError with the expected form unless it is a JSON Schema object within the bounds."""
    if not isinstance(schema, dict):
        raise ValueError("a JSON Schema object")  # noqa: TRY004 - as pydantic expects
    patterns = alternatives = 0
    for count, (path, depth, item) in enumerate(_schemas(schema), start=1):
        named = item.get("patternProperties")
        patterns += ("pattern" in item) + (len(named) if isinstance(named, dict) else 0)
        if count > _MAX_SCHEMAS or depth > _DEEPEST or patterns > _MAX_PATTERNS:
            raise ValueError(
                f"a schema of at most {_MAX_SCHEMAS} parts, {_DEEPEST} levels and {_MAX_PATTERNS} patterns"
            )
        alternatives += sum(
            len(item[name]) if isinstance(item[name], list | dict) else 1 for name in _BESIDE & item.keys()
        )
        if alternatives > _MAX_ALTERNATIVES:
            raise ValueError(f"at most {_MAX_ALTERNATIVES} schemas in {', '.join(sorted(_BESIDE))}")
        if found := sorted(_REFUSED & item.keys()):
            raise ValueError(f"a schema without {found[0]}, which is at {path or '/'}")
        if isinstance(item.get("enum"), list) and not 0 < len(item["enum"]) <= _MAX_VALUES:
            raise ValueError(f"1 to {_MAX_VALUES} values for enum at {path or '/'}")
    _validator(schema)


def problem_of(schema: dict[str, Any], value: Any) -> str:
    """Return the first place where a value breaks a checked schema, and how; empty if it fits."""
    error = next(_validator(schema).iter_errors(value), None)
    if error is None:
        return ""
    place = "".join(f"/{part}" for part in error.instance_path)[:_MAX_PATH_LENGTH]
    return f"{place or '/'} breaks {error.kind.name}"


def _validator(schema: dict[str, Any]) -> Any:
    """Return the library's validator. Raises ValueError for a schema that is none."""
    from jsonschema_rs import RegexOptions, ValidationError, validator_for  # noqa: PLC0415 - few tenants have a schema

    options = RegexOptions(size_limit=_PATTERN_BYTES, dfa_size_limit=_PATTERN_BYTES)
    try:
        return validator_for(schema, offline=True, validate_formats=False, pattern_options=options)
    except ValidationError as problem:
        place = "".join(f"/{part}" for part in problem.instance_path)[:_MAX_PATH_LENGTH]
        raise ValueError(f"another value at {place or '/'}: {problem.message[:200]}") from None


def _schemas(schema: dict[str, Any]) -> Iterator[tuple[str, int, dict[str, Any]]]:
    """Yield each part that may be a schema, with its path and level."""
    waiting: list[tuple[str, int, Any]] = [("", 0, schema)]
    while waiting:
        path, depth, item = waiting.pop()
        if isinstance(item, list):
            waiting += [(f"{path}/{number}", depth + 1, inner) for number, inner in enumerate(item)]
        if not isinstance(item, dict):
            continue
        yield path, depth, item
        for name, inner in item.items():
            if name in _SCHEMAS_BY_NAME and isinstance(inner, dict):
                waiting += [(f"{path}/{name}/{key}", depth + 1, value) for key, value in inner.items()]
            elif name not in _VALUES:
                waiting.append((f"{path}/{name}", depth + 1, inner))
