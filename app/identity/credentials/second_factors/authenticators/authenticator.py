"""The base class of authenticators: enrol, challenge, verify. Each authenticator is one file.

An authenticator stores its credentials and verifies responses. The service of second factors holds the rules for all of them:
wrong responses count, locked accounts are refused, and when an account may enrol.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from app.contract.second_factors.challenge import FactorKind
from app.contract.tenants.settings import TenantSettings
from app.identity.credentials.credential_store import Credential
from app.identity.credentials.one_time_tokens.one_time_token_store import Purpose
from app.identity.directory.accounts.account import Account
from app.identity.platform.context import Context
from app.kit.operations.errors import ApiError


@dataclass(frozen=True)
class AccountFactors:
    """An account with its credentials, in the state of one sign-in."""

    account: Account
    credentials: tuple[Credential, ...] = ()
    sign_in: str | None = None  # digest of the sign-in's token; None: the account is signed in and manages its factors
    is_factor_required: bool = False  # the tenant or an organization requires two factors

    used_channel: FactorKind | None = None  # the kind whose mailbox or number the first factor already used
    fallback_kinds: tuple[FactorKind, ...] = ()
    """Kinds that an account without enrolled factors can use at a risk: its own mailbox, number, answers."""
    accepted_kinds: tuple[FactorKind, ...] = ()
    """The kinds that the sign-in's workflow accepts; empty for all."""

    def accepts(self, kind: FactorKind) -> bool:
        """Return whether the workflow of the sign-in accepts a kind."""
        return not self.accepted_kinds or kind in self.accepted_kinds

    def enrolled(self, kind: FactorKind) -> tuple[Credential, ...]:
        """Return the enrolled credentials of a kind, the oldest first; none of the channel that the first factor used."""
        if kind is self.used_channel:
            return ()
        return tuple(
            [credential for credential in self.credentials if credential.kind == kind and credential.is_enrolled]
        )

    def pending(self, kind: FactorKind) -> tuple[Credential, ...]:
        """Return the credentials of a kind that are not verified yet."""
        return tuple(
            credential for credential in self.credentials if credential.kind == kind and not credential.is_enrolled
        )


@dataclass(frozen=True)
class ChallengeOptions:
    """How the caller wants a challenge or an enrolment."""

    sms_template: str | None = None
    email_template: str | None = None
    is_voice_otp: bool = False
    duo_redirect_uri: str | None = None
    email: str | None = None  # which of several addresses
    phone: str | None = None  # the number to enrol
    interaction_id: str | None = None  # the hub's interaction, to which emails and redirects return
    is_account_page: bool = False  # on a hosted page of a signed-in account, which has no interaction


@dataclass(frozen=True)
class FactorChallenge:
    """A challenge or an enrolment as the caller sees it. Each authenticator sets its own fields."""

    secret: str | None = None  # typed where the QR code cannot be scanned
    uri: str | None = None  # content of the QR code
    sent_to: str | None = None  # masked
    targets: tuple[str, ...] = ()  # where it could be sent, masked
    sid: str | None = None  # of a text message
    questions: tuple[str, ...] = ()  # ids
    options: Mapping[str, Any] | None = None  # WebAuthn options
    address: str | None = None  # URL to which the browser is redirected
    number: str | None = None  # to be matched on the device
    state: str | None = None  # of a push request: drawn (the QR code is shown), waiting, approved, denied, failed
    app: str | None = None  # the name of the app that answers
    stores: Mapping[str, str] = field(default_factory=dict)  # store URLs of that app, by store name


@dataclass(frozen=True)
class FactorResponse:
    """The caller's response to a challenge. Each authenticator reads its own fields."""

    code: str = ""
    email: str | None = None
    answers: Mapping[str, str] = field(default_factory=dict)
    credential: Mapping[str, Any] = field(default_factory=dict)
    state: str = ""
    is_lock_solved: bool = False  # the caller just solved a lock of the account
    is_only_factor: bool = False  # no other factor was verified: a passkey then needs user verification


class Authenticator(ABC):
    """A second factor. Its module has the name of its kind, and one instance as `AUTHENTICATOR`."""

    kind: ClassVar[FactorKind]
    amr: ClassVar[tuple[str, ...]]
    """Authentication method references of a successful verification (RFC 8176)."""
    disabled_error: ClassVar[type[ApiError]]
    """Raised if the tenant has it disabled."""
    not_enrolled_error: ClassVar[type[ApiError]]
    """Raised if the account has not enrolled it."""
    removal_error: ClassVar[type[ApiError] | None] = None
    """Raised when it is removed and is not enrolled; None: `not_enrolled_error`."""
    wrong_errors: ClassVar[tuple[type[ApiError], ...]] = ()
    """Errors of a wrong response; each counts toward the account's lock. Sent codes count their attempts themselves."""
    code_purpose: ClassVar[Purpose | None] = None
    """The purpose of the codes that it sends."""
    enrolled_members: ClassVar[tuple[str, ...]] = ()
    """The members of a challenge (`Factors`) that are true if it is enrolled."""
    is_supplementary: ClassVar[bool] = False
    """Whether it does not count without another one."""

    def is_on(self, settings: TenantSettings) -> bool:
        """Return whether the tenant has it enabled."""
        return settings.second_factors.is_on(self.kind)

    def is_enrolled(self, factors: AccountFactors) -> bool:
        """Return whether the account can respond to a challenge of it; never without credentials and fallback kinds."""
        return bool(factors.enrolled(self.kind))

    def is_fallback(self, context: Context, account: Account) -> bool:  # noqa: ARG002 - for authenticators that replace others
        """Return whether an account without enrolled factors can respond to a risk-based challenge of it."""
        return False

    def hint(self, factors: AccountFactors) -> str | None:  # noqa: ARG002 - for authenticators that send something
        """Return which one it is: the masked destination of a challenge, the name of a passkey; None if there is nothing to tell."""
        return None

    def hint_for_owner(self, factors: AccountFactors) -> str | None:
        """Return `hint` as the account's owner reads it once signed in: a destination in full."""
        return self.hint(factors)

    def describe(self, context: Context, factors: AccountFactors) -> FactorChallenge:  # noqa: ARG002 - for challenges with content
        """Return the challenge as a page shows it again. Sends nothing."""
        return FactorChallenge()

    def begin_enrolment(self, context: Context, factors: AccountFactors, options: ChallengeOptions) -> FactorChallenge:
        """Start an enrolment or continue a pending one, and return its challenge."""
        return self.challenge(context, factors, options)

    def refuse_incomplete(  # noqa: B027 - most responses have one part
        self, context: Context, factors: AccountFactors, response: FactorResponse, *, is_new: bool
    ) -> None:
        """Raise the error of an incomplete response, which does not count as an attempt."""

    @abstractmethod
    def enrol(self, context: Context, factors: AccountFactors, response: FactorResponse) -> None:
        """Enrol with a first correct response, in the request's transaction. Only one of several concurrent calls succeeds."""

    def challenge(self, context: Context, factors: AccountFactors, options: ChallengeOptions) -> FactorChallenge:  # noqa: ARG002 - for authenticators that send something
        """Send the challenge if the kind sends one, and return it."""
        return FactorChallenge()

    @abstractmethod
    def verify(self, context: Context, factors: AccountFactors, response: FactorResponse) -> None:
        """Use a response, in the request's transaction. Only one of several concurrent calls succeeds."""
