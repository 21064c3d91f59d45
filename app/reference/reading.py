"""The operations of an OpenAPI document by tag, each with its parameters, bodies and responses as lines."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

_CALLERS = {
    "ApiKey": "API key",
    "ApiSecret": "API secret",
    "AccessToken": "access token",
    "MachineToken": "machine token",
    "SecondFactorToken": "second-factor token",
    "ClientCredentials": "client credentials",
    "ClientId": "client ID",
    "ClientSecret": "client secret",
}
_MAX_DEPTH = 3


@dataclass(frozen=True)
class Member:
    """A parameter or member as a line."""

    name: str
    kind: str
    note: str
    is_required: bool
    depth: int = 0


@dataclass(frozen=True)
class Entry:
    """An operation."""

    name: str
    method: str
    path: str
    summary: str
    callers: str
    host: str
    also: tuple[str, ...]
    parameters: tuple[Member, ...]
    body: tuple[Member, ...]
    answer: tuple[Member, ...]
    errors: tuple[tuple[str, tuple[str, ...]], ...]


def operations(document: dict[str, Any]) -> dict[str, list[Entry]]:
    """Return the operations by tag, in the document's order."""
    schemas = document["components"]["schemas"]
    areas: dict[str, list[Entry]] = {tag["name"]: [] for tag in document["tags"]}
    for path, methods in document["paths"].items():
        for method, entry in methods.items():
            areas[entry["tags"][0]].append(_entry(path, method, entry, schemas))
    return areas


def _entry(path: str, method: str, entry: dict[str, Any], schemas: dict[str, Any]) -> Entry:
    responses = dict(entry["responses"])
    success = [
        content
        for status, response in responses.items()
        if status.startswith("2")
        for content in response.get("content", {}).values()
    ]
    body = list(entry.get("requestBody", {}).get("content", {}).values())
    ways = [" and ".join(_CALLERS[scheme] for scheme in requirement) or "anyone" for requirement in entry["security"]]
    return Entry(
        name=entry["operationId"],
        method=method.upper(),
        path=path,
        summary=entry["summary"],
        callers=", or ".join(ways),
        host="a tenant's host" if "servers" in entry else "the API host",
        also=tuple(entry.get("x-also-at", ())),
        parameters=tuple(
            Member(one["name"], _kind(one["schema"], schemas), one["in"], one["required"])
            for one in entry["parameters"]
        ),
        body=tuple(_members(body[0]["schema"], schemas)) if body else (),
        answer=tuple(_members(success[0]["schema"], schemas)) if success else (),
        errors=tuple(
            (status, tuple(one["description"].split("\n")))
            for status, one in responses.items()
            if not status.startswith("2")
        ),
    )


def _members(schema: dict[str, Any], schemas: dict[str, Any], depth: int = 0) -> Iterator[Member]:
    """Yield the members of an object, each followed by those of its nested object."""
    schema = _resolved(schema, schemas)
    if "anyOf" in schema and depth == 0:
        for one in schema["anyOf"]:
            yield from _members(one, schemas, depth)
        return
    required = set(schema.get("required", ()))
    for name, one in schema.get("properties", {}).items():
        yield Member(name, _kind(one, schemas), str(one.get("description", "")), name in required, depth)
        inner = _object_within(one, schemas)
        if inner is not None and depth < _MAX_DEPTH:
            yield from _members(inner, schemas, depth + 1)


def _object_within(schema: dict[str, Any], schemas: dict[str, Any]) -> dict[str, Any] | None:
    schema = _resolved(schema, schemas)
    for one in (*schema.get("anyOf", ()), schema.get("items", {})):
        found = _object_within(one, schemas) if one else None
        if found is not None:
            return found
    return schema if "properties" in schema else None


def _kind(schema: dict[str, Any], schemas: dict[str, Any]) -> str:
    schema = _resolved(schema, schemas)
    if "anyOf" in schema:
        kinds = dict.fromkeys(_kind(one, schemas) for one in schema["anyOf"])
        return " or ".join(kinds)
    if "enum" in schema:
        return ", ".join(map(str, schema["enum"]))
    if "const" in schema:
        return str(schema["const"])
    kind = str(schema.get("type", "anything"))
    if kind == "array":
        return f"list of {_kind(schema.get('items', {}), schemas)}"
    bounds = [f"at most {schema['maxLength']} characters"] if "maxLength" in schema else []
    bounds += [str(schema["format"])] if "format" in schema else []
    return ", ".join([{"string": "text", "object": "object", "null": "null"}.get(kind, kind), *bounds])


def _resolved(schema: dict[str, Any], schemas: dict[str, Any]) -> dict[str, Any]:
    while "$ref" in schema:
        schema = schemas[schema["$ref"].rpartition("/")[2]]
    return schema
