"""A part of an OpenAPI document: some operations with the components they refer to, and one operation as the renderer reads it."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

from app.reference.sandbox import Trial

Object = dict[str, Any]


def excerpt(document: Object, paths: Object) -> Object:
    """Return the document with these paths alone, and the components that they refer to."""
    components: dict[str, Object] = {}
    waiting = list(_references(paths))
    while waiting:
        _, _, kind, name = waiting.pop().split("/")
        stored = components.setdefault(kind, {})
        if name not in stored:
            stored[name] = document["components"][kind][name]
            waiting += _references(stored[name])
    components["securitySchemes"] = document["components"]["securitySchemes"]
    header = {name: document[name] for name in ("openapi", "info", "servers")}
    return {**header, "paths": paths, "components": components}


def _references(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        target = value.get("$ref")
        if isinstance(target, str) and target.startswith("#/"):  # examples of SCIM have members of this name, too
            yield target
        for item in value.values():
            yield from _references(item)
    elif isinstance(value, list):
        for item in value:
            yield from _references(item)


def for_renderer(document: Object, path: str, method: str, trial: Trial) -> Object:
    """Return the document of one operation as openapi-explorer draws it best.

    It reads code samples as `x-code-samples` and cuts their indentation unless an empty line ends them. It takes no variables in
    an operation's server, draws `X or null` as a choice of two schemas, and fills in defaults but not examples. The name of
    the trial's tenant and its credentials are put in. Errors are left out: the page lists them.
    """
    described = copy.deepcopy(document["paths"][path][method])
    samples = described.pop("x-codeSamples", [])
    described["x-code-samples"] = [
        {**sample, "source": f"{_with_values(sample['source'], trial)}\n"} for sample in samples
    ]
    for server in described.get("servers", ()):
        for name, variable in server.pop("variables", {}).items():
            value = trial.tenant if trial.tenant and name == "tenant" else variable["default"]
            server["url"] = server["url"].replace(f"{{{name}}}", value)
    _fill_parameters(described, fills_all=method == "get" and "x-told-apart-by" not in described)
    _arrange_body(document, described, trial)
    described["responses"] = {status: item for status, item in described["responses"].items() if status < "4"}
    for content in (
        content for item in described["responses"].values() for content in item.get("content", {}).values()
    ):
        examples = sorted(content.get("examples", {}).items(), key=lambda item: item[0] != described["operationId"])
        content["examples"] = {
            name: {**example, "value": _without_nulls(example["value"])} for name, example in examples
        }
        content["schema"] = _in_order(document, content)
    part = excerpt(document, {path: {method: described}})
    info = {name: document["info"][name] for name in ("title", "version")}
    return {**_plain(part), "info": info, "tags": [{"name": described["tags"][0]}]}


def _with_values(sample: str, trial: Trial) -> str:
    """Return a code sample with the trial's values in place of environment variables."""
    for name, value in trial.variables.items():
        sample = sample.replace(f'os.environ["{name}"]', f'"{value}"').replace(f"process.env.{name}", f'"{value}"')
        sample = sample.replace(f"${name}", value)
    return sample if "os.environ" in sample else sample.removeprefix("import os\n")


def _fill_parameters(described: Object, *, fills_all: bool) -> None:
    """Set required parameters to their examples' values; of others only those that say what to read, if `fills_all`."""
    described["parameters"].sort(key=lambda item: (not item["required"], "example" not in item))
    for parameter in described["parameters"]:
        schema = parameter["schema"] = {name: item for name, item in parameter["schema"].items() if name != "default"}
        if "example" in parameter and (parameter["required"] or fills_all):
            schema["default"] = parameter["example"]


def _arrange_body(document: Object, described: Object, trial: Trial) -> None:
    """Put the media type of the example first, and leave the client out of it where "Try it" sends its credentials in a header."""
    body = described.get("requestBody")
    if body is None:
        return
    body["content"] = dict(sorted(body["content"].items(), key=lambda item: "examples" not in item[1]))
    for content in body["content"].values():
        for example in content.get("examples", {}).values():
            if isinstance(example.get("value"), dict) and "ClientCredentials" in trial.credentials:
                example["value"] = {
                    name: item for name, item in example["value"].items() if name not in ("client_id", "client_secret")
                }
        content["schema"] = _in_order(document, content)


def _without_nulls(value: Any) -> Any:
    """Return an example without the members that are null: a profile has a hundred of them."""
    if isinstance(value, list):
        return [_without_nulls(item) for item in value]
    if isinstance(value, dict):
        return {name: _without_nulls(item) for name, item in value.items() if item is not None}
    return value


def _in_order(document: Object, content: Object) -> Object:
    """Return a body's schema with those fields first that are required, and then those of the example."""
    schema: Object = content.get("schema", {})
    while "$ref" in schema:
        schema = document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    if "properties" not in schema:
        return schema
    shown = {name for example in content.get("examples", {}).values() for name in _members(example.get("value"))}
    required = set(schema.get("required", ()))
    names = sorted(schema["properties"], key=lambda name: (name not in required, name not in shown))
    return {**schema, "properties": {name: schema["properties"][name] for name in names}}


def _members(value: Any) -> tuple[str, ...]:
    return tuple(value) if isinstance(value, dict) else ()


def _plain(value: Any) -> Any:
    """Return a value with each schema `X or null` as X."""
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if not isinstance(value, dict):
        return value
    plain = {name: element if name in ("example", "examples") else _plain(element) for name, element in value.items()}
    choices = plain.get("anyOf")
    if isinstance(choices, list) and {"type": "null"} in choices:
        rest = [choice for choice in choices if choice != {"type": "null"}]
        if len(rest) == 1:
            beside = {
                name: element
                for name, element in plain.items()
                if name != "anyOf" and (name, element) != ("default", None)
            }
            return {**rest[0], **beside}
    return plain
