"""Reads what public operations, tables, the configuration file and the command line promise, without the names of our code.

Operations that only the hub calls promise nothing: the hub and the identity service have the same version.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any, get_args

import click
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from app import cli
from app.contract.auth import Host
from app.contract.catalogue import load_catalogue
from app.contract.tenants.file import ConfigurationFile
from app.identity.assembly.table_modules import metadata
from app.kit.operations.auth import Cors
from app.kit.operations.errors import ApiError, OAuthError
from app.kit.operations.operation import AnyOperation
from app.kit.operations.wire import Also, From, Wire, shape_of

Lines = dict[str, list[str]]


class Shapes:
    """Names each model by a digest of its members, so that the name of its class does not count."""

    def __init__(self) -> None:
        self.lines: Lines = {}
        self._names: dict[type[BaseModel], str] = {}

    def name(self, model: type[BaseModel]) -> str:
        """Return the name of a model whose members are in `lines`; a model within itself is `#itself`."""
        if model not in self._names:
            self._names[model] = "#itself"
            members = sorted(self._member(name, info) for name, info in model.model_fields.items())
            named = "#" + hashlib.sha256(" ".join(members).encode()).hexdigest()[:10]
            self._names[model] = named
            self.lines[named] = members
        return self._names[model]

    def _member(self, name: str, info: FieldInfo) -> str:
        return _spelt(info.alias or name, info) + "".join(f"={self.name(model)}" for model in _models(info.annotation))

    def field(self, model: type[BaseModel], name: str, wire_name: str) -> str:
        """Return how one field of a request is spelt."""
        info = model.model_fields[name]
        return _spelt(wire_name, info) + "".join(f"={self.name(item)}" for item in _models(info.annotation))


def _spelt(wire_name: str, info: FieldInfo) -> str:
    """Return `Email!(mail)`: required, and with its other spellings."""
    others = [other for mark in info.metadata if isinstance(mark, Also) for other in mark.names]
    return wire_name + ("!" if info.is_required() else "") + (f"({','.join(sorted(others))})" if others else "")


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in get_args(annotation):
        yield from _models(part)


def read() -> dict[str, Lines]:
    """Return the pinned names by section."""
    shapes = Shapes()
    operations: Lines = {}
    errors: dict[str, set[str]] = {}
    for operation in load_catalogue():
        if operation.host is not Host.INSIDE:  # hub and identity service have one version
            operations.update(_operation(operation, shapes))
        for error in operation.every_error:
            errors.setdefault(_code(error), set()).add(_message(error))
    configuration = {"the whole file": [shapes.name(ConfigurationFile)]}
    return {
        "operations": dict(sorted(operations.items())),
        "errors": {code: sorted(texts) for code, texts in sorted(errors.items())},
        "configuration file": configuration,
        "commands": dict(_commands(cli.cli, "gatehouse")),
        "tables": {
            name: sorted(column.name for column in table.columns) for name, table in sorted(metadata.tables.items())
        },
        "members of nested objects": dict(sorted(shapes.lines.items())),
    }


def _code(error: type[ApiError]) -> str:
    return f"{error.code}/{error.status}"


def _message(error: type[ApiError]) -> str:
    """Return the text of the member `Message`; an OAuth refusal has none."""
    return (
        "" if issubclass(error, OAuthError) else error.message.replace(" ", "_") + ("_(camel)" if error.camel else "")
    )


def _operation(operation: AnyOperation, shapes: Shapes) -> Iterator[tuple[str, list[str]]]:
    """Yield the lines of an operation, by its address and the field that selects it among others there."""
    when = f" ?{'|'.join(operation.when)}" if operation.when else ""
    address = f"{operation.method} {operation.path}{when}"
    yield address, list(_admission(operation))
    others = [f"{method}:{path}" for method, path in operation.addresses()][1:]
    if others:
        yield f"{address} · also", sorted(others)
    request, shape = operation.request, shape_of(operation.request)
    for place in From:
        if fields := shape.places[place]:
            yield f"{address} · {place.value}", sorted(shapes.field(request, *names) for names in fields.items())
    response = operation.response
    if issubclass(response, Wire):
        members = (shapes.field(response, name, info.alias or name) for name, info in response.model_fields.items())
        yield f"{address} · response", sorted(members)
    yield f"{address} · errors", sorted({_code(error) for error in operation.every_error})


def _admission(operation: AnyOperation) -> Iterator[str]:
    admission, body = operation.admission, operation.body
    yield f"host={operation.host.value}"
    yield f"auth={str(admission.auth).replace(' ', '_')}"
    yield from (f"optional={admission.optional}" for _ in [0] if admission.optional)
    yield from (f"scope={admission.scope}" for _ in [0] if admission.scope)
    if admission.access is not None:
        access = admission.access
        yield f"access={access.scope}{'!' if access.is_sensitive else ''}"
        yield from (f"sensitive={name}" for name in sorted(access.sensitive_members))
    yield from (f"cors={admission.cors.value}" for _ in [0] if admission.cors is not Cors.NONE)
    yield f"accepts={body.accepts.name.lower()}"
    yield f"answers={','.join(body.answers) or 'nothing'}"
    yield from ("markup" for _ in [0] if body.takes_markup)
    yield from ("sparse" for _ in [0] if getattr(operation.response, "omits_none", False))


def _commands(command: click.Command, name: str) -> Iterator[tuple[str, list[str]]]:
    yield name, sorted(name for parameter in command.params for name in (*parameter.opts, *parameter.secondary_opts))
    if isinstance(command, click.Group):
        context = click.Context(command)
        for word in sorted(command.list_commands(context)):
            below = command.get_command(context, word)
            if below is not None:
                yield from _commands(below, f"{name} {word}")
