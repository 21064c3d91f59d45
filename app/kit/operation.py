"""How an API operation is stated: once, as data. From the statement come the route, the client call, the OpenAPI entry
and the general tests."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any, Generic, TypeVar
from urllib.parse import unquote_to_bytes

from app.kit.errors import ApiError
from app.kit.wire import Document, Wire


class AuthScheme(Enum):
    """A credential that a request presents; the value is its letter in the interface's tables."""

    API_KEY = "K"  # of the tenant
    API_SECRET = "S"  # of the tenant
    ACCESS_TOKEN = "U"  # of an account
    MACHINE_TOKEN = "M"
    SECOND_FACTOR_TOKEN = "T"
    CLIENT = "C"  # client authentication of an application
    HUB = "H"  # the hub's signature


@dataclass(frozen=True)
class Auth:
    """The credentials that admit a request: all schemes of any one of `alternatives`. None: open to everyone."""

    alternatives: tuple[frozenset[AuthScheme], ...] = ()

    def __and__(self, other: Auth) -> Auth:
        return Auth(tuple(mine | theirs for mine in self.alternatives for theirs in other.alternatives))

    def __or__(self, other: Auth) -> Auth:
        return Auth(self.alternatives + other.alternatives)

    def schemes(self) -> frozenset[AuthScheme]:
        """Return every scheme of any alternative."""
        return frozenset().union(*self.alternatives)

    def __str__(self) -> str:
        return (
            " or ".join("+".join(sorted(scheme.value for scheme in schemes)) for schemes in self.alternatives) or "open"
        )


OPEN = Auth()
K, S, U, M, T, C, H = (Auth((frozenset({scheme}),)) for scheme in AuthScheme)


class Host(Enum):
    """Where an operation is served (design: a program calls, the identity service answers)."""

    API = "api"
    TENANT = "tenant"
    INSIDE = "inside"  # for internal calls; no public host


class Accept(Enum):
    """Which request bodies an operation reads."""

    JSON = ("application/json",)
    FORM = ("application/x-www-form-urlencoded",)
    JSON_OR_FORM = ("application/json", "application/x-www-form-urlencoded")


@dataclass(frozen=True)
class Access:
    """What an access token that was issued to an application needs to open an operation.

    `scope` is the scope it must hold: None opens the operation to no application, the empty string to every one.
    A sensitive operation also needs a fresh proof of the person: always if it `is_sensitive`, else for requests whose body
    has one of `sensitive_members`, spelt in lower case without underscores.
    """

    scope: str | None
    is_sensitive: bool = False
    sensitive_members: frozenset[str] = frozenset()

    def sensitive_with(self, *members: str) -> Access:
        """Return the same access, sensitive where the body has one of these members."""
        return replace(self, sensitive_members=frozenset(map(_folded, members)))

    @property
    def may_need_proof(self) -> bool:
        return self.is_sensitive or bool(self.sensitive_members)

    def needs_proof(self, body: Iterable[str]) -> bool:
        """Return whether a request with these body members needs a fresh proof."""
        return self.is_sensitive or any(_folded(name) in self.sensitive_members for name in body)


def _folded(name: str) -> str:
    """Names of the wire fold in case, and a field's own name is one of its spellings."""
    return name.lower().replace("_", "")


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
    bad_delete_body: type[ApiError] | None = None
    wrong_method: type[ApiError] | None = None
    access_refused: type[ApiError] | None = None  # an application's token that lacks the scope; None: never seen here
    proof_needed: type[ApiError] | None = None  # a sensitive operation, and the last proof of the person is too old
    common: tuple[type[ApiError], ...] = ()
    by_scheme: tuple[tuple[AuthScheme, tuple[type[ApiError], ...]], ...] = ()

    def body_error(self, method: str) -> type[ApiError]:
        """Return the refusal of a body that cannot be read, which the interface numbers by method."""
        return {"PUT": self.bad_put_body, "DELETE": self.bad_delete_body}.get(method) or self.bad_body

    def errors_for(self, auth: Auth) -> tuple[type[ApiError], ...]:
        """Return the errors that any operation of this profile with these auth schemes may answer."""
        schemes = auth.schemes()
        asked = [error for scheme, errors in self.by_scheme if scheme in schemes for error in errors]
        shape = [self.bad_parameter, self.bad_body, self.bad_content_type, self.broken, self.dangerous]
        shape += [kind for kind in (self.bad_put_body, self.bad_delete_body) if kind]
        return tuple(dict.fromkeys([*self.common, *asked, *shape]))


_MOST_SEARCHED_BYTES = 65_536


@dataclass(frozen=True)
class Hashing:
    """Marks an operation that may compute a password hash: its requests wait in the queue for hashing, all others never do."""

    work: str
    """The class of work; a tenant's classes are served in turn, so that its registrations do not keep its sign-ins waiting."""
    mentions: tuple[str, ...] = ()
    """It hashes only if the query or the body mentions one of these, in any letter case; empty: it may always."""

    def may(self, query: str, body: bytes) -> bool:
        """Return whether a request may hash. Where the names may be written in another way the answer is yes."""
        if not self.mentions or b"\\" in body or len(body) > _MOST_SEARCHED_BYTES:
            return True
        text = unquote_to_bytes(query) + b"\0" + (unquote_to_bytes(body) if b"%" in body else body)
        return any(word.encode() in text.lower() for word in self.mentions)


Req = TypeVar("Req", bound=Wire)
Res = TypeVar("Res", bound="Wire | Document")


@dataclass(frozen=True, eq=False)
class Operation(Generic[Req, Res]):
    """One row of the interface."""

    name: str
    method: str
    path: str
    request: type[Req]
    response: type[Res]
    auth: Auth
    error_profile: ErrorProfile
    also: tuple[str, ...] = ()  # further addresses, as "/path" or "METHOD /path"
    when: tuple[str, ...] = ()  # query names of which one must be present: tells apart operations at one address
    on: Host = Host.API
    accepts: Accept = Accept.JSON_OR_FORM
    errors: tuple[type[ApiError], ...] = ()
    no_object: type[ApiError] | None = (
        None  # refuses a body of JSON that is no object, where the family's error does not
    )
    summary: str = ""
    row: str = ""  # the id of the interface table's row, for example U12
    public: bool = True
    answers: tuple[str, ...] = ("application/json",)  # media types of a good answer; none: it is empty
    scope: str = ""  # what a machine token must hold where M is admitted
    access: Access | None = (
        None  # what an application's token must hold where U is admitted; None: no such token opens it
    )
    takes_markup: bool = False  # by its nature, as a mail's template is: its handler says which (decisions/0051)
    takes_secret: bool = (
        False  # takes the API secret without requiring it; a caller that sends it is exempt from some checks
    )
    cors: bool = False  # answers an application's registered web origins (Fetch standard, CORS protocol)
    hashing: Hashing | None = None  # None: it never computes a password hash
    every_error: tuple[type[ApiError], ...] = field(init=False, default=())

    def __post_init__(self) -> None:
        own = [kind for kind in (self.no_object, *self._access_errors()) if kind]
        of_callers = self.error_profile.errors_for(self.every_auth)
        object.__setattr__(self, "every_error", tuple(dict.fromkeys((*self.errors, *own, *of_callers))))

    def _access_errors(self) -> tuple[type[ApiError] | None, ...]:
        """Return how a person's token is refused here."""
        if AuthScheme.ACCESS_TOKEN not in self.auth.schemes():
            return ()
        may_need_proof = self.access is not None and self.access.may_need_proof
        return self.error_profile.access_refused, self.error_profile.proof_needed if may_need_proof else None

    def addresses(self) -> Iterator[tuple[str, str]]:
        """Yield (method, path) for the operation's own address and its aliases."""
        yield self.method, self.path
        for other in self.also:
            method, _, path = other.rpartition(" ")
            yield method or self.method, path

    @property
    def every_auth(self) -> Auth:
        """Return the alternatives of `auth`, and those with the API secret where `takes_secret` allows it."""
        return self.auth | self.auth & S if self.takes_secret else self.auth

    @property
    def area(self) -> str:
        """The part of the name before the dot: `accounts` of `accounts.create`."""
        return self.name.partition(".")[0]


AnyOperation = Operation[Any, Any]


class Catalogue:
    """Every operation of the interface, by name."""

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

    def on(self, host: Host) -> Catalogue:
        """Return the operations served on one kind of host."""
        return Catalogue(operation for operation in self if operation.on is host)
