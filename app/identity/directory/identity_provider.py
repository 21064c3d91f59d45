"""What every kind of provider of identities does: it says where a browser is led, and whom it brought back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, Protocol

from app.contract.connections import MEMBERS
from app.identity.platform.outbound import ProviderUnavailable

MAX_SUBJECT_LENGTH: Final = 255
_MOST_LETTERS_OF_EMAIL: Final = 320
_MOST_LETTERS: Final = 500


class ProviderDenied(Exception):
    """The person said no, or the provider let nobody in. The text goes to the log."""


@dataclass(frozen=True)
class AuthenticationRequest:
    """One way to a provider and back."""

    state: str = field(repr=False)
    nonce: str = field(repr=False)
    verifier: str = field(repr=False)
    back: str
    since: datetime | None = None  # where a new proof was asked for: none from before is good


@dataclass(frozen=True)
class ProviderIdentity:
    """Whom a provider knows: `subject` is unique within it and never given to another person.

    `email_verified` is what the provider says of `email`, and `gives_email` whether mailboxes of that domain are its own to
    give, as far as it tells. `profile` holds members of the profile.
    """

    provider: str
    subject: str
    email: str | None = None
    email_verified: bool = False
    profile: dict[str, str] = field(default_factory=dict)
    gives_email: bool = True
    is_anew: bool = False  # the provider says that it asked for a proof now, as was wished


class Provider(Protocol):
    """One kind of provider, as one tenant's client."""

    def address(self, asked: AuthenticationRequest, *, hint: str, again: bool, language: str) -> str:
        """Return where the browser is led; `again` asks for a new proof there, if it knows how. Raises ProviderUnavailable."""

    def claimed(self, asked: AuthenticationRequest, answer: Mapping[str, str], now: datetime) -> ProviderIdentity:
        """Exchange what the browser came back with. Raises ProviderDenied, ProviderUnavailable."""


def identity_from_claims(provider: str, names: Mapping[str, str], told: Mapping[str, Any]) -> ProviderIdentity:
    """Return what a provider's words say, read by the names that a connection has for them.

    Raises ProviderUnavailable where they name nobody.
    """
    said = {member: _text(_found(told, name)) for member, name in names.items()}
    subject, written = said["subject"], _found(told, names["subject"])
    if not 0 < len(subject) <= MAX_SUBJECT_LENGTH or str(written) != subject:  # one with a blank is another one
        raise ProviderUnavailable("it names nobody")
    email = (said["email"] if len(said["email"]) <= _MOST_LETTERS_OF_EMAIL else "") or None
    verified = _found(told, names["email_verified"])
    is_verified = email is not None and (verified is True or verified == "true")  # some tell everything as a text
    profile = {member: said[key][:_MOST_LETTERS] for key, member in MEMBERS.items() if said.get(key)}
    return ProviderIdentity(provider, subject, email, is_verified, profile)


def _found(told: Mapping[str, Any], name: str) -> Any:
    """Return a claim; `a.b` is b within a, where no claim has the whole name."""
    if name in told:
        return told[name]
    within: Any = told
    for part in name.split("."):
        within = within.get(part) if isinstance(within, dict) else None
    return within


def _text(value: Any) -> str:
    """Return a text or a whole number as one line; nothing for anything else."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return value.strip() if isinstance(value, str) and value.isprintable() else ""
