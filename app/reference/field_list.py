"""The fields of an operation as lists, which its page has for readers without scripts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

Object = dict[str, Any]

_PLACES: Final = {"path": "Path parameters", "query": "Query parameters", "header": "Headers"}


@dataclass(frozen=True)
class ListedField:
    """A parameter, or a member of a body; members of a member are named `Email[].Type`."""

    name: str
    type: str
    is_required: bool
    meaning: str


@dataclass(frozen=True)
class FieldGroup:
    """The fields of one place; `media_types` are those of a body that has them, separated by commas."""

    title: str
    fields: tuple[ListedField, ...]
    media_types: str = ""


def field_groups(document: Object) -> list[FieldGroup]:
    """Return the fields that the operation of a document takes, and then those that it answers with; groups without fields are left out.

    Args:
        document: the document of one operation, as `for_renderer` returns it.
    """
    ((_, methods),) = document["paths"].items()
    (operation,) = methods.values()
    schemas = document["components"].get("schemas", {})
    found = [FieldGroup(title, tuple(_parameters(operation, place, schemas))) for place, title in _PLACES.items()]
    found += _bodies("Request body", operation.get("requestBody", {}), schemas, has_nested=True)
    for status, response in operation["responses"].items():
        found += _bodies(f"Response {status}", response, schemas, has_nested=False)
    return [group for group in found if group.fields]


def _parameters(operation: Object, place: str, schemas: Object) -> Iterator[ListedField]:
    for item in operation["parameters"]:
        if item["in"] == place:
            yield ListedField(item["name"], _type(item["schema"], schemas), item["required"], item["description"])


def _bodies(title: str, body: Object, schemas: Object, *, has_nested: bool) -> list[FieldGroup]:
    """Return a group for each set of fields: most operations take the same as JSON and as a form."""
    found: dict[frozenset[ListedField], FieldGroup] = {}
    for media_type, content in body.get("content", {}).items():
        fields = tuple(_members(content["schema"], schemas, has_nested=has_nested))
        same = found.setdefault(frozenset(fields), FieldGroup(title, fields))
        named = f"{same.media_types}, {media_type}" if same.media_types else media_type
        found[frozenset(fields)] = replace(same, media_types=named)
    return list(found.values())


def _members(schema: Object, schemas: Object, *, has_nested: bool, prefix: str = "") -> Iterator[ListedField]:
    schema = _target(schema, schemas)
    required = schema.get("required", ())
    for name, member in schema.get("properties", {}).items():
        yield ListedField(prefix + name, _type(member, schemas), name in required, _meaning(member, schemas))
        if has_nested:
            is_list = "items" in (inner := _target(member, schemas))
            inside = inner["items"] if is_list else inner
            start = f"{prefix}{name}{'[]' if is_list else ''}."
            yield from _members(inside, schemas, has_nested=False, prefix=start)


def _target(schema: Object, schemas: Object) -> Object:
    """Return the schema behind a reference."""
    while "$ref" in schema:
        schema = schemas[schema["$ref"].rpartition("/")[2]]
    return schema


def _meaning(schema: Object, schemas: Object) -> str:
    return str(schema.get("description") or _target(schema, schemas).get("description", ""))


def _type(schema: Object, schemas: Object) -> str:
    """Return the type in words: `string`, `string[]`, `“a” or “b”`."""
    schema = _target(schema, schemas)
    if "anyOf" in schema:
        return " or ".join(dict.fromkeys(_type(choice, schemas) for choice in schema["anyOf"]))
    if "enum" in schema:
        return " or ".join(f"“{value}”" for value in schema["enum"])
    if "const" in schema:
        return f"“{schema['const']}”"
    stated = schema.get("type", "any")
    names = [name for name in ([stated] if isinstance(stated, str) else stated) if name != "null"] or ["null"]
    return " or ".join(
        f"{_type(schema['items'], schemas)}[]" if name == "array" and "items" in schema else name for name in names
    )
