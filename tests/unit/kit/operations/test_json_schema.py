"""JSON Schema of custom objects: its checks and its bounds."""

from __future__ import annotations

from time import process_time
from typing import Any

import pytest

from app.kit.text.json_schema import check_schema, problem_of

CAR: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "A car",
    "type": "object",
    "properties": {
        "plate": {"type": "string", "minLength": 2, "maxLength": 8},
        "doors": {"type": "integer", "minimum": 2, "maximum": 5},
        "price": {"type": ["number", "null"], "exclusiveMinimum": 0, "exclusiveMaximum": 100},
        "color": {"enum": ["red", 1, True, {"r": 1}]},
        "kind": {"const": 1},
        "owners": {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 2},
        "extras": {"type": "object", "minProperties": 1, "maxProperties": 2, "additionalProperties": {"type": "boolean"}},
        "nothing": False,
        "phone": {"type": "string", "pattern": r"^\+?\d{3,15}$"},
        "either": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
    },
    "required": ["plate"],
    "additionalProperties": False,
}  # fmt: skip
FITS: list[dict[str, Any]] = [
    {"plate": "AB 1"},
    {"plate": "AB 1", "doors": 3.0, "price": None},
    {"plate": "AB 1", "price": 99.9, "color": True, "kind": 1.0},
    {"plate": "AB 1", "owners": ["a", "b"], "extras": {"radio": True}},
    {"plate": "AB 1", "color": {"r": 1}, "phone": "+4917012345", "either": 2},
]
BREAKS: list[tuple[Any, str]] = [
    ([], "/ breaks type"),
    ({}, "/ breaks required"),
    ({"plate": 1}, "/plate breaks type"),
    ({"plate": "A"}, "/plate breaks minLength"),
    ({"plate": "A" * 9}, "/plate breaks maxLength"),
    ({"plate": "AB", "doors": 2.5}, "/doors breaks type"),
    ({"plate": "AB", "doors": True}, "/doors breaks type"),
    ({"plate": "AB", "doors": 1}, "/doors breaks minimum"),
    ({"plate": "AB", "doors": 6}, "/doors breaks maximum"),
    ({"plate": "AB", "price": 0}, "/price breaks exclusiveMinimum"),
    ({"plate": "AB", "price": 100}, "/price breaks exclusiveMaximum"),
    ({"plate": "AB", "color": "blue"}, "/color breaks enum"),
    ({"plate": "AB", "color": False}, "/color breaks enum"),
    ({"plate": "AB", "kind": True}, "/kind breaks const"),
    ({"plate": "AB", "owners": []}, "/owners breaks minItems"),
    ({"plate": "AB", "owners": ["a"] * 3}, "/owners breaks maxItems"),
    ({"plate": "AB", "owners": ["a", 1]}, "/owners/1 breaks type"),
    ({"plate": "AB", "extras": {}}, "/extras breaks minProperties"),
    ({"plate": "AB", "extras": {"a": True, "b": True, "c": True}}, "/extras breaks maxProperties"),
    ({"plate": "AB", "extras": {"a": 1}}, "/extras/a breaks type"),
    ({"plate": "AB", "nothing": 1}, "/nothing breaks falseSchema"),
    ({"plate": "AB", "other": 1}, "/ breaks additionalProperties"),
    ({"plate": "AB", "phone": "12"}, "/phone breaks pattern"),
    ({"plate": "AB", "either": 1.5}, "/either breaks anyOf"),
]


def test_fitting_values_pass() -> None:
    check_schema(CAR)
    assert [problem_of(CAR, value) for value in FITS] == [""] * len(FITS)


@pytest.mark.parametrize(("value", "problem"), BREAKS, ids=[problem for _, problem in BREAKS])
def test_breach_is_named(value: Any, problem: str) -> None:
    assert problem_of(CAR, value) == problem


def nested(depth: int) -> dict[str, Any]:
    schema: dict[str, Any] = {}
    for _ in range(depth):
        schema = {"items": schema}
    return schema


@pytest.mark.parametrize(
    "schema",
    [
        True, [], {"$ref": "#"}, {"$ref": "https://evil.example/schema"}, {"$dynamicRef": "#a"}, {"$schema": "https://evil.example/"},
        {"allOf": [{"$ref": "#"}]}, {"properties": {"a": {"not": {"$ref": "#"}}}}, {"items": {"if": {"$ref": "#"}}},
        {"pattern": "(?=a)b"}, {"pattern": "(a){1000}{1000}"}, {"pattern": "("}, {"uniqueItems": True}, {"patternProperties": 5},
        {"allOf": [{"pattern": str(number)} for number in range(51)]},
        {"type": "text"}, {"type": []}, {"type": [[]]}, {"enum": []}, {"enum": list(range(101))}, {"required": "a"},
        {"properties": []}, {"properties": {"a": 1}}, {"minLength": -1}, {"minLength": True}, {"maximum": "1"}, nested(21),
        {"properties": {str(number): {} for number in range(500)}},
        {"items": {"anyOf": [{"const": number} for number in range(101)]}}, {"not": {"oneOf": [{"allOf": [{}] * 33}] * 3}},
        {"dependentSchemas": {str(number): {} for number in range(101)}},
    ],
)  # fmt: skip
def test_schema_outside_the_bounds_is_refused(schema: Any) -> None:
    with pytest.raises(ValueError, match=r"\S"):
        check_schema(schema)


@pytest.mark.parametrize(
    "schema", [{"properties": {"$ref": {"type": "string"}}}, {"enum": [{"$ref": "#"}]}, {"const": {"$ref": 1}}]
)
def test_name_that_looks_like_a_reference_is_none(schema: dict[str, Any]) -> None:
    check_schema(schema)


def test_pattern_takes_linear_time() -> None:
    """With backtracking this would take longer than the universe has existed."""
    schema = {"pattern": "^(a+)+$"}
    check_schema(schema)
    assert problem_of(schema, "a" * 50_000 + "b") == "/ breaks pattern"


def test_large_record_with_most_alternatives_costs_little() -> None:
    """Meanwhile the process serves no request."""
    schema = {"items": {"anyOf": [{"const": number} for number in range(100)]}}
    check_schema(schema)
    before = process_time()
    assert problem_of(schema, [99] * 33_000) == ""
    assert process_time() - before < 1
