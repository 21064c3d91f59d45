"""Declarations of resources: a collection or a singleton, as one model with marked fields, and properties of the whole.

The operations (`operations`), their models (`resource_models`) and the conversion between requests and stored content
(`resource_values`) are derived from a declaration. A contradictory declaration raises ResourceError at import.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from types import UnionType
from typing import Any, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from app.kit.operations.auth import Auth
from app.kit.operations.errors import ApiError
from app.kit.operations.operation import ErrorProfile
from app.kit.operations.wire import Wire
from app.kit.resources.folding import folded

MASKED = "********"
"""The value of a secret in responses; in a request it leaves the secret unchanged."""


Mark = TypeVar("Mark")


class ResourceError(Exception):
    """The declaration contradicts itself; the message names the change that resolves it."""


@dataclass(frozen=True)
class Key:
    """Marks a part of the item's id. Several parts together are the id, in the order of the fields."""

    parameter: str = ""
    """Its parameter in an item's path, as in `/webhooks/{webhookId}`; empty: it is sent in the body, of DELETE too."""
    is_minted: bool = False
    """The service generates it when the item is created."""


@dataclass(frozen=True)
class Distinct:
    """Marks a value that at most one item of the tenant has; items without it do not conflict."""

    refusal: type[ApiError]
    """Raised by a request that gives an item the value of another."""


class FieldRole(Enum):
    """The role of a field that is not simply read and written."""

    FIXED = "set when the item is created; later requests cannot change it"
    READ_ONLY = "only in responses"
    SECRET = "stored encrypted; masked in responses"
    ENCRYPTED = "stored encrypted; readable in responses and configuration files"
    ONCE = "a generated secret; in the response that creates or renews it, masked afterwards"
    COMPUTED = "not stored; the hooks `on_input` and `on_output` read and compute it"
    CREATED_AT = "in responses: when the item was created"
    MODIFIED_AT = "in responses: when it was last changed"
    VERSION = "grows by one with each write; an update that states another one than the stored one is refused"


FIXED, READ_ONLY, SECRET, ENCRYPTED, ONCE, COMPUTED, CREATED_AT, MODIFIED_AT, VERSION = FieldRole
NOT_IN_REQUESTS = frozenset({READ_ONLY, ONCE, CREATED_AT, MODIFIED_AT})
"""Roles that requests cannot set."""
SET_BY_SERVICE = frozenset({READ_ONLY, VERSION})
"""Roles whose values are stored with the item, and that no configuration file has."""
NOT_CONTENT = frozenset({SECRET, ONCE, COMPUTED, CREATED_AT, MODIFIED_AT})
"""Roles that are no part of the item's content."""


@dataclass(frozen=True)
class RequestName:
    """Marks a field with another name in requests than in responses."""

    name: str


@dataclass(frozen=True)
class ResponseType:
    """Marks a field with another type in responses, for example because it is never null there."""

    annotation: Any


@dataclass(frozen=True)
class NotListed:
    """Marks a field that lists leave out, because its values are large."""


@dataclass(frozen=True)
class StoredAs:
    """Marks a field with another key in the store and in configuration files."""

    key: str


@dataclass(frozen=True)
class SettingsKey:
    """Marks a singleton's field with its key in the tenant's settings, such as `lockout.suspend_seconds`."""

    path: str


@dataclass(frozen=True)
class Flattened:
    """Marks a singleton's field whose members are stored beside the other fields, without a common key."""


@dataclass(frozen=True)
class Malformed:
    """Marks a field with its own error for malformed values."""

    error: type[ApiError]


class Verb(Enum):
    """An operation of a resource: method, whether its path is an item's, the scope's verb, summary, description."""

    LIST = ("GET", False, "read", "List {items}", "Returns the tenant’s {items}.")
    READ = ("GET", True, "read", "Get {item}", "Returns {item}.")
    CREATE = ("POST", False, "create", "Create {item}", "Creates {item}.")
    UPDATE = (
        "PUT",
        True,
        "update",
        "Update {item}",
        "Replaces {item}: members that the request leaves out get their defaults.",
    )
    REPLACE = ("PUT", False, "update", "Replace {items}", "Replaces all {items} with those in the request.")
    DELETE = ("DELETE", True, "delete", "Delete {item}", "Deletes {item}.")

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

    @property
    def description(self) -> str:
        return self.value[4]


LIST, READ, CREATE, UPDATE, REPLACE, DELETE = Verb


@dataclass(frozen=True)
class VerbOptions:
    """One operation of a resource, with a name, summary or errors other than the derived ones."""

    verb: Verb
    name: str = ""  # after the area's dot; derived from the verb if empty
    summary: str = ""
    unknown: type[ApiError] | None = None  # no such item; for a LIST: no item at all
    errors: tuple[type[ApiError], ...] = ()
    id_in_body: bool = False  # an UPDATE at the collection's path: its body has the id
    path: str = ""  # another path than the resource's
    description: str = ""


@dataclass(frozen=True)
class ResourceAction:
    """A further operation on one item, implemented by the hook of its name: rotate, renew, verify, status."""

    name: str
    address: str  # "METHOD /path/{parameter}/…"
    summary: str
    request: type[Wire] = Wire  # its body, without the id
    answer: type[Wire] | None = None  # None: the item
    renews: tuple[str, ...] = ()  # fields marked ONCE that get a new value
    errors: tuple[type[ApiError], ...] = ()
    description: str = ""


@dataclass(frozen=True)
class InTable:
    """Stored in the table that all such resources share. Of a resource with a VERSION, the last replaced versions stay."""

    former_versions: int = 0


@dataclass(frozen=True)
class InSettings:
    """Stored in the settings under a key: a singleton as a map (empty key: only the fields with `SettingsKey`), a collection as a
    map by id of items or, with `value`, of that one field; with `listed` as a list of items."""

    key: str = ""
    value: str = ""
    listed: bool = False


@dataclass(frozen=True)
class InOwnStore:
    """Stored by the area itself."""


Backing = InTable | InSettings | InOwnStore


@dataclass(frozen=True)
class ResourceMember:
    """One value of a resource: a field of the model, or of a model within it."""

    fields: tuple[str, ...]  # the path of field names in the model
    path: tuple[str, ...]  # the path of keys in the store
    request_name: str  # with dots between the parts
    info: FieldInfo = field(compare=False)

    def mark(self, kind: type[Mark]) -> Mark | None:
        return mark_of(self.info, kind)

    @property
    def roles(self) -> frozenset[FieldRole]:
        return frozenset(item for item in self.info.metadata if isinstance(item, FieldRole))

    @property
    def key(self) -> Key | None:
        return self.mark(Key)

    @property
    def distinct(self) -> Distinct | None:
        return self.mark(Distinct)

    @property
    def is_secret(self) -> bool:
        return bool(self.roles & {SECRET, ONCE})

    @property
    def is_content(self) -> bool:
        """Whether it is part of the content beside the id."""
        return not (self.roles & NOT_CONTENT or (self.key and self.key.is_minted))


def mark_of(info: FieldInfo, kind: type[Mark]) -> Mark | None:
    """Return a field's mark of that kind, or None."""
    return next((item for item in info.metadata if isinstance(item, kind)), None)


@dataclass(frozen=True, eq=False)
class Resource:
    """A collection or a singleton of each owner.

    Args:
        kind: the items' kind in the shared table; plural, never changed.
        about: what the resource is, published with its operations.
        verbs: its operations.
        auth: the credentials that admit to its operations; those with scopes need `scope`.
        deleted: the response of DELETE.
        also: further paths of the same operations.
        exists, unknown: an item with this id or these unique values exists; there is no such item.
        full: there are `max_items` items; None: that of a malformed field.
        unset: a singleton was never set; None: it has its default.
        outdated: an update states another VERSION than the stored one.
        errors: further errors of every operation.
        content: the model of the stored content and, without `file_content`, of configuration files; derived from `model` if absent.
        ids: attributes of `content` that are the id's parts, if they differ from the keys' names.
        file_key: the key in a configuration file; empty: files do not contain it, or contain it as settings.
        file_note: the key's description in the published schema.
        fold: normalizes unique values, so that visually equal ones conflict.
        has_default_page: a list without `page` begins with the first page, instead of being complete.
        partial: an update keeps absent members, and null or an empty value clears (`PartialUpdate`).
        audit: the prefix of audit events: `template` for `template.added`.
        audit_names: names of the id's parts in audit events, if they differ from the keys' names.
    """

    area: str
    kind: str
    noun: str
    model: type[Wire]
    path: str
    verbs: tuple[VerbOptions, ...]
    error_profile: ErrorProfile
    auth: Auth
    deleted: type[Wire]
    is_singleton: bool = False
    scope: str = ""
    also: tuple[str, ...] = ()
    exists: type[ApiError] | None = None
    unknown: type[ApiError] | None = None
    full: type[ApiError] | None = None
    unset: type[ApiError] | None = None
    outdated: type[ApiError] | None = None
    errors: tuple[type[ApiError], ...] = ()
    actions: tuple[ResourceAction, ...] = ()
    backing: Backing = InTable()
    content: type[BaseModel] | None = None
    file_content: type[BaseModel] | None = None
    ids: tuple[str, ...] = ()
    unique: tuple[str, ...] = ()
    fold: Callable[[str], str] = folded
    max_items: int = 100
    partial: bool = False
    is_paged: bool = True
    has_default_page: bool = False
    takes_markup: bool = False
    file_key: str = ""
    file_note: str | None = None
    audit: str = ""
    audit_names: tuple[str, ...] = ()
    about: str = ""
    members: tuple[ResourceMember, ...] = field(init=False, default=())

    def __post_init__(self) -> None:
        backing = self.backing
        prefix: tuple[str, ...] = ()
        if isinstance(backing, InSettings) and self.is_singleton:
            prefix = tuple(filter(None, backing.key.split(".")))
        object.__setattr__(self, "members", tuple(_members(self.model, (), prefix, "")))

    @property
    def paths(self) -> tuple[str, ...]:
        """The paths of the operations, the first one first."""
        return (self.path, *self.also)

    @cached_property
    def keys(self) -> tuple[ResourceMember, ...]:
        """The parts of the id."""
        return tuple(member for member in self.members if member.key is not None)

    @cached_property
    def version(self) -> ResourceMember | None:
        """The member that counts the writes of an item, or None."""
        return next((member for member in self.members if VERSION in member.roles), None)

    @property
    def plural(self) -> str:
        return self.noun if self.is_singleton else f"{self.noun}s"

    @property
    def with_article(self) -> str:
        """The noun with its article."""
        if self.is_singleton:
            return f"the {self.noun}"
        return f"{'an' if self.noun[0].lower() in 'aeiou' else 'a'} {self.noun}"

    def item_path(self, path: str) -> str:
        """Return the address of one item below a collection's."""
        parameters = [member.key.parameter for member in self.keys if member.key]
        return "".join([path, *(f"/{{{name}}}" for name in parameters if name)])

    def named(self, name: str) -> ResourceMember:
        """Return the member of a field of the model."""
        return next(member for member in self.members if member.fields == (name,))


def inner_model(annotation: Any) -> type[Wire] | None:
    """Return the model in a field's type, alone or with null; None for any other type."""
    options = get_args(annotation) if get_origin(annotation) in (Union, UnionType) else (annotation,)
    models = [option for option in options if isinstance(option, type) and issubclass(option, Wire)]
    return models[0] if len(models) == 1 else None


def wire_name(model: type[Wire], name: str, info: FieldInfo) -> str:
    """Return the name of a field on the wire."""
    if info.alias is not None and info.alias_priority == 2:
        return info.alias
    generate: Callable[[str], str] = model.model_config["alias_generator"]  # type: ignore[assignment] # ours are functions
    return generate(name)


def stored_key(name: str, info: FieldInfo) -> str:
    """Return the key of a field in its item's content."""
    stored_as = mark_of(info, StoredAs)
    return stored_as.key if stored_as else name


def _stored_path(name: str, info: FieldInfo, parent: tuple[str, ...]) -> tuple[str, ...]:
    settings_key = mark_of(info, SettingsKey)
    if settings_key:
        return tuple(settings_key.path.split("."))
    return parent if mark_of(info, Flattened) else (*parent, stored_key(name, info))


def _members(model: type[Wire], fields: tuple[str, ...], path: tuple[str, ...], prefix: str) -> list[ResourceMember]:
    members: list[ResourceMember] = []
    for name, info in model.model_fields.items():
        renamed = mark_of(info, RequestName)
        spelling = f"{prefix}{renamed.name if renamed else wire_name(model, name, info)}"
        at = _stored_path(name, info, path)
        inner = inner_model(info.annotation)
        if inner is not None and mark_of(info, FieldRole) is not COMPUTED:
            members += _members(inner, (*fields, name), at, f"{spelling}.")
        else:
            members.append(ResourceMember((*fields, name), at, spelling, info))
    return members
