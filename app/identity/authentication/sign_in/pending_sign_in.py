"""A sign-in between its first factor and its session: the continuation token, the second factor, and the end.

The interface calls the token SecondFactorAuthenticationToken; an interaction of the hub has one too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, Final

from app.contract import errors
from app.contract.messages.models import MailKind
from app.contract.second_factors.challenge import FactorKind
from app.identity.authentication.sign_in import locks
from app.identity.authentication.sign_in.authentication import MFA, Authentication
from app.identity.authentication.sign_in.interactions import WaitingSignIn
from app.identity.credentials import notifications
from app.identity.credentials.one_time_tokens import resend_delay
from app.identity.credentials.second_factors import second_factors
from app.identity.credentials.second_factors.authenticators.authenticator import (
    AccountFactors,
    ChallengeOptions,
    FactorChallenge,
    FactorResponse,
)
from app.identity.credentials.second_factors.authenticators.registry import AUTHENTICATORS
from app.identity.credentials.second_factors.second_factors import RequiredFactor
from app.identity.directory.accounts import account_store
from app.identity.directory.accounts.account import Account
from app.identity.directory.accounts.login_attempts import account_lookup, login_records
from app.identity.directory.accounts.login_attempts.account_lookup import AccountLookup, TypedIdentifier
from app.identity.directory.accounts.login_attempts.login_records import Attempt, LockKind
from app.identity.platform import continuation_tokens
from app.identity.platform.context import Context
from app.identity.platform.continuation_tokens import ContinuationPurpose, ContinuationToken
from app.kit import randomness
from app.kit.clock import iso

LIFETIME: Final = timedelta(minutes=10)
_CHANNELS: Final = {"otp": FactorKind.EMAIL, "sms": FactorKind.SMS}
_DEMANDED: Final = "demanded"
SEND_ERRORS: Final = (
    errors.NoSmsConfiguration,
    errors.VoiceOtpOff,
    errors.SmsLimitReached,
    errors.SharedSmsLimitReached,
    errors.MailLimitReached,
)


@dataclass(frozen=True)
class LastSent:
    """When the sign-in last had a factor's code sent, in Unix time (0: never), and where to."""

    at: int = 0
    to: str | None = None
    """As the visitor sees it."""
    target: str | None = None
    """The digest of the number or address that the request named."""


@dataclass(frozen=True)
class StoredSignIn:
    """What the continuation token of a pending sign-in stores."""

    authentication: Authentication
    password_changed_at: str | None
    demanded: tuple[FactorKind, ...] | None = None
    """The factors that a risk demands, also of an account that enrolled none; None where no risk demands one."""

    @classmethod
    def from_stored(cls, facts: Mapping[str, Any]) -> StoredSignIn:
        demanded = facts.get(_DEMANDED)
        return cls(
            Authentication.from_stored(facts["way"]),
            facts.get("password_changed_at"),
            None if demanded is None else tuple(FactorKind(kind) for kind in demanded),
        )

    def to_stored(self) -> dict[str, Any]:
        demanded = {} if self.demanded is None else {_DEMANDED: list(self.demanded)}
        return {"way": self.authentication.to_stored(), "password_changed_at": self.password_changed_at, **demanded}


@dataclass(frozen=True)
class PendingSignIn:
    """A sign-in that passed its first factor."""

    token: ContinuationToken
    factors: AccountFactors
    authentication: Authentication
    is_demanded: bool = False
    """Whether a risk or a workflow requires the factor, so that fallback factors count."""
    attempt: Attempt | None = None
    """The attempt at the second factor; it counts as a failure until the sign-in is recorded, or `take_back_attempt`."""

    @property
    def account(self) -> Account:
        return self.factors.account

    @property
    def is_risk_based(self) -> bool:
        """Whether the factor is required because of the origin of the sign-in."""
        run = self.authentication.workflow
        return self.is_demanded and (run is None or run.factors is None)

    def last_sent(self, kind: FactorKind) -> LastSent:
        sent = (self.token.facts.get("sent") or {}).get(kind.value) or {}
        return LastSent(sent.get("at", 0), sent.get("to"), sent.get("target"))


def begin(context: Context, required: RequiredFactor, authentication: Authentication) -> PendingSignIn:
    """Store the passed first factor for ten minutes."""
    if context.suppresses_webhooks:
        authentication = replace(authentication, suppress_webhook=True)
    account, demanded = required.factors.account, required.factors.fallback_kinds if required.is_risk_based else None
    stored = StoredSignIn(authentication, iso(account.password_changed_at), demanded)
    token = continuation_tokens.issue(
        context, ContinuationPurpose.SECOND_FACTOR, account.uid, lifetime=LIFETIME, facts=stored.to_stored()
    )
    factors = replace(required.factors, sign_in=token.token_hash)
    return PendingSignIn(token, factors, authentication, required.is_risk_based)


def resume(context: Context, token: ContinuationToken | None) -> PendingSignIn:
    """Return the pending sign-in of a continuation token; raises as `resume_waiting` does."""
    if token is None:
        raise errors.UnknownFactorToken
    return resume_waiting(context, WaitingSignIn(token, account_store.by_uid(context, token.uid)))


def resume_waiting(context: Context, waiting: WaitingSignIn) -> PendingSignIn:
    """Return the pending sign-in that is stored.

    Raises:
        UnknownFactorToken, ExpiredFactorToken: the token is unknown, used, or expired.
        AccountBlocked, LoginDisabled and others: the account may no longer sign in.
    """
    token, account = waiting.token, waiting.account
    if token.is_expired(context.now):
        raise errors.ExpiredFactorToken
    stored = StoredSignIn.from_stored(token.facts)
    if account is None or stored.password_changed_at != iso(account.password_changed_at):
        raise errors.UnknownFactorToken  # a new password ends the sign-ins that began with the old one
    factors = second_factors.of_account(
        context,
        account,
        sign_in=token.token_hash,
        used_channel=stored.authentication.channel,
        credentials=waiting.credentials,
    )
    if stored.demanded:
        if context.tenant.settings.two_factor != "disabled" and _has_enrolled(context, factors):
            raise errors.UnknownFactorToken  # the account enrolled a factor meanwhile, which is now required
        factors = replace(factors, credentials=(), fallback_kinds=stored.demanded)
    factors = replace(factors, accepted_kinds=_accepted_by_workflow(stored.authentication))
    return PendingSignIn(token, factors, stored.authentication, stored.demanded is not None)


def challenge(
    context: Context, pending: PendingSignIn, kind: FactorKind, options: ChallengeOptions
) -> tuple[PendingSignIn, FactorChallenge]:
    """Send the code of a factor, or begin to enrol it.

    A mistyped number or address may be corrected at once.

    Raises:
        TooManyRequests: the last message was sent less than 30 seconds ago.
    """
    authenticator = second_factors.enabled_authenticator(context, kind)
    is_enrolled = authenticator.is_enrolled(pending.factors)
    target, previous = options.phone or options.email, pending.last_sent(kind)
    is_same = is_enrolled or not target or target == previous.to or _digest(target) == previous.target
    if is_same and (remaining := resend_delay.seconds_left(context, previous.at)):
        raise errors.TooManyRequests(retry_after_seconds=remaining)
    send = authenticator.challenge if is_enrolled else authenticator.begin_enrolment
    result = send(context, pending.factors, options)
    if result.sent_to is None:
        return pending, result
    sent = LastSent(int(context.now.timestamp()), result.sent_to, _digest(target))
    return _with_sent(context, pending, kind, sent), result


def send_preferred(
    context: Context, pending: PendingSignIn, kinds: tuple[FactorKind, ...], options: ChallengeOptions
) -> PendingSignIn:
    """Send the code of the preferred factor at once where its target is clear, at most one in 30 seconds per account.

    A code that cannot be sent leaves the choice of a factor to the visitor.
    """
    if prompt_device(context, pending, kinds):
        return pending
    kind = kinds[0] if kinds else None
    if kind not in second_factors.CODE_PURPOSES or (target := AUTHENTICATORS[kind].hint(pending.factors)) is None:
        return pending
    remaining = max(
        resend_delay.of_account(context, (second_factors.CODE_PURPOSES[kind],), pending.account.uid).values(), default=0
    )
    if remaining:
        sent_at = int(context.now.timestamp()) - resend_delay.SECONDS + remaining
        return _with_sent(context, pending, kind, LastSent(sent_at, target))
    try:
        return challenge(context, pending, kind, options)[0]
    except SEND_ERRORS as reason:
        context.audit.record("second_factor.not_sent", uid=pending.account.uid, kind=kind, reason=type(reason).__name__)
        return pending


def _with_sent(context: Context, pending: PendingSignIn, kind: FactorKind, sent: LastSent) -> PendingSignIn:
    """Store when a code was sent, and where to."""
    every = {**(pending.token.facts.get("sent") or {}), kind.value: {**vars(sent)}}
    return replace(pending, token=continuation_tokens.add_facts(context, pending.token, sent=every))


def prompt_device(context: Context, pending: PendingSignIn, kinds: tuple[FactorKind, ...]) -> bool:
    """Prompt the account's device and return True where push is preferred; after a failed prompt other factors remain."""
    if kinds[:1] != (FactorKind.PUSH,):
        return False
    try:
        challenge(context, pending, FactorKind.PUSH, ChallengeOptions())
    except (errors.TooManyRequests, errors.PushMisconfigured) as reason:
        context.audit.record("second_factor.not_sent", uid=pending.account.uid, reason=type(reason).__name__)
    return True


def verify(
    context: Context,
    pending: PendingSignIn,
    kind: FactorKind,
    response: FactorResponse,
    solution: locks.LockSolution | None = None,
) -> PendingSignIn:
    """Verify a second factor; an account without any factor enrols this one. Call it before anything is written.

    Then call `completion.after_second_factor`, or `take_back_attempt` where the sign-in does not end here.

    Raises:
        LockedDuringStep: the account was locked since; begin again at the first factor.
        LockedForCaptcha, LockedForSecurityQuestion, LockedForAWhile, AccountBlocked: this try locked the account.
        and the errors of `second_factors.verify_or_enrol`.
    """
    authentication, authenticator = pending.authentication, AUTHENTICATORS[kind]
    opens_lock = authentication.opens_lock or _solves_lock(context, pending.account, solution)
    verified = second_factors.verify_or_enrol(
        context,
        pending.factors,
        kind,
        response,
        may_enrol=not authenticator.is_enrolled(pending.factors) and can_enrol(context, pending),
        is_lock_solved=opens_lock,
    )
    if verified.is_new:
        notifications.notify_factor_change(context, MailKind.FACTOR_ADDED, pending.account, kind)
    methods = tuple(dict.fromkeys((*authentication.methods, *authenticator.amr, MFA)))
    run = authentication.workflow.with_factor(kind) if authentication.workflow is not None else None
    passed = replace(authentication, methods=methods, opens_lock=opens_lock, workflow=run)
    return replace(pending, authentication=passed, attempt=verified.attempt)


def take_back_attempt(context: Context, pending: PendingSignIn) -> None:
    """Take the attempt of `verify` back where no sign-in is recorded, in the request's transaction."""
    if pending.attempt is not None:
        pending.attempt.take_back_all(context.work)


def can_enrol(context: Context, pending: PendingSignIn) -> bool:
    """Return whether a verification enrols the factor: for an account without factors, unless a risk demands this one."""
    return not (pending.factors.fallback_kinds or _has_enrolled(context, pending.factors))


def _accepted_by_workflow(authentication: Authentication) -> tuple[FactorKind, ...]:
    """Return the kinds to which the workflow limits the second factor; none if it accepts all."""
    return (authentication.workflow.factors or ()) if authentication.workflow is not None else ()


def _has_enrolled(context: Context, factors: AccountFactors) -> bool:
    """Return whether the account enrolled a factor, be it of the channel that the first factor used, or one that the workflow of
    the sign-in does not accept.
    """
    of_account = replace(factors, used_channel=None, accepted_kinds=())
    return bool(second_factors.enrolled_kinds(context.tenant.settings, of_account))


def _solves_lock(context: Context, account: Account, solution: locks.LockSolution | None) -> bool:
    """Return whether the solution opens the account's lock; any other lock restarts the sign-in."""
    lock = login_records.lock_of(account)
    if lock is None:
        return False
    can_open = lock.kind in (LockKind.CAPTCHA, LockKind.SECURITY_QUESTION)
    if solution is None or not can_open or (solution.captcha.is_empty and not solution.security_answer):
        raise errors.LockedDuringStep
    lookup = AccountLookup(context, TypedIdentifier("email", account.email or account.uid), account, is_hidden=False)
    context.work.release_connection()
    if not locks.solve(context, lookup, lock, solution):
        account_lookup.count_failure(context, lookup)
        raise locks.with_lock_challenge(context, lookup, lock, errors.WrongQuestionOrAnswer())
    return True


def channel_for(methods: Sequence[str]) -> FactorKind | None:
    """Return the channel of a session's first factor, by its `amr`: the same channel is no second factor."""
    return _CHANNELS.get(methods[0]) if methods else None


def _digest(target: str | None) -> str | None:
    return randomness.digest(target) if target else None
