"""Converts requests of a resource to stored content, and stored content to responses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any, get_origin

from pydantic import BaseModel, ValidationError
from pydantic_core import PydanticUndefined, to_jsonable_python

from app.kit.operations.errors import ApiError
from app.kit.operations.partial_update import PartialUpdate
from app.kit.operations.wire import Wire
from app.kit.resources.resource import (
    COMPUTED,
    CREATED_AT,
    MASKED,
    MODIFIED_AT,
    FieldRole,
    Malformed,
    Resource,
    ResourceMember,
    mark_of,
)
from app.kit.resources.resource_models import content_of

Path = tuple[str, ...]
_ABSENT: Any = object()


@dataclass
class ItemInput:
    """The values of a request, under the keys of the store."""

    id: dict[str, str] = field(default_factory=dict)  # by field name, without generated parts
    values: dict[Path, Any] = field(default_factory=dict)
    cleared: set[Path] = field(default_factory=set)  # set to null
    stated: set[Path] = field(default_factory=set)  # in the request, and no default
    secrets: dict[str, str] = field(default_factory=dict)
    cleared_secrets: set[str] = field(default_factory=set)
    computed: dict[str, Any] = field(default_factory=dict)  # by field name, for the hook `on_input`
    version: int | None = None  # that the request's changes were made to

    @property
    def item_id(self) -> tuple[str, ...]:
        """The parts of the id that the request has."""
        return tuple(self.id.values())

    def content(self, before: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Return the previous content with the request's values."""
        content = deepcopy(dict(before or {}))
        for path in self.cleared:
            remove_at(content, path)
        for path, value in self.values.items():
            put_at(content, path, value)
        return content

    def secrets_after(self, before: Mapping[str, str]) -> dict[str, str]:
        """Return the previous secrets with the request's."""
        return {name: value for name, value in {**before, **self.secrets}.items() if name not in self.cleared_secrets}


def read_input(resource: Resource, request: Wire) -> ItemInput:
    """Return the values of a request. A masked secret is left out; null or an empty one is too, unless the update is partial."""
    item = ItemInput(stated={member.path for member in resource.members if _value_of(request, member)[1]})
    is_partial = isinstance(request, PartialUpdate)
    item.version = _value_of(request, resource.version)[0] if resource.version is not None else None
    for member in (member for member in resource.members if member is not resource.version):
        value, is_given = _value_of(request, member)
        if member.key is not None:
            parameter = f"in_path_{member.key.parameter.lower()}"
            value = value if value is not None else getattr(request, parameter, None)
            if value is not None:
                item.id[member.fields[-1]] = str(value)
        if member.is_secret:
            if value and value != MASKED:
                item.secrets[secret_name(resource, member)] = value
            elif is_partial and is_given and not value:
                item.cleared_secrets.add(secret_name(resource, member))
        elif COMPUTED in member.roles:
            item.computed[member.fields[-1]] = value
        elif member.is_content and value is not None:
            item.values[member.path] = to_jsonable_python(value, by_alias=False)
        elif member.is_content and is_given:
            item.cleared.add(member.path)
    return item


def is_empty_input(request: Wire) -> bool:
    """Return whether the body set no field."""
    return not any(not name.startswith("in_") for name in request.model_fields_set)


def _value_of(request: Wire, member: ResourceMember) -> tuple[Any, bool]:
    """Return a member's value in a request, and whether the request set it."""
    value: Any = request
    is_given = False
    for name in member.fields:
        if value is None:
            return None, is_given
        is_given = name in value.model_fields_set
        value = getattr(value, name, None)
    return value, is_given


def secret_name(resource: Resource, member: ResourceMember) -> str:
    """Return the name of a secret in the store: its path, relative to a singleton's part of the settings."""
    prefix = getattr(resource.backing, "key", "") if resource.is_singleton else ""
    path = ".".join(member.path)
    return path.removeprefix(f"{prefix}.") if prefix else path


def response_values(
    resource: Resource,
    content: Mapping[str, Any],
    ids: Sequence[str],
    secrets: Mapping[str, str],
    reveal: Sequence[str] = (),
    moments: Mapping[FieldRole, str | None] | None = None,
) -> dict[str, Any]:
    """Return the values of a response by field name.

    Args:
        content: the stored content with defaults.
        secrets: masked, except those to `reveal`.
        moments: when the item was created and changed.
    """
    values: dict[str, Any] = {}
    parts = {member.fields: part for member, part in zip(resource.keys, ids, strict=False)}
    for member in resource.members:
        if member.fields in parts:
            value: Any = parts[member.fields]
        elif stamped := member.roles & {CREATED_AT, MODIFIED_AT}:
            value = (moments or {}).get(next(iter(stamped)))
        elif member.is_secret:
            name = secret_name(resource, member)
            value = secrets.get(name)
            value = value if name in reveal or not value else MASKED
        else:
            value = value_at(content, member.path, _ABSENT)
            value = _default(member) if value is _ABSENT else value
        put_at(values, member.fields, value)
    return values


def version_of(resource: Resource, content: Mapping[str, Any]) -> int:
    """Return the version of an item; 1 for one that was stored before its resource counted."""
    return int(value_at(content, resource.version.path, 1)) if resource.version is not None else 1


def _default(member: ResourceMember) -> Any:
    found = member.info.get_default(call_default_factory=True)
    return None if found is PydanticUndefined else found


def checked(resource: Resource, content: Mapping[str, Any], bad: type[ApiError]) -> BaseModel:
    """Return the content as its model; raises `bad` with the field's request name, or the field's own error."""
    try:
        return content_of(resource).model_validate(content)
    except ValidationError as problem:
        first = problem.errors(include_url=False)[0]
        at, sentence = tuple(str(part) for part in first["loc"]), str(first["msg"]).removeprefix("Value error, ")
        name, colon, rest = sentence.partition(": ")
        if colon and name.isidentifier():  # a model's own check names the member in its sentence
            at, sentence = (*at, name), f"expected {rest}"
        raise refusal(resource, at, f"{sentence}.", bad) from None


def refusal(resource: Resource, at: Path, sentence: str, bad: type[ApiError]) -> ApiError:
    """Return the error of the stored value at a path: `bad`, or the field's own error."""
    members = [member for member in resource.members if member.is_content or COMPUTED in member.roles]
    found = next((member for member in members if at[: len(member.path)] == member.path), None)
    if found is None:
        return bad(f"{'.'.join(at)}: {sentence}" if at else sentence)
    own = mark_of(found.info, Malformed)
    within = at[len(found.path) :] if get_origin(found.info.annotation) is dict else ()  # its keys are the sender's
    return own.error() if own else bad(f"{'.'.join((found.request_name, *within))}: {sentence}")


def value_at(values: Mapping[str, Any], path: Path, default: Any = None) -> Any:
    """Return the value at a path, or the default."""
    value: Any = values
    for name in path:
        if not isinstance(value, Mapping) or name not in value:
            return default
        value = value[name]
    return value


def put_at(values: dict[str, Any], path: Path, value: Any) -> None:
    """Set the value at a path; create the maps on the way."""
    for name in path[:-1]:
        inner = values.get(name)
        values[name] = inner if isinstance(inner, dict) else {}
        values = values[name]
    values[path[-1]] = value


def remove_at(values: dict[str, Any], path: Path) -> None:
    """Remove the value at a path."""
    inner = value_at(values, path[:-1])
    if isinstance(inner, dict):
        inner.pop(path[-1], None)
