"""The protocol of identity providers: an authorization URL, and the identity in the provider's response."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from typing import Any, ClassVar, Final, Protocol

from app.contract.federation.connection_checks import ConnectionCheck
from app.contract.federation.connections import MEMBERS
from app.identity.platform.outbound.findings import UpstreamRefusal, claim_names, kind_of_value
from app.identity.platform.outbound.outbound_http import ProviderUnavailable

JWT_PREFIX: Final = "jwt:"
"""Begins the name of a JWT provider beside those of connections, which have no colon."""
LDAP_PREFIX: Final = "ldap:"
"""Begins the name of an LDAP provider."""
SAML_PREFIX: Final = "saml:"
"""Begins the name of a tenant's SAML provider, as above."""
MAX_SUBJECT_LENGTH: Final = 255
_MAX_EMAIL_LENGTH: Final = 320
_MAX_LENGTH: Final = 500


class ProviderDenied(UpstreamRefusal):
    """The user or the provider denied access. The text is logged."""


@dataclass(frozen=True)
class AuthenticationRequest:
    """One authentication request to a provider."""

    state: str = field(repr=False)
    nonce: str = field(repr=False)
    code_verifier: str = field(repr=False)  # PKCE
    redirect_uri: str
    issued_at: datetime
    requested_at: datetime | None = None  # set for a reauthentication: earlier authentications are not accepted
    further_scopes: tuple[str, ...] = ()

    @property
    def secrets(self) -> tuple[str, ...]:
        """The values that no log and no trace may have."""
        return self.state, self.state.rpartition(".")[2], self.nonce, self.code_verifier


@dataclass(frozen=True)
class PostedRequest:
    """An authentication request that the browser posts to the provider, where that takes no redirect."""

    address: str
    fields: Mapping[str, str]


@dataclass(frozen=True)
class ProviderIdentity:
    """An account at a provider: `subject` is unique there and never reassigned.

    `email_verified` is the provider's claim; `gives_email` says whether the provider operates the mailbox's domain, as far
    as known. `profile` contains members of the interface's profile.
    """

    provider: str
    subject: str
    email: str | None = None
    email_verified: bool = False
    profile: dict[str, str] = field(default_factory=dict)
    gives_email: bool = True
    is_anew: bool = False  # the provider confirms the requested reauthentication
    kept_tokens: str | None = field(default=None, repr=False)  # names the tokens to keep (accounts/provider_tokens.py)
    groups: tuple[str, ...] | None = None  # at an organization's provider; None: it did not say which
    unsigned: tuple[str, ...] = ()  # members of `profile` that only the browser said: for a new account alone
    decided: tuple[
        str, ...
    ] = ()  # members of `profile` that an organization's connection maps: its accounts follow them
    upstream_session: str = ""  # `sid` at an organization's provider, which ends the session (Back-Channel Logout 1.0)
    upstream_name: tuple[
        str, ...
    ] = ()  # NameID of SAML, its format and qualifiers, by which we sign out at the provider

    def to_facts(self) -> dict[str, Any]:
        """Return the identity as JSON, without what earlier versions do not know and this identity does not have."""
        facts = asdict(self)
        later = {
            "kept_tokens": None, "groups": None, "unsigned": (), "decided": (), "upstream_session": "", "upstream_name": (),
        }  # fmt: skip
        return {name: value for name, value in facts.items() if name not in later or value != later[name]}

    @classmethod
    def from_facts(cls, facts: Mapping[str, Any]) -> ProviderIdentity:
        """Return an identity from its facts, in which lists stand for tuples."""
        tuples = {name: tuple(value) for name, value in facts.items() if isinstance(value, list)}
        return cls(**{**facts, **tuples})

    @property
    def decided_profile(self) -> dict[str, str]:
        """The members of `profile` that follow the provider at each sign-in; a custom field's name begins with `cf_`."""
        return {name: self.profile[name] for name in self.decided if name in self.profile}

    @property
    def signed(self) -> ProviderIdentity:
        """The identity as an existing account gets it: without what only the browser said."""
        if not self.unsigned:
            return self
        profile = {name: text for name, text in self.profile.items() if name not in self.unsigned}
        return replace(self, profile=profile, unsigned=())


@dataclass(frozen=True)
class ProviderTokens:
    """The tokens that a provider issued to the tenant's client for one identity; `refresh_token` is empty without one."""

    access_token: str = field(repr=False)
    refresh_token: str = field(default="", repr=False)
    expires_at: datetime | None = None


class ProfileUnsupported(Exception):
    """The provider has no endpoint for the profile of an earlier sign-in."""


class UpstreamProvider(Protocol):
    """One kind of provider, as one tenant's client."""

    has_id_token: ClassVar[bool]
    """Whether a sign-in also has claims of an id_token, which the profile endpoint may lack."""

    def authorization_url(
        self, request: AuthenticationRequest, *, hint: str, is_reauthentication: bool, language: str
    ) -> str | PostedRequest:
        """Return the authorization URL, or the form of a provider that takes no redirect. Raises ProviderUnavailable.

        A reauthentication is requested if the provider supports it.
        """

    def fetch_identity(
        self, request: AuthenticationRequest, parameters: Mapping[str, str], now: datetime
    ) -> tuple[ProviderIdentity, ProviderTokens | None]:
        """Return the identity for the callback's parameters, and its tokens. Raises ProviderDenied, ProviderUnavailable."""

    def read_identity(self, access_token: str) -> ProviderIdentity:
        """Return the identity that an access token belongs to. Raises ProfileUnsupported, ProviderUnavailable."""

    def renew_tokens(self, tokens: ProviderTokens, now: datetime) -> ProviderTokens:
        """Return new tokens for a refresh token (RFC 6749 section 6). Raises ProviderUnavailable."""


def identity_from_claims(provider: str, names: Mapping[str, str], claims: Mapping[str, Any]) -> ProviderIdentity:
    """Map a provider's claims to an identity by the claim names of a connection.

    Raises ProviderUnavailable without a valid subject.
    """
    values = {member: text_of(find_claim(claims, name)) for member, name in names.items()}
    subject, raw_subject = values["subject"], find_claim(claims, names["subject"])
    # stripping would name another subject
    if not 0 < len(subject) <= MAX_SUBJECT_LENGTH or str(raw_subject) != subject:
        expected = f"{names['subject']}: text or a whole number of 1 to {MAX_SUBJECT_LENGTH} characters"
        raise ProviderUnavailable(
            "it names nobody",
            check=ConnectionCheck.MAPPING,
            expected=expected,
            received=f"{names['subject']}: {kind_of_value(raw_subject)}; the answer has {claim_names(claims)}",
        )
    email = (values["email"] if len(values["email"]) <= _MAX_EMAIL_LENGTH else "") or None
    verified_claim = find_claim(claims, names["email_verified"])
    # some providers send strings
    is_verified = email is not None and (verified_claim is True or verified_claim == "true")
    profile = {member: values[key][:_MAX_LENGTH] for key, member in MEMBERS.items() if values.get(key)}
    return ProviderIdentity(provider, subject, email, is_verified, profile)


def find_claim(claims: Mapping[str, Any], name: str) -> Any:
    """Return a claim; `a.b` is the member b of a, unless a claim has the whole name."""
    if name in claims:
        return claims[name]
    current: Any = claims
    for part in name.split("."):
        current = current.get(part) if isinstance(current, dict) else None
    return current


def text_of(value: Any) -> str:
    """Return a printable string or an integer as text, otherwise an empty string."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return value.strip() if isinstance(value, str) and value.isprintable() else ""
