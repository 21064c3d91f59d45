"""The published OpenAPI document of the interface, and whether bodies are as it says."""

from __future__ import annotations

import json
import re
from functools import cache
from typing import Any

import jsonschema_rs

from app.contract.catalogue import load_catalogue
from app.contract.published.openapi import openapi_document
from tests.support.services.real_services import of_the_run

API_URL, TENANT_URL = "http://api.example.com", "http://{tenant}.example.com"


@cache
def published_interface() -> dict[str, Any]:
    """Return the document as clients read it. Do not change it: making it takes seconds, so all workers share one."""
    load_catalogue()
    file = of_the_run("interface.json", lambda path: path.write_text(json.dumps(openapi_document(API_URL, TENANT_URL))))
    document: dict[str, Any] = json.loads(file.read_text())
    return document


def is_valid(schema: dict[str, Any], value: Any) -> bool:
    """Tell whether a value fits a schema of the document."""
    return jsonschema_rs.is_valid({**schema, "components": {"schemas": used_by(schema)}}, value)


def used_by(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the components that a schema leads to: all of them would take a second to compile for each example."""
    components, found = published_interface()["components"]["schemas"], dict[str, Any]()
    waiting = references(schema)
    while waiting:
        name = waiting.pop()
        found[name] = components[name]
        waiting |= references(components[name]) - set(found)
    return found


def references(schema: dict[str, Any]) -> set[str]:
    return set(re.findall(r'"#/components/schemas/([^"]+)"', json.dumps(schema)))


def undeclared(schema: dict[str, Any], value: dict[str, Any]) -> set[str]:
    """Return members of an object that its schema does not name, where it names all."""
    while "$ref" in schema:
        schema = published_interface()["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    is_open = "properties" not in schema or schema.get("additionalProperties")
    return set() if is_open else set(value) - set(schema["properties"])
