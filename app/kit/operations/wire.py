"""Base models of requests and responses: the spelling of names on the wire.

Wire names are PascalCase, made from the field's name; an exception is declared at the field
(`Field(alias="access_token")`). On input the exact spelling wins and other letter cases fold, but names of one model that
differ only in case never do. Free maps stay untouched.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import lru_cache
from typing import Any, ClassVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, model_validator


class From(Enum):
    """The location of a request's field outside the body: `Annotated[str, From.PATH]`."""

    BODY = "body"
    WHOLE = "whole"  # the body itself is this field: a free object
    QUERY = "query"
    PATH = "path"
    HEADER = "header"


@dataclass(frozen=True)
class Also:
    """Other spellings that a field is read from: `Annotated[str, Also("op")]`."""

    names: tuple[str, ...]

    def __init__(self, *names: str) -> None:
        object.__setattr__(self, "names", names)


def at_most_names(number: int) -> BeforeValidator:
    """Refuse a map of more than so many names before its keys are read: the search for each unknown one takes milliseconds."""

    def refuse_more(values: Any) -> Any:
        if isinstance(values, dict) and len(values) > number:
            raise ValueError(f"at most {number} names; found {len(values)}")
        return values

    return BeforeValidator(refuse_more)


def union_tag(name: str) -> str:
    """Return the tag of a member of a union, which pydantic adds to the location of a problem though no document has it."""
    return f"({name})"


def is_union_tag(part: str | int) -> bool:
    """Return whether a part of a location is such a tag; no field or key that is accepted looks like one."""
    return isinstance(part, str) and part.startswith("(") and part.endswith(")")


@lru_cache(maxsize=4096)
def pascal(name: str) -> str:
    """Return `RoleIds` for `role_ids`."""
    return "".join(part[:1].upper() + part[1:] for part in name.split("_"))


def lower(name: str) -> str:
    """Return `newpassword` for `new_password`."""
    return name.replace("_", "")


class Wire(BaseModel):
    """A request, a response or a part of one."""

    model_config = ConfigDict(alias_generator=pascal, populate_by_name=True, extra="ignore", defer_build=True)

    omits_none: ClassVar[bool] = False  # True: members that are None are omitted from the response
    omitted_if_none: ClassVar[frozenset[str] | None] = None  # only these; None: all
    body_is_optional: ClassVar[bool] = False  # a request is valid without its body
    http_status: ClassVar[int] = 200  # of a response

    @model_validator(mode="before")
    @classmethod
    def _fold(cls, members: Any) -> Any:
        if not isinstance(members, dict):
            return members
        exact, folded = _spellings.get(cls) or spellings_of(cls)
        if exact.issuperset(members):
            return members
        read: dict[str, Any] = {}
        for name, value in members.items():
            wire = name if name in exact else folded.get(name.lower() if isinstance(name, str) else "")
            if wire is None:
                read.setdefault(name, value)
            elif wire == name or wire not in members:
                read[wire] = value
        return read

    def to_json(self) -> bytes:
        """Return the response as JSON."""
        return self.__pydantic_serializer__.to_json(
            self, by_alias=True, exclude=self._absent() if self.omits_none else None
        )

    def _absent(self) -> dict[str, Any]:
        """Return the omitted members: a sparse part of a sparse response omits its own nulls, any other part shows them."""
        mine = self.omitted_if_none
        absent: dict[str, Any] = {}
        for name, value in self.__dict__.items():
            if value is None:
                if mine is None or name in mine:
                    absent[name] = True
            elif isinstance(value, Wire) and value.omits_none and (within := value._absent()):
                absent[name] = within
        return absent


class Lower(Wire):
    """A model whose wire names are the fields' names without underscores, as in older requests."""

    model_config = ConfigDict(alias_generator=lower)


class Nothing(Wire):
    """A request without fields, or an empty object as response."""


@dataclass(frozen=True)
class Document:
    """A response that is not made from a model: key sets, signed JWTs, prepared bytes."""

    content: bytes
    media_type: str = "application/json"  # empty where there is no content
    max_age_seconds: int = 0
    headers: Mapping[str, str] = field(default_factory=dict)
    http_status: ClassVar[int] = 200


@dataclass(frozen=True)
class NoContent(Document):
    """A response without a body (RFC 9110 section 15.3.5)."""

    http_status: ClassVar[int] = 204
    content: bytes = b""
    media_type: str = ""


@dataclass(frozen=True)
class Found(Document):
    """A redirect of a browser to the `Location` in its headers (RFC 9110 section 15.4.3)."""

    http_status: ClassVar[int] = 302
    content: bytes = b""
    media_type: str = ""


@dataclass(frozen=True)
class Shape:
    """The place of each field of a request: field name -> wire name, per place."""

    places: Mapping[From, Mapping[str, str]]
    required_body: tuple[str, ...]
    # in lower case: names that are read from the body, even if another place has them too
    body_spellings: frozenset[str]
    body_is_optional: bool = False
    address_spellings: frozenset[str] = frozenset()
    """In lower case: names that are read from path, query or header, and never from the body."""
    in_address: tuple[tuple[From, str, str], ...] = ()
    """Place, name and wire name of each field outside the body; in lower case in query and header, whose names ignore it."""
    reads_members: bool = True
    """Whether the request takes members of the body: into fields, or any."""

    @property
    def has_body(self) -> bool:
        return bool(self.places[From.BODY] or self.places[From.WHOLE])

    @property
    def needs_body(self) -> bool:
        """Whether a request without a body is refused: if it has body fields, unless `body_is_optional`."""
        return self.has_body and not self.body_is_optional


def _wire_name(name: str, info: Any) -> str:
    """Return the wire name; outside the body it is lower-case without underscores, unless declared at the field."""
    stated = info.alias_priority == 2
    if not stated and any(isinstance(mark, From) and mark is not From.BODY for mark in info.metadata):
        return lower(name)
    return info.alias or name


_spellings: dict[type[Wire], tuple[frozenset[str], dict[str, str]]] = {}


def spellings_of(cls: type[Wire]) -> tuple[frozenset[str], dict[str, str]]:
    """Return the exact names of a model's members, and the wire name for each of their spellings in lower case."""
    exact = set()
    by_lower: dict[str, list[str]] = {}
    for name, info in cls.model_fields.items():
        wire = _wire_name(name, info)
        exact |= {wire, name}
        others = [other for mark in info.metadata if isinstance(mark, Also) for other in mark.names]
        for spelt in {wire, name, lower(name), *others}:
            by_lower.setdefault(spelt.lower(), []).append(wire)
    folded = {key: wires[0] for key, wires in by_lower.items() if len(set(wires)) == 1}
    _spellings[cls] = frozenset(exact), folded
    return _spellings[cls]


_shapes: dict[type[Wire], Shape] = {}


def shape_of(request: type[Wire]) -> Shape:
    """Return the request's shape, computed once per class."""
    known = _shapes.get(request)
    if known is None:
        places: dict[From, dict[str, str]] = {place: {} for place in From}
        required, spellings = [], set()
        for name, info in request.model_fields.items():
            place = next((mark for mark in info.metadata if isinstance(mark, From)), From.BODY)
            places[place][name] = _wire_name(name, info)
            if place is From.BODY:
                others = [other for mark in info.metadata if isinstance(mark, Also) for other in mark.names]
                spellings |= {spelt.lower() for spelt in (places[place][name], *others)}
                required += [places[place][name]] if info.is_required() else []
        stored = [pair for place in (From.PATH, From.QUERY, From.HEADER) for pair in places[place].items()]
        outside = {spelt.lower() for name, wire in stored for spelt in (wire, name, lower(name))} - spellings
        in_address = tuple(
            (place, name, wire if place is From.PATH else wire.lower())
            for place in (From.PATH, From.QUERY, From.HEADER)
            for name, wire in places[place].items()
        )
        reads_members = bool(places[From.BODY]) or request.model_config.get("extra") == "allow"
        known = Shape(
            places,
            tuple(required),
            frozenset(spellings),
            request.body_is_optional,
            frozenset(outside),
            in_address,
            reads_members,
        )
        _shapes[request] = known
    return known
