"""Built-in providers: a file of data for each in `providers/`, with the addresses of the provider's documentation beside it.

The files are read when a tenant's first connection is, so that a start without connections does not read them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, Literal

_FOLDER: Final = Path(__file__).parent / "providers"


@dataclass(frozen=True)
class ListedEmails:
    """Where a profile lists addresses: the member with the list, and in each entry the names of the address and its status.

    The primary address has `primary`.
    """

    list: str
    address: str
    verified: str


@dataclass(frozen=True)
class ProviderQuirks:
    """What a provider does in another way than OAuth 2.0 and OpenID Connect say. The defaults are what the standards say.

    Attributes:
        client_id_name: of the parameter with the client ID, at the authorization and the token endpoint.
        client_secret_name: of the parameter with the client secret.
        authorization_parameters: further ones of the authorization request.
        authorization_fragment: what follows `#` in its URL.
        token_method: of the token request; the parameters of a GET are in its URL.
        sends_redirect_uri: whether the token request has the redirect URI.
        token_parameters: further ones of the token request.
        wraps_answers: whether an answer may also be `callback({…});`, or have the form of a query.
        error_names: members that name an error in a response with the status 200, unless they are 0.
        code_errors: errors of a code that is wrong or was used.
        token_name: of the query parameter with the access token; empty: it is a bearer token (RFC 6750).
        identifies_token: the method of requests to the introspection endpoint, which tells the account of an access token and its
            client. A GET precedes each profile; a POST replaces the token response where there is none.
        identified_client: the member that names this client.
        identifying_parameters: of these requests.
        profile_parameters: of the request of the profile; `#accesstoken#` and `#idtoken#` stand for the tokens.
        profile_headers: further headers there, with the same placeholders.
        profile_client_name: of the parameter with the client ID there.
        profile_from_token: parameters there, and the members of the token response with their values.
        same_in_token: members of the token response, and those of the profile that must have the same value.
        adds_from_token: members of the token response that the profile lacks.
        reads_profile_again: whether an access token alone is enough for the profile.
        proves_secret: whether requests of the profile have an `appsecret_proof`.
        emails: where the profile lists addresses.
        email_is_verified: whether every address in the profile is verified.
        returns_nonce: whether an id_token has the nonce of the request.
        takes_hints: whether authorization requests may have `login_hint` and `ui_locales`.
        reauthenticates: whether `max_age` leads to a new authentication, which `auth_time` tells.
        signs_client_secret: whether the client secret is a JWT that the private key of the connection signs.
        posts_user: whether the callback has the member `user` with the person's name.
    """

    client_id_name: str = "client_id"
    client_secret_name: str = "client_secret"
    authorization_parameters: Mapping[str, str] = field(default_factory=dict)
    authorization_fragment: str = ""
    token_method: Literal["POST", "GET"] = "POST"
    sends_redirect_uri: bool = True
    token_parameters: Mapping[str, str] = field(default_factory=dict)
    wraps_answers: bool = False
    error_names: tuple[str, ...] = ()
    code_errors: tuple[str, ...] = ()
    token_name: str = ""
    identifies_token: Literal["", "GET", "POST"] = ""
    identified_client: str = ""
    identifying_parameters: Mapping[str, str] = field(default_factory=dict)
    profile_parameters: Mapping[str, str] = field(default_factory=dict)
    profile_headers: Mapping[str, str] = field(default_factory=dict)
    profile_client_name: str = ""
    profile_from_token: Mapping[str, str] = field(default_factory=dict)
    same_in_token: Mapping[str, str] = field(default_factory=dict)
    adds_from_token: tuple[str, ...] = ()
    reads_profile_again: bool = True
    proves_secret: bool = False
    emails: ListedEmails | None = None
    email_is_verified: bool = False
    returns_nonce: bool = True
    takes_hints: bool = True
    reauthenticates: bool = True
    signs_client_secret: bool = False
    posts_user: bool = False


NO_QUIRKS: Final = ProviderQuirks()


@dataclass(frozen=True)
class ProviderInstance:
    """A provider with several issuers, of which `extra_field1` of a connection names one.

    Attributes:
        issuer: with `{instance}` in it.
        default: without a name.
        pattern: a regular expression that names match.
        expected: what a name is, for the refusal of another one.
        aliases: names, and the ones that the issuer has for them.
    """

    issuer: str
    default: str
    pattern: str
    expected: str
    aliases: Mapping[str, str] = field(default_factory=dict)

    def issuer_of(self, name: str) -> str | None:
        """Return the issuer with this name, in any letter case; None if none can have it."""
        lower = name.strip().lower()
        is_name = re.fullmatch(self.pattern, lower) is not None
        return self.issuer.format(instance=self.aliases.get(lower, lower)) if is_name else None


@dataclass(frozen=True)
class ProviderPreset:
    """A built-in provider.

    Attributes:
        settings: of a connection to it, by the members of `ConnectionSettings`.
        native: those that differ for what its SDK returns to apps.
        mark: the name of its mark on pages.
        hosts: of its issuer or authorization endpoint; `*.` stands for any subdomain.
        documentation: the addresses of the pages that the data come from.
    """

    title: str
    mark: str
    hosts: tuple[str, ...]
    documentation: tuple[str, ...]
    settings: Mapping[str, Any]
    quirks: ProviderQuirks = field(default_factory=ProviderQuirks)
    native: Mapping[str, Any] = field(default_factory=dict)
    instance: ProviderInstance | None = None


@cache
def presets() -> Mapping[str, ProviderPreset]:
    """Return the built-in providers by name."""
    return MappingProxyType({path.stem: _read(path) for path in sorted(_FOLDER.glob("*.toml"))})


def _read(path: Path) -> ProviderPreset:
    import tomllib  # noqa: PLC0415 - a start without connections needs none

    data = tomllib.loads(path.read_text(encoding="utf-8"))
    quirks: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value for key, value in data.get("quirks", {}).items()
    }
    if "emails" in quirks:
        quirks["emails"] = ListedEmails(**quirks["emails"])
    return ProviderPreset(
        title=data["title"],
        mark=data["mark"],
        hosts=tuple(data["hosts"]),
        documentation=tuple(data["documentation"]),
        settings=data["settings"],
        quirks=ProviderQuirks(**quirks),
        native=data.get("native", {}),
        instance=ProviderInstance(**data["instance"]) if "instance" in data else None,
    )
