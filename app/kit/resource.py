"""How a resource is declared: a collection or a singleton, as one model whose fields bear marks, and what is true of the whole.

From a declaration come the models of its operations (`resource_models`) and how a request becomes what is kept
(`resource_values`). A declaration that contradicts itself raises ResourceError when it is made, at import.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from types import UnionType
from typing import Any, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from app.kit.auth import Auth
from app.kit.errors import ApiError
from app.kit.operation import ErrorProfile
from app.kit.wire import Wire

MASKED = "********"
"""Stands in an answer for a secret; in a request it leaves the secret as it is."""


class ResourceError(Exception):
    """A declaration contradicts itself; the text says what to change."""


@dataclass(frozen=True)
class Key:
    """Marks a part of the item's id. Of several parts the id is all of them, in the order of the fields."""

    parameter: str = ""
    """Its parameter in an item's address, as in `/webhooks/{webhookId}`; empty: it travels in the body, of DELETE too."""
    is_minted: bool = False
    """The service makes it when the item is created."""
    is_parent: bool = False
    """It names what the collection belongs to, and stands in the address of the collection."""


class Role(Enum):
    """What a field is for, where it is not simply read and written."""

    FIXED = "set when the item is created; later requests cannot change it"
    READ_ONLY = "in answers only"
    SECRET = "kept sealed; answered masked"
    ONCE = "a secret that the service makes; answered when it is made or renewed, masked afterwards"
    COMPUTED = "not kept; the hooks `given` and `shown` read and make it"
    CREATED_AT = "in answers: when the item was created"
    MODIFIED_AT = "in answers: when it was changed last"


FIXED, READ_ONLY, SECRET, ONCE, COMPUTED, CREATED_AT, MODIFIED_AT = Role
NOT_ASKED = frozenset({READ_ONLY, ONCE, CREATED_AT, MODIFIED_AT})
"""What requests cannot state."""
NOT_CONTENT = frozenset({SECRET, ONCE, COMPUTED, CREATED_AT, MODIFIED_AT})
"""What is not kept in clear with the item's content."""


@dataclass(frozen=True)
class Asked:
    """Marks a field that requests spell otherwise than answers."""

    name: str


@dataclass(frozen=True)
class Shown:
    """Marks a field whose type in answers differs, for example because it is never null there."""

    annotation: Any


@dataclass(frozen=True)
class Kept:
    """Marks a field whose key in store and configuration file is not its own name.

    `a.b` names a key within a map; a leading `/` begins at the settings' root; empty: the field's members stand beside it.
    """

    path: str


@dataclass(frozen=True)
class Malformed:
    """Marks a field whose malformed values have an error of their own."""

    error: type[ApiError]


class Verb(Enum):
    """What an operation of a resource does: method, whether it stands at an item's address, the scope's verb, the summary."""

    LIST = ("GET", False, "read", "List the {many}.")
    READ = ("GET", True, "read", "Read the {one}.")
    CREATE = ("POST", False, "create", "Create a {one}.")
    UPDATE = ("PUT", True, "update", "Replace the {one}.")
    REPLACE = ("PUT", False, "update", "Replace the {many} by those of the body.")
    DELETE = ("DELETE", True, "delete", "Delete the {one}.")

    @property
    def method(self) -> str:
        return self.value[0]

    @property
    def is_at_item(self) -> bool:
        return self.value[1]

    @property
    def scope(self) -> str:
        return self.value[2]

    @property
    def summary(self) -> str:
        return self.value[3]


LIST, READ, CREATE, UPDATE, REPLACE, DELETE = Verb


@dataclass(frozen=True)
class Does:
    """One operation of a resource, where its name, summary or errors are not those that the resource makes."""

    verb: Verb
    name: str = ""  # after the area's dot; made of the verb
    summary: str = ""
    unknown: type[ApiError] | None = None  # an item that is not there; for a LIST: none is
    errors: tuple[type[ApiError], ...] = ()


@dataclass(frozen=True)
class Action:
    """An operation on one item that is none of the verbs: rotate, renew, verify, status. The hook of its name does it."""

    name: str
    address: str  # "METHOD /path/{parameter}/…"
    summary: str
    request: type[Wire] = Wire  # its body, without the id
    answer: type[Wire] | None = None  # None: the item
    renews: tuple[str, ...] = ()  # fields marked ONCE that are made anew
    errors: tuple[type[ApiError], ...] = ()


@dataclass(frozen=True)
class Address:
    """Where the operations stand, who may call them there, how names are spelt and how refusals are numbered."""

    path: str
    auth: Auth
    error_profile: ErrorProfile
    deleted: type[Wire]
    does: tuple[Does, ...]
    also: tuple[str, ...] = ()  # further paths of the same
    spelling: type[Wire] = Wire  # the base of the models: its alias generator spells the names
    suffix: str = ""  # of names of operations and models at an older address
    exists: type[ApiError] | None = None  # an item with this id or these unique fields is there
    unknown: type[ApiError] | None = None
    unset: type[ApiError] | None = None  # a singleton that nobody set; None: it stands at its default
    full: type[ApiError] | None = None  # `most` are there; None: the error profile's refusal of a parameter
    errors: tuple[type[ApiError], ...] = ()


@dataclass(frozen=True)
class InTable:
    """Kept in the table that all such resources share."""


@dataclass(frozen=True)
class InSettings:
    """Kept in the settings, under a key: a singleton as the map there (empty key: only what `Kept` names), a collection
    as a map by id, whose values are items or, with `value`, that one field of them; with `listed` as a list of items."""

    key: str = ""
    value: str = ""
    listed: bool = False


@dataclass(frozen=True)
class InOwnStore:
    """Kept in a store of its own, which the area hangs on."""


Backing = InTable | InSettings | InOwnStore


@dataclass(frozen=True)
class Member:
    """One value of a resource: a field of the model, or of a model within it."""

    fields: tuple[str, ...]  # names of the fields that lead to it
    path: tuple[str, ...]  # the keys under which it is kept
    asked: str  # as requests name it, dots between
    info: FieldInfo = field(compare=False)

    def mark(self, kind: type[Any]) -> Any:
        return mark_of(self.info, kind)

    @property
    def roles(self) -> frozenset[Role]:
        return frozenset(one for one in self.info.metadata if isinstance(one, Role))

    @property
    def key(self) -> Key | None:
        found: Key | None = self.mark(Key)
        return found

    @property
    def is_secret(self) -> bool:
        return bool(self.roles & {SECRET, ONCE})

    @property
    def is_content(self) -> bool:
        """Whether it is kept in clear beside the id."""
        key = self.key
        return not (self.roles & NOT_CONTENT or (key and (key.is_minted or key.is_parent)))


def mark_of(info: FieldInfo, kind: type[Any]) -> Any:
    """Return a field's mark of that kind, or None."""
    return next((one for one in info.metadata if isinstance(one, kind)), None)


@dataclass(frozen=True, eq=False)
class Resource:
    """A collection or a singleton, kept for each owner.

    Args:
        kind: under which items are kept in the shared table; plural, never changed.
        content: the model of what is kept and stated in a configuration file; made of `model` if absent.
        ids: attributes of `content` that are the id's parts, where those are not the keys' own.
        file_key: the key in a configuration file; empty: a file cannot state it, or states it as settings.
        file_note: the key's description in the published schema.
        partial: an update changes what it names and leaves the rest.
        audit: what audit events begin with: `template` makes `template.added`.
        audit_names: under which names events hold the id's parts, where those are not the keys' own.
    """

    area: str
    kind: str
    noun: str
    model: type[Wire]
    address: Address
    is_singleton: bool = False
    scope: str = ""
    older: tuple[Address, ...] = ()
    actions: tuple[Action, ...] = ()
    backing: Backing = InTable()
    content: type[BaseModel] | None = None
    ids: tuple[str, ...] = ()
    unique: tuple[str, ...] = ()
    most: int = 100
    partial: bool = False
    is_paged: bool = True
    takes_markup: bool = False
    file_key: str = ""
    file_note: str | None = None
    audit: str = ""
    audit_names: tuple[str, ...] = ()
    members: tuple[Member, ...] = field(init=False, default=())

    def __post_init__(self) -> None:
        backing = self.backing
        prefix: tuple[str, ...] = ()
        if isinstance(backing, InSettings) and self.is_singleton:
            prefix = tuple(filter(None, backing.key.split(".")))
        object.__setattr__(self, "members", tuple(_members(self.model, (), prefix, "")))

    @property
    def addresses(self) -> tuple[Address, ...]:
        return (self.address, *self.older)

    @cached_property
    def keys(self) -> tuple[Member, ...]:
        """The parts of the id."""
        return tuple(member for member in self.members if member.key is not None)

    @property
    def parents(self) -> int:
        """How many parts of the id name what the collection belongs to; they come first."""
        return sum(1 for member in self.keys if member.key and member.key.is_parent)

    @property
    def many(self) -> str:
        return self.noun if self.is_singleton else f"{self.noun}s"

    def item_path(self, path: str) -> str:
        """Return the address of one item below a collection's."""
        own = [member.key.parameter for member in self.keys if member.key and not member.key.is_parent]
        return "".join([path, *(f"/{{{name}}}" for name in own if name)])

    def named(self, name: str) -> Member:
        """Return the member that is this field of the model."""
        return next(member for member in self.members if member.fields == (name,))


def inner_model(annotation: Any) -> type[Wire] | None:
    """Return the model that a field holds, itself or as an alternative to null; None for any other field."""
    options = get_args(annotation) if get_origin(annotation) in (Union, UnionType) else (annotation,)
    models = [one for one in options if isinstance(one, type) and issubclass(one, Wire)]
    return models[0] if len(models) == 1 else None


def wire_name(model: type[Wire], name: str, info: FieldInfo) -> str:
    """Return how a field is spelt on the wire."""
    if info.alias is not None and info.alias_priority == 2:
        return info.alias
    generate: Callable[[str], str] = model.model_config["alias_generator"]  # type: ignore[assignment] # ours are functions
    return generate(name)


def _members(model: type[Wire], fields: tuple[str, ...], path: tuple[str, ...], asked: str) -> list[Member]:
    found: list[Member] = []
    for name, info in model.model_fields.items():
        stated, kept = mark_of(info, Asked), mark_of(info, Kept)
        spelt = f"{asked}{stated.name if stated else wire_name(model, name, info)}"
        at = path + (tuple(filter(None, kept.path.split("."))) if kept else (name,))
        if kept and kept.path.startswith("/"):
            at = tuple(kept.path[1:].split("."))
        inner = inner_model(info.annotation)
        if inner is not None and mark_of(info, Role) is not COMPUTED:
            found += _members(inner, (*fields, name), at, f"{spelt}.")
        else:
            found.append(Member((*fields, name), at, spelt, info))
    return found
