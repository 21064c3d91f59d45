"""How an API operation is declared: once, as data. The declaration yields the route, the client call, the OpenAPI entry
and the general tests."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from typing import Any, Final, Generic, TypeVar, overload
from urllib.parse import parse_qsl, unquote_to_bytes

from app.kit.operations.auth import Admission, Auth, BaseAuthScheme
from app.kit.operations.errors import ApiError
from app.kit.operations.wire import Document, Wire

MAX_BODY_BYTES: Final = 1_000_000


class BaseHost(Enum):
    """A kind of host where operations are served. The owner of the operations subclasses it with the members."""


class Accept(Enum):
    """Which request bodies an operation reads."""

    JSON = ("application/json",)
    FORM = ("application/x-www-form-urlencoded",)
    SCIM = ("application/scim+json", "application/json")
    JSON_OR_FORM = ("application/json", "application/x-www-form-urlencoded")

    @property
    def types(self) -> tuple[str, ...]:
        """Their media types."""
        types: tuple[str, ...] = self.value
        return types


@dataclass(frozen=True)
class ErrorProfile:
    """The errors that operations of one group share: for malformed requests, for each auth scheme and for failures."""

    name: str
    bad_parameter: type[ApiError]
    bad_body: type[ApiError]
    bad_content_type: type[ApiError]
    broken: type[ApiError]
    dangerous: type[ApiError]
    bad_put_body: type[ApiError] | None = None
    empty_put_body: type[ApiError] | None = None  # without any member of the resource; None: `bad_parameter`
    bad_delete_body: type[ApiError] | None = None
    wrong_method: type[ApiError] | None = None
    access_refused: type[ApiError] | None = None  # an application's token lacks the scope
    reauthentication_required: type[ApiError] | None = None  # a sensitive operation; the last authentication is too old
    refuses_unknown_members: bool = False
    """A body of POST or PUT may have only members that the request or the response has: nothing is dropped silently."""
    common: tuple[type[ApiError], ...] = ()
    by_scheme: tuple[tuple[BaseAuthScheme, tuple[type[ApiError], ...]], ...] = ()

    def body_error(self, method: str) -> type[ApiError]:
        """Return the refusal of a body that cannot be read; it differs by method."""
        return {"PUT": self.bad_put_body, "DELETE": self.bad_delete_body}.get(method) or self.bad_body

    def errors_for(self, auth: Auth) -> tuple[type[ApiError], ...]:
        """Return the errors that any operation of this profile with these auth schemes may answer."""
        schemes = auth.schemes()
        of_schemes = [error for scheme, errors in self.by_scheme if scheme in schemes for error in errors]
        of_shape = [self.bad_parameter, self.bad_body, self.bad_content_type, self.broken, self.dangerous]
        of_shape += [kind for kind in (self.bad_put_body, self.bad_delete_body) if kind]
        return tuple(dict.fromkeys([*self.common, *of_schemes, *of_shape]))


_MAX_SEARCHED_BYTES = 65_536


@dataclass(frozen=True)
class HeavyWork:
    """Marks an operation that may take a CPU for long, with a password hash or a whole list: its requests wait in the tenant's
    queue, all others never do.
    """

    work: str
    """The class of work; the classes of one owner are served in turn, so that bulk work does not delay interactive work."""
    mentions: tuple[str, ...] = ()
    """It takes long only if the query or the body mentions one of these, in any letter case; empty: it may always."""
    unless: tuple[str, ...] = ()
    """It is short if the query has one of these parameters, in any letter case."""

    def applies_to(self, query: str, body: bytes) -> bool:
        """Return whether a request may take long; True if the names may be encoded in a way that the search would miss."""
        if self.unless and any(name.lower() in self.unless for name, _ in parse_qsl(query)):
            return False
        if not self.mentions or b"\\" in body or len(body) > _MAX_SEARCHED_BYTES:
            return True
        text = unquote_to_bytes(query) + b"\0" + (unquote_to_bytes(body) if b"%" in body else body)
        return any(map(text.lower().__contains__, self._words))

    @cached_property
    def _words(self) -> tuple[bytes, ...]:
        return tuple(word.encode() for word in self.mentions)


@dataclass(frozen=True)
class BodyRules:
    """Media types and content rules of request and response bodies."""

    accepts: Accept = Accept.JSON_OR_FORM
    answers: tuple[str, ...] = ("application/json",)
    """Media types of a successful response; none: its body is empty."""
    takes_markup: bool = False
    """The input filter lets markup pass, for templates (decision 0051)."""
    no_object: type[ApiError] | None = None
    """The refusal of a JSON body that is not an object; None: that of the error profile."""
    max_bytes: int = MAX_BODY_BYTES
    """Of a request's body; a larger one is refused."""


@dataclass(frozen=True)
class Documentation:
    """How an operation is published."""

    summary: str = ""
    """A title in a few words: imperative, without a full stop."""
    description: str = ""
    """What the operation does, when to use it and what it changes, in Markdown; published."""
    row: str = ""
    """Its id in tests and in the tables of the interface, for example U12."""
    is_public: bool = True
    """Whether the operation is in the OpenAPI document; requests of internal ones may hold markup."""


Req = TypeVar("Req", bound=Wire)
Res = TypeVar("Res", bound="Wire | Document")
Context = TypeVar("Context")


@dataclass(frozen=True, eq=False)
class Operation(Generic[Req, Res]):
    """One operation of the API."""

    name: str
    method: str
    path: str
    request: type[Req]
    response: type[Res]
    host: BaseHost
    error_profile: ErrorProfile
    also: tuple[str, ...] = ()  # further addresses, as "/path" or "METHOD /path"
    when: tuple[str, ...] = ()  # query names of which one must be present: tells apart operations at one address
    errors: tuple[type[ApiError], ...] = ()
    admission: Admission = field(default_factory=Admission)
    body: BodyRules = BodyRules()
    documentation: Documentation = Documentation()
    heavy_work: HeavyWork | None = None  # None: it never takes a CPU for long
    takes_blank_segments: bool = False
    """An empty path segment reaches it as an empty parameter, for which it has an error of its own."""
    is_cached: bool = False
    """It needs no credential and is answered from memory, without a database."""
    every_error: tuple[type[ApiError], ...] = field(init=False, default=())
    _handlers: list[Callable[[Any, Req], Res | Document]] = field(init=False, default_factory=list, repr=False)

    def __post_init__(self) -> None:
        own = [kind for kind in (self.body.no_object, *self._access_errors()) if kind]
        of_callers = self.error_profile.errors_for(self.admission.every_auth)
        object.__setattr__(self, "every_error", tuple(dict.fromkeys((*self.errors, *own, *of_callers))))

    def _access_errors(self) -> tuple[type[ApiError] | None, ...]:
        """Return the errors for tokens of applications."""
        if not any(scheme.facts.is_delegated for scheme in self.admission.auth.schemes()):
            return ()
        access, profile = self.admission.access, self.error_profile
        may_need_reauthentication = access is not None and access.may_need_reauthentication
        return profile.access_refused, profile.reauthentication_required if may_need_reauthentication else None

    @overload
    def implements(self, handler: Callable[[Context, Req], Res]) -> Callable[[Context, Req], Res]: ...

    @overload
    def implements(
        self, handler: Callable[[Context, Req], Res | Document]
    ) -> Callable[[Context, Req], Res | Document]: ...

    def implements(self, handler: Callable[[Context, Req], Res | Document]) -> Callable[[Context, Req], Res | Document]:
        """Register the handler of the operation, as a decorator; raises ValueError for a second one.

        A handler is a plain function of the request's context and the request. It keeps no state of its own, so all servers
        in a process share it, each passing contexts of its own. A function that implements several operations is registered
        by calls below its definition, because a decorator would narrow the request's type to that of one operation.
        """
        if self._handlers:
            raise ValueError(f"{self.name} is implemented twice")
        self._handlers.append(handler)
        return handler

    def share_handler(self, other: Operation[Req, Res]) -> None:
        """Use the handler of another operation, also one that is registered later."""
        object.__setattr__(self, "_handlers", other._handlers)

    @property
    def handler(self) -> Callable[[Any, Req], Res | Document]:
        """The registered handler; raises LookupError if the module that implements the operation was not imported."""
        if not self._handlers:
            raise LookupError(f"{self.name} has no handler")
        return self._handlers[0]

    @property
    def is_implemented(self) -> bool:
        return bool(self._handlers)

    def addresses(self) -> Iterator[tuple[str, str]]:
        """Yield (method, path) for the operation's own address and its aliases."""
        yield self.method, self.path
        for other in self.also:
            method, _, path = other.rpartition(" ")
            yield method or self.method, path

    @cached_property
    def media_types(self) -> tuple[str, ...]:
        """The media types of the bodies that it reads."""
        return self.body.accepts.types

    @property
    def area(self) -> str:
        """The part of the name before the dot: `books` of `books.create`."""
        return self.name.partition(".")[0]


AnyOperation = Operation[Any, Any]


class Catalogue:
    """Operations by name."""

    def __init__(self, operations: Iterable[AnyOperation] = ()) -> None:
        self._by_name: dict[str, AnyOperation] = {}
        for operation in operations:
            self.add(operation)

    def add(self, operation: AnyOperation) -> None:
        if operation.name in self._by_name:
            raise ValueError(f"operation {operation.name} is declared twice")
        self._by_name[operation.name] = operation

    def __iter__(self) -> Iterator[AnyOperation]:
        return iter(self._by_name.values())

    def __len__(self) -> int:
        return len(self._by_name)

    def __getitem__(self, name: str) -> AnyOperation:
        return self._by_name[name]

    def hosts(self) -> frozenset[BaseHost]:
        """Return the kinds of hosts that serve an operation."""
        return frozenset(operation.host for operation in self)

    def on(self, host: BaseHost) -> Catalogue:
        """Return the operations served on one kind of host."""
        return Catalogue(operation for operation in self if operation.host is host)
