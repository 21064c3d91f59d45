"""Puts recorded examples, and code samples made from them, into an OpenAPI document."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from app.kit.openapi.code_samples import Call, Variable, filled, samples
from app.kit.operations.operation import AnyOperation

Object = dict[str, Any]


def add_examples(
    document: Object, operations: Iterable[AnyOperation], examples: Mapping[str, Mapping[str, Any]]
) -> None:
    """Add to each operation of the document the examples of all operations that its entry stands for, and code samples of the first.

    An example is `request` (path, query, headers, media_type, body) and `answer` (status, media_type, body, location).
    """
    for operation, path, entry in _entries(document, operations):
        example = examples.get(operation.name)
        if example is None:
            continue
        _add_parameters(entry, example["request"], _renamed(operation.path, path))
        _add_body(operation, entry, example["request"])
        _add_answer(operation, entry, example["answer"])
        if "x-codeSamples" not in entry or entry["operationId"] == operation.name:
            entry["x-codeSamples"] = samples(_call(document, entry, path, operation, example))


def _entries(document: Object, operations: Iterable[AnyOperation]) -> Iterator[tuple[AnyOperation, str, Object]]:
    paths = {_open(path): path for path in document["paths"]}
    for operation in operations:
        path = paths.get(_open(operation.path))
        if path is not None and operation.documentation.is_public:
            yield operation, path, document["paths"][path][operation.method.lower()]


def _open(path: str) -> str:
    return re.sub(r"\{\w+\}", "{}", path.lower())


def _renamed(own: str, path: str) -> dict[str, str]:
    """Return the document's names of an operation's path parameters."""
    return dict(zip(re.findall(r"\{(\w+)\}", own), re.findall(r"\{(\w+)\}", path), strict=True))


def _add_parameters(entry: Object, request: Mapping[str, Any], renamed: Mapping[str, str]) -> None:
    shown = {
        **{("path", renamed.get(name, name)): value for name, value in request.get("path", {}).items()},
        **{("query", name): value for name, value in request.get("query", {}).items()},
        **{("header", name): value for name, value in request.get("headers", {}).items()},
    }
    for parameter in entry["parameters"]:
        value = shown.get((parameter["in"], parameter["name"]))
        if value is not None:
            parameter.setdefault("example", value)


def _add_body(operation: AnyOperation, entry: Object, request: Mapping[str, Any]) -> None:
    content = entry.get("requestBody", {}).get("content", {})
    if "body" in request and content:
        stored = content.get(request["media_type"]) or next(iter(content.values()))
        stored.setdefault("examples", {})[operation.name] = _named(operation, request["body"])


def _add_answer(operation: AnyOperation, entry: Object, answer: Mapping[str, Any]) -> None:
    response = entry["responses"].get(str(answer["status"]), {})
    if "location" in answer:
        response["headers"] = {"Location": {"schema": {"type": "string"}, "example": answer["location"]}}
    stored = response.get("content", {}).get(answer.get("media_type"))
    if stored is not None and answer.get("body") is not None:
        stored.setdefault("examples", {})[operation.name] = _named(operation, answer["body"])


def _named(operation: AnyOperation, value: Any) -> Object:
    return {"summary": operation.documentation.summary, "value": value}


def _call(document: Object, entry: Object, path: str, operation: AnyOperation, example: Mapping[str, Any]) -> Call:
    hosts = {f"https://{name}.example.com": address for name, address in _addresses(document).items()}
    request, answer = _moved(example["request"], hosts), example["answer"]
    base = _address((entry.get("servers") or document["servers"])[0])
    in_path = {_renamed(operation.path, path).get(name, name): value for name, value in request.get("path", {}).items()}
    return Call(
        operation.method,
        base + filled(path, in_path),
        query=request.get("query", {}),
        headers=request.get("headers", {}),
        body=_without_secrets(document, entry, request.get("body")),
        media_type=request.get("media_type", ""),
        is_redirect="location" in answer,
        answers_json="json" in answer.get("media_type", ""),
        **_credentials(document["components"]["securitySchemes"], entry["security"], request),
    )


def _address(server: Object) -> str:
    return str(server["url"]).format(
        **{name: variable["default"] for name, variable in server.get("variables", {}).items()}
    )


def _addresses(document: Object) -> dict[str, str]:
    """Return the address of each host that examples name: `api`, and the tenant of the document."""
    of_tenants = (
        server for item in document["paths"].values() for entry in item.values() for server in entry.get("servers", ())
    )
    tenant = next(of_tenants, None)
    named = {tenant["variables"]["tenant"]["default"]: _address(tenant)} if tenant and "variables" in tenant else {}
    return {"api": _address(document["servers"][0]), **named}


def _moved(value: Any, hosts: Mapping[str, str]) -> Any:
    """Return a value with the addresses of this installation in place of the examples'."""
    if isinstance(value, dict):
        return {name: _moved(item, hosts) for name, item in value.items()}
    if isinstance(value, list):
        return [_moved(item, hosts) for item in value]
    if isinstance(value, str):
        return next((here + value[len(there) :] for there, here in hosts.items() if value.startswith(there)), value)
    return value


def _without_secrets(document: Object, entry: Object, body: Any) -> Any:
    """Return the body of a client that authenticates in it, with its id and secret from environment variables."""
    schemes = document["components"]["securitySchemes"]
    is_client = any(schemes[name].get("scheme", "").lower() == "basic" for item in entry["security"] for name in item)
    if not is_client or not isinstance(body, dict):
        return body
    own = {"client_id": Variable("CLIENT_ID"), "client_secret": Variable("CLIENT_SECRET")}
    return {name: own.get(name, item) for name, item in body.items()}


def _credentials(schemes: Object, security: list[Object], request: Mapping[str, Any]) -> Object:
    """Return what the first way to authenticate needs; a client whose body names it sends no more."""
    credentials: Object = {"secret_query": {}, "secret_headers": {}}
    has_client = isinstance(request.get("body"), dict) and "client_id" in request["body"]
    for name in next(iter(security), {}):
        stated, variable = schemes[name], _variable(name)
        if stated["type"] == "apiKey":
            credentials["secret_query" if stated["in"] == "query" else "secret_headers"][stated["name"]] = variable
        elif stated["type"] == "http" and stated["scheme"].lower() == "basic":
            credentials["basic"] = None if has_client else ("CLIENT_ID", "CLIENT_SECRET")
        else:
            credentials["bearer"] = variable
    return credentials


def _variable(name: str) -> str:
    """Return `API_KEY` for `ApiKey`."""
    parts = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", name)
    return "_".join(parts).upper()
