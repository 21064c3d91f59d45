"""Finds members of a body that no model of the operation has, at any depth."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from app.kit.near_names import near_name
from app.kit.operations.wire import From, Wire, spellings_of

Models = tuple[type[Wire], ...]


@dataclass(frozen=True)
class UnknownBodyMember:
    """A member of a body that no model has."""

    place: str
    """`Outer.Inner`."""
    near: str
    """The member of the same object that it probably means; empty if none is like it."""


def unknown_members(models: Models, body: Mapping[str, Any], above: str = "") -> Iterator[UnknownBodyMember]:
    """Yield the members of a body that none of these models has. The first model is that of the request, whose members are suggested.

    A member of the response alone is known: a program may send back a response that it read. Free maps and free objects have any member.
    """
    for name, value in body.items():
        fields = [info for model in models if (info := _member(model, name)) is not None]
        if not fields:
            yield UnknownBodyMember(f"{above}{name}", near_name(name, _settable(models[0])))
            continue
        inner = tuple(item for info in fields if (item := _inner(info)) is not None)
        if len(inner) == len(fields):
            is_map = any(_is_map(info.annotation) for info in fields)
            for part, where in _parts(value, f"{above}{name}.", is_map=is_map):
                yield from unknown_members(inner, part, where)


def _member(model: type[Wire], name: str) -> FieldInfo | None:
    exact, folded = _by_spelling(model)
    return exact.get(name) or folded.get(name.lower())


@lru_cache(maxsize=1_000)
def _by_spelling(model: type[Wire]) -> tuple[dict[str, FieldInfo], dict[str, FieldInfo]]:
    """Return the members of the body by their exact names, and by others in lower case."""
    stored = {name: info for name, info in model.model_fields.items() if not _is_in_address(info)}
    exact = stored | {info.alias or name: info for name, info in stored.items()}
    _, folded = spellings_of(model)
    by_lower = {
        name.lower(): info for name, info in exact.items()
    }  # also names that differ in case alone, of which none is read
    return exact, by_lower | {spelt: exact[wire] for spelt, wire in folded.items() if wire in exact}


def _settable(model: type[Wire]) -> Iterator[str]:
    """Yield the members of a body, as they are documented."""
    return (info.alias or name for name, info in model.model_fields.items() if not _is_in_address(info))


def _is_in_address(info: FieldInfo) -> bool:
    return any(isinstance(mark, From) and mark not in (From.BODY, From.WHOLE) for mark in info.metadata)


def _parts(value: Any, above: str, *, is_map: bool) -> Iterator[tuple[Mapping[str, Any], str]]:
    """Yield a member's objects and where they are: itself, or those of a list or of a map."""
    if isinstance(value, Mapping) and is_map:
        yield from ((element, f"{above}{key}.") for key, element in value.items() if isinstance(element, Mapping))
    elif isinstance(value, Mapping):
        yield value, above
    elif isinstance(value, list):
        for item in value:
            if isinstance(item, Mapping):
                yield item, above


def _inner(info: FieldInfo) -> type[Wire] | None:
    """Return the model of an object, or of those in a list or map; None for any other member, and for a free one."""
    found = list(_models(info.annotation))
    is_closed = len(found) == 1 and found[0].model_config.get("extra") != "allow"
    return found[0] if is_closed else None


def _is_map(annotation: Any) -> bool:
    return get_origin(annotation) in (dict, Mapping) or any(get_origin(arg) is dict for arg in get_args(annotation))


def _models(annotation: Any) -> Iterator[type[Wire]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        if issubclass(annotation, Wire):
            yield annotation
        return
    for arg in get_args(annotation):
        yield from _models(arg)
