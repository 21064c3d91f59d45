"""Who may call an operation: auth schemes, their alternatives, and what tokens of applications need besides."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any


@dataclass(frozen=True)
class SchemeFacts:
    """The properties of an auth scheme."""

    name: str
    """Its name for people, `API key`, from which the published name is made: `ApiKey`."""
    openapi: Mapping[str, Any] | None = None
    """Its Security Scheme Object (OpenAPI 3.1 section 4.8.27); None: it is not published."""
    has_scopes: bool = False
    """A credential must hold the operation's `scope`."""
    is_delegated: bool = False
    """Applications hold credentials of this scheme too; the operation's `access` says what these need."""


class BaseAuthScheme(Enum):
    """A credential that a request presents. The owner of the operations subclasses it with the members."""

    _value_: SchemeFacts

    @property
    def facts(self) -> SchemeFacts:
        return self._value_

    @property
    def published_name(self) -> str:
        """Its name in the OpenAPI document: `ApiKey` for `API key`."""
        return self.facts.name.title().replace(" ", "")


@dataclass(frozen=True)
class Auth:
    """The credentials that admit a request: all schemes of any one of `alternatives`. None: open to everyone."""

    alternatives: tuple[frozenset[BaseAuthScheme], ...] = ()
    _schemes: frozenset[BaseAuthScheme] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_schemes", frozenset().union(*self.alternatives))

    @classmethod
    def of(cls, scheme: BaseAuthScheme) -> Auth:
        """Return the requirement of one scheme; combine it with `&` and `|`."""
        return cls((frozenset({scheme}),))

    def __and__(self, other: Auth) -> Auth:
        return Auth(tuple(mine | theirs for mine in self.alternatives for theirs in other.alternatives))

    def __or__(self, other: Auth) -> Auth:
        return Auth(self.alternatives + other.alternatives)

    def schemes(self) -> frozenset[BaseAuthScheme]:
        """Return every scheme of any alternative."""
        return self._schemes

    def in_words(self) -> str:
        """Return `API key + API secret, or machine token`."""
        names = (sorted(scheme.facts.name for scheme in schemes) for schemes in self.alternatives)
        return ", or ".join(" + ".join(combination) for combination in names) or "none"

    def __str__(self) -> str:
        names = (sorted(scheme.name for scheme in schemes) for schemes in self.alternatives)
        return " or ".join("+".join(combination) for combination in names) or "open"


OPEN = Auth()


@dataclass(frozen=True)
class Access:
    """What a token that was issued to an application needs to open an operation.

    `scope` is the scope it must hold: None opens the operation to no application, the empty string to every one.
    A sensitive operation also needs a recent authentication: always if it `is_sensitive`, else for requests whose body
    has one of `sensitive_members`, spelt in lower case without underscores.
    """

    scope: str | None
    is_sensitive: bool = False
    sensitive_members: frozenset[str] = frozenset()

    def sensitive_with(self, *members: str) -> Access:
        """Return the same access, sensitive where the body has one of these members."""
        return replace(self, sensitive_members=frozenset(map(_folded, members)))

    @property
    def may_need_reauthentication(self) -> bool:
        return self.is_sensitive or bool(self.sensitive_members)

    def needs_reauthentication(self, body: Iterable[str]) -> bool:
        """Return whether a request with these body members needs a recent authentication."""
        return self.is_sensitive or any(_folded(name) in self.sensitive_members for name in body)


def _folded(name: str) -> str:
    """Fold case and underscores: names of the wire ignore case, and a field's own name is one of its spellings."""
    return name.lower().replace("_", "")


class Cors(Enum):
    """Which web pages may read the responses of an operation (Fetch standard, CORS protocol)."""

    NONE = "none"
    ANY = "any"
    """Pages of any origin: nothing that a browser adds of its own opens the operation."""
    CLIENT = "client"
    """Pages at the origins of the application that asks."""


@dataclass(frozen=True)
class Admission:
    """Who may call an operation."""

    auth: Auth = OPEN
    optional: Auth | None = None
    """A credential taken beside those of `auth` but not required; a caller that presents it is exempt from some checks."""
    scope: str = ""
    """The scope that a credential of a scheme with scopes must hold."""
    access: Access | None = None
    """What an application's token needs; None: no such token opens the operation."""
    cors: Cors = Cors.NONE
    visitor: Access | None = None
    """What a browser session of the hub needs in place of the token, in the terms of `access`."""
    spans_tenants: bool = False
    """Whether it belongs to no single tenant: no host is looked up for it, and its unit of work is no tenant's."""

    @property
    def every_auth(self) -> Auth:
        """Return the alternatives of `auth`, and those with the optional credential."""
        return self.auth if self.optional is None else self.auth | self.auth & self.optional
