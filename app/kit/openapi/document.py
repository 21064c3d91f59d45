"""The OpenAPI 3.1 document of a catalogue's public operations.

OpenAPI has one operation per method and path. Operations that differ by a query name are merged into one entry, with the
parameters and responses of all; `x-told-apart-by` says which query names select each.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from pydantic.json_schema import models_json_schema

from app.kit.openapi.errors import error_examples, error_responses, error_schemas
from app.kit.openapi.publication import Publication
from app.kit.operations.auth import Access
from app.kit.operations.operation import AnyOperation, BaseHost, Catalogue
from app.kit.operations.wire import Document, From, Wire, shape_of

JSON = "application/json"
_TEXT = {"type": "string"}
_REFS = "#/components/schemas/{model}"
_SUCCESS = {
    "200": "Success.",
    "201": "Created.",
    "204": "Success, without a body.",
    "302": "A redirect of the browser.",
}
_PLACES = {From.PATH: "path", From.QUERY: "query", From.HEADER: "header"}


def document(
    catalogue: Catalogue,
    api_url: str,
    servers: Mapping[BaseHost, Mapping[str, Any]] | None = None,
    publication: Publication | None = None,
) -> dict[str, Any]:
    """Return the document.

    Args:
        api_url: where operations are served whose host is not among `servers`.
        servers: Server Objects (OpenAPI 3.1 section 4.8.5) of other hosts.
    """
    published = publication or Publication()
    public = [operation for operation in catalogue if operation.documentation.is_public]
    schemas = _Schemas(public, published)
    paths: dict[str, dict[str, Any]] = {}
    for path, method, item in _entries(public):
        entry = _entry(item, path, schemas, published)
        server = (servers or {}).get(item[0].host)
        if server is not None:
            entry["servers"] = [server]
        paths.setdefault(path, {})[method.lower()] = entry
    return {
        "openapi": "3.1.0",
        "info": {"title": published.title, "version": "1.0.0", **published.info},
        **published.extra,
        "servers": [{"url": api_url, "description": "The API host."}],
        **published.tags(public),
        "paths": dict(sorted(paths.items())),
        "components": {
            "schemas": {**error_schemas(), **schemas.shared()},
            "examples": error_examples(public),
            "securitySchemes": _security_schemes(public),
        },
    }


def _security_schemes(operations: Iterable[AnyOperation]) -> dict[str, Any]:
    used = {scheme for operation in operations for scheme in operation.admission.every_auth.schemes()}
    every = [scheme for kind in {type(scheme) for scheme in used} for scheme in kind if scheme in used]
    return {scheme.published_name: scheme.facts.openapi for scheme in every if scheme.facts.openapi}


def _entries(operations: Iterable[AnyOperation]) -> Iterable[tuple[str, str, list[AnyOperation]]]:
    """Yield path, method and their operations; paths that differ only in a parameter's name are merged.

    First is the operation that answers without any of the query names; which module was imported first changes nothing.
    """
    spelt: dict[str, str] = {}
    stored: dict[tuple[str, str], list[AnyOperation]] = {}
    for operation in operations:
        path = spelt.setdefault(re.sub(r"\{\w+\}", "{}", operation.path.lower()), operation.path)
        stored.setdefault((path, operation.method), []).append(operation)
    return [(path, method, sorted(found, key=lambda item: bool(item.when))) for (path, method), found in stored.items()]


def _entry(stored: Sequence[AnyOperation], path: str, schemas: _Schemas, published: Publication) -> dict[str, Any]:
    first = stored[0]
    entry: dict[str, Any] = {
        "operationId": first.name,
        "tags": [published.tag_of(first)],
        **_words(stored),
        "parameters": _parameters(stored, path, schemas),
        "responses": _responses(stored, schemas),
        "security": _security(stored),
    }
    bodies = [body for body in (schemas.body_of(operation) for operation in stored) if body is not None]
    if bodies and first.method not in ("GET", "HEAD"):
        schema = bodies[0] if len(bodies) == 1 else {"anyOf": bodies}
        kinds = dict.fromkeys(kind for operation in stored for kind in operation.media_types)
        required = len(bodies) == len(stored) and all(shape_of(operation.request).needs_body for operation in stored)
        entry["requestBody"] = {"required": required, "content": {kind: {"schema": schema} for kind in kinds}}
    also = [f"{method} {other}" for operation in stored for method, other in list(operation.addresses())[1:]]
    if also:
        entry["x-also-at"] = also
    if first.admission.access is not None:
        entry["x-application-access"] = _access(first.admission.access)
    if len(stored) > 1:
        entry["x-told-apart-by"] = {operation.name: list(operation.when) for operation in stored}
    return entry


def _words(stored: Sequence[AnyOperation]) -> dict[str, str]:
    """Return summary and description; each operation of a merged entry is a paragraph."""
    texts = [operation.documentation for operation in stored]
    first, rest = texts[0].summary, [f"{text.summary[:1].lower()}{text.summary[1:]}" for text in texts[1:]]
    if not rest:
        words = "\n\n".join(filter(None, (texts[0].description, _needs(stored[0]))))
        return {"summary": first, **({"description": words} if words else {})}
    parts = [
        f"**{item.documentation.summary}** ({_condition(item)}): {item.documentation.description}" for item in stored
    ]
    return {"summary": ", or ".join([first, *rest]), "description": "\n\n".join(parts)}


def _needs(operation: AnyOperation) -> str:
    """Return what credentials with scopes, and access tokens that were issued to an application, need."""
    admission, needs = operation.admission, []
    if admission.scope:
        scoped = sorted(scheme.facts.name.lower() for scheme in admission.auth.schemes() if scheme.facts.has_scopes)
        needs.append(f"With a {' or '.join(scoped)}, the application needs the scope `{admission.scope}`.")
    if admission.access is not None and admission.access.scope:
        recent = " and a recent sign-in or step-up" if admission.access.is_sensitive else ""
        needs.append(f"An application’s access token needs the scope `{admission.access.scope}`{recent}.")
    return " ".join(needs)


def _condition(operation: AnyOperation) -> str:
    return f"with {' or '.join(f'`{name}`' for name in operation.when)} in the query" if operation.when else "otherwise"


def _access(access: Access) -> dict[str, Any]:
    """Describe what an application's token needs: a scope (null: not callable, empty: any token), and a recent authentication."""
    proof = access.is_sensitive or sorted(access.sensitive_members) or False
    return {"scope": access.scope, "freshProof": proof}


def _parameters(stored: Sequence[AnyOperation], path: str, schemas: _Schemas) -> list[dict[str, Any]]:
    parameters: dict[tuple[str, str], dict[str, Any]] = {}
    counts: dict[tuple[str, str], int] = {}
    in_path = re.findall(r"\{(\w+)\}", path)
    for operation in stored:
        own = re.findall(r"\{(\w+)\}", operation.path)
        for place, name, schema, is_required in schemas.parameters_of(operation):
            spelt = in_path[own.index(name)] if place == "path" and name in own else name
            if place == "path" and spelt not in in_path:
                continue  # a parameter of another address of the operation
            key = (place, spelt)
            parameters.setdefault(key, schemas.parameter(operation, spelt, place, schema))
            counts[key] = counts.get(key, 0) + is_required
    for (place, _), parameter in ((key, parameters[key]) for key in parameters):
        parameter["required"] = place == "path" or counts[place, parameter["name"]] == len(stored)
    return list(parameters.values())


def _responses(stored: Sequence[AnyOperation], schemas: _Schemas) -> dict[str, Any]:
    responses: dict[str, Any] = {}
    for operation in stored:
        status = str(operation.response.http_status)
        answer = schemas.answer_of(operation)
        known = responses.setdefault(status, {"description": _SUCCESS.get(status, "Success.")})
        for kind, content in answer.items():
            stated = known.setdefault("content", {})
            stated[kind] = _either(stated[kind], content) if kind in stated else content
    return {**responses, **error_responses(stored)}


def _either(first: dict[str, Any], second: dict[str, Any]) -> dict[str, Any]:
    """Return the content of one of two answers."""
    known = first["schema"].get("anyOf") or [first["schema"]]
    return first if second["schema"] in known else {"schema": {"anyOf": [*known, second["schema"]]}}


def _security(stored: Sequence[AnyOperation]) -> list[dict[str, list[str]]]:
    requirements: list[dict[str, list[str]]] = []
    for operation in stored:
        for alternative in operation.admission.every_auth.alternatives or (frozenset(),):
            schemes = sorted((item for item in alternative if item.facts.openapi), key=lambda item: item.published_name)
            scopes = [operation.admission.scope] if operation.admission.scope else []
            requirement = {scheme.published_name: scopes if scheme.facts.has_scopes else [] for scheme in schemes}
            requirements += [requirement] if requirement not in requirements else []
    return requirements


Models = tuple[tuple[type[Wire], Literal["validation", "serialization"]], ...]


def _models(operations: Iterable[AnyOperation]) -> Models:
    models: dict[tuple[type[Wire], Any], None] = {}
    for operation in operations:
        models[operation.request, "validation"] = None
        if not issubclass(operation.response, Document):
            models[operation.response, "serialization"] = None
    return tuple(models)


class _Schemas:
    """The JSON Schemas of all requests and responses, generated together so that they share components."""

    def __init__(self, operations: Sequence[AnyOperation], published: Publication) -> None:
        self._refs, made = models_json_schema(_models(operations), ref_template=_REFS)
        self._made: dict[str, Any] = _untitled(made.get("$defs", {}))
        self._describe = published.describe
        addressed = {self._name(operation.request, "validation"): operation.request for operation in operations}
        for name, schema in self._made.items():
            skipped = _names_in_address(addressed[name]) if name in addressed else frozenset()
            _add_descriptions(schema, name, published, skipped)
            if "description" not in schema and (words := published.describe_schema(name)):
                schema["description"] = words
        self._inlined: set[str] = set()  # requests that are a body and nothing else
        self._requests = {self._name(operation.request, "validation") for operation in operations}

    def shared(self) -> dict[str, Any]:
        """Return the components; requests are inlined in their operations, unless something refers to them."""
        inlined = self._requests - self._inlined
        text = str([schema for name, schema in self._made.items() if name not in inlined])
        return {name: schema for name, schema in self._made.items() if name not in inlined or f"/{name}'" in text}

    def parameters_of(self, operation: AnyOperation) -> Iterable[tuple[str, str, dict[str, Any], bool]]:
        """Yield place, name, schema and whether it is required."""
        properties, required = self._properties(operation)
        shape = shape_of(operation.request)
        for place, spelt in _PLACES.items():
            for name, wire in shape.places[place].items():
                key = operation.request.model_fields[name].alias or name
                yield spelt, wire, properties.get(key, {}), key in required

    def parameter(self, operation: AnyOperation, name: str, place: str, schema: dict[str, Any]) -> dict[str, Any]:
        """Return the Parameter Object (OpenAPI 3.1 section 4.8.12) of a field."""
        words = schema.get("description") or self._describe(self._name(operation.request, "validation"), name)
        schema = {key: value for key, value in schema.items() if key != "description"}
        return {
            "name": name,
            "in": place,
            **({"description": words} if words else {}),
            "schema": schema,
            "required": True,
        }

    def body_of(self, operation: AnyOperation) -> dict[str, Any] | None:
        """Return the schema of the body fields."""
        shape = shape_of(operation.request)
        if shape.places[From.WHOLE]:
            properties, _ = self._properties(operation)
            return dict(properties[next(iter(shape.places[From.WHOLE].values()))])
        names = set(shape.places[From.BODY].values())
        made = self._made[self._name(operation.request, "validation")]
        if not names and not made.get("additionalProperties"):
            return None
        properties, required = self._properties(operation)
        if names == set(properties):
            self._inlined.add(self._name(operation.request, "validation"))
            return dict(self._refs[operation.request, "validation"])
        body: dict[str, Any] = {
            "type": "object",
            "properties": {key: item for key, item in properties.items() if key in names},
        }
        if requested := [key for key in required if key in names]:
            body["required"] = requested
        return body

    def answer_of(self, operation: AnyOperation) -> dict[str, Any]:
        """Return the content of a successful response, by media type."""
        stated = {} if issubclass(operation.response, Document) else self._refs[operation.response, "serialization"]
        return {
            kind: {"schema": stated if kind.endswith(("/json", "+json")) else _TEXT} for kind in operation.body.answers
        }

    def _properties(self, operation: AnyOperation) -> tuple[dict[str, Any], list[str]]:
        made = self._made[self._name(operation.request, "validation")]
        return made.get("properties", {}), made.get("required", [])

    def _name(self, model: type[Wire], mode: Any) -> str:
        return str(self._refs[model, mode]["$ref"]).rpartition("/")[2]


def _names_in_address(request: type[Wire]) -> frozenset[str]:
    """Return the properties of a request that are parameters, which have other names there."""
    places = shape_of(request).places
    names = {request.model_fields[name].alias or name for place in _PLACES for name in places[place]}
    return frozenset(names - set(places[From.BODY].values()))


def _add_descriptions(schema: Any, path: str, published: Publication, skipped: frozenset[str] = frozenset()) -> None:
    """Describe each property that has no description, also of objects within; `skipped` are of the schema itself.

    Args:
        path: the schema's name; of an object within, also the name of the property that contains it.
    """
    if isinstance(schema, list):
        for item in schema:
            _add_descriptions(item, path, published)
    if not isinstance(schema, dict):
        return
    properties = schema.get("properties")
    for name, item in properties.items() if isinstance(properties, dict) else ():
        words = "" if "description" in item or name in skipped else published.describe(path, name)
        if words:
            item["description"] = words
        _add_descriptions(item, f"{path.partition('.')[0]}.{name}", published)
    for key in ("anyOf", "items", "additionalProperties"):
        _add_descriptions(schema.get(key), path, published)


def _untitled(schema: Any) -> Any:
    """Return a schema without pydantic's titles, which only repeat the names."""
    if isinstance(schema, dict):
        return {
            key: _untitled(value) for key, value in schema.items() if not (key == "title" and isinstance(value, str))
        }
    return [_untitled(item) for item in schema] if isinstance(schema, list) else schema
