"""What every authenticator does: enrol, challenge, verify.

One file each behind this protocol. An authenticator keeps its credentials and says whether a proof is good; that wrong
ones count, that a locked account is refused and who may enrol when is `second_factors`' to say, once for all of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from app.contract.configuration import TenantSettings
from app.contract.second_factors.challenge import FactorKind
from app.identity.credentials.store import Credential
from app.identity.directory.accounts.account import Account
from app.identity.platform.context import Context
from app.kit.errors import ApiError


@dataclass(frozen=True)
class AccountFactors:
    """An account and everything that it enrolled."""

    account: Account
    credentials: tuple[Credential, ...] = ()
    sign_in: str | None = None  # which sign-in is being proved; None: its owner is signed in and keeps their factors
    needs_factor: bool = False  # the tenant demands two of everybody

    without: FactorKind | None = None  # what the first factor proved already: a mailbox, a number
    lent: tuple[
        FactorKind, ...
    ] = ()  # asked at a risk though nothing is enrolled: the account's own mailbox, number, answers

    def enrolled(self, kind: FactorKind) -> tuple[Credential, ...]:
        """The credentials of a kind that were proved once, the oldest first; none of what the first factor proved."""
        if kind is self.without:
            return ()
        return tuple(one for one in self.credentials if one.kind == kind and one.is_enrolled)

    def begun(self, kind: FactorKind) -> tuple[Credential, ...]:
        """Those that are not proved yet."""
        return tuple(one for one in self.credentials if one.kind == kind and not one.is_enrolled)


@dataclass(frozen=True)
class ChallengeOptions:
    """How whoever asks wants a challenge or an enrolment."""

    sms_template: str | None = None
    email_template: str | None = None
    is_voice_otp: bool = False
    duo_redirect_uri: str | None = None
    email: str | None = None  # which address, where there are several
    phone: str | None = None  # which number is enrolled
    interaction_id: str | None = None  # of the hub's page that mails lead back to
    is_own: bool = False  # on our own page of a signed-in person, which has no attempt


@dataclass(frozen=True)
class FactorChallenge:
    """What a challenge or an enrolment shows to who asked; each authenticator fills what is its own."""

    secret: str | None = None  # what is typed where a picture cannot be scanned
    uri: str | None = None  # what the picture holds
    sent_to: str | None = None  # masked
    targets: tuple[str, ...] = ()  # where it could be sent, masked
    sid: str | None = None  # of a text message
    questions: tuple[str, ...] = ()  # ids
    options: Mapping[str, Any] | None = None  # of WebAuthn
    address: str | None = None  # where a browser is led
    number: str | None = None  # to be matched on the other device
    state: str | None = None  # of what is answered elsewhere: drawn, waiting, approved, denied, failed
    app: str | None = None  # by which it is answered
    stores: Mapping[str, str] = field(default_factory=dict)  # where that is had, by its name


@dataclass(frozen=True)
class FactorResponse:
    """What was shown as proof; each authenticator reads what is its own."""

    code: str = ""
    email: str | None = None
    answers: Mapping[str, str] = field(default_factory=dict)
    credential: Mapping[str, Any] = field(default_factory=dict)
    state: str = ""
    is_lock_open: bool = False  # a lock of the account was just opened
    is_alone: bool = (
        False  # nothing else was shown beside it: having something is not enough where its user can be verified
    )


class Authenticator(Protocol):
    """One way to prove who one is, beside the first factor."""

    @property
    def kind(self) -> FactorKind: ...

    @property
    def methods(self) -> tuple[str, ...]:
        """The `amr` of who proved it (RFC 8176)."""

    @property
    def off(self) -> type[ApiError]:
        """Raised where the tenant does not have it."""

    @property
    def missing(self) -> type[ApiError]:
        """Raised where the account did not enrol it."""

    @property
    def wrong(self) -> tuple[type[ApiError], ...]:
        """The refusals of a guess: each counts toward the account's lock. Codes that are sent count by themselves."""

    def is_on(self, settings: TenantSettings) -> bool:
        """Whether the tenant has it."""

    def is_enrolled(self, person: AccountFactors) -> bool:
        """Whether the account can prove itself with it."""

    def hint(self, person: AccountFactors) -> str | None:
        """Where a challenge would go, masked; None where it goes nowhere."""

    def recall(self, context: Context, person: AccountFactors) -> FactorChallenge:
        """Return what a page shows that is only looked at: nothing is sent."""

    def begin(self, context: Context, person: AccountFactors, options: ChallengeOptions) -> FactorChallenge:
        """Begin to enrol, or go on with what was begun, and return what it takes."""

    def enrol(self, context: Context, person: AccountFactors, answer: FactorResponse) -> None:
        """Enrol with a first proof, in the call's transaction. Of many at once one wins."""

    def challenge(self, context: Context, person: AccountFactors, options: ChallengeOptions) -> FactorChallenge:
        """Send what has to be sent, and return what it takes to prove it."""

    def verify(self, context: Context, person: AccountFactors, answer: FactorResponse) -> None:
        """Use a proof, in the call's transaction. Of many at once one wins."""
