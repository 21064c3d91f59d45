"""A sign-in between its first factor and its session: the continuation token, the second factor, and the end.

The interface calls the token SecondFactorAuthenticationToken (mfa.md section 1); an interaction of the hub holds one
too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, Final

from app.contract import errors as e
from app.contract.messages import MailKind
from app.contract.second_factors.challenge import FactorKind
from app.identity.authentication.sign_in import locks, service
from app.identity.credentials import notifications
from app.identity.credentials.authenticators.protocol import (
    AccountFactors,
    ChallengeOptions,
    FactorChallenge,
    FactorResponse,
)
from app.identity.credentials.authenticators.registry import AUTHENTICATORS
from app.identity.credentials.one_time_tokens import resend_delay
from app.identity.credentials.second_factors import service as second_factors
from app.identity.credentials.second_factors.service import RequiredFactor
from app.identity.directory.accounts import account_lookup, login_records
from app.identity.directory.accounts import service as accounts
from app.identity.directory.accounts.account import Account
from app.identity.directory.accounts.account_lookup import AccountLookup, Identifier
from app.identity.platform import continuation_tokens
from app.identity.platform.context import Context
from app.identity.platform.continuation_tokens import ContinuationPurpose, ContinuationToken
from app.kit import randomness
from app.kit.clock import iso

LIFETIME: Final = timedelta(minutes=10)
MFA: Final = "mfa"  # RFC 8176
_NEVER_SENT: Final[dict[str, Any]] = {"at": 0}
_CHANNELS: Final = {"otp": FactorKind.EMAIL, "sms": FactorKind.SMS}
SUPPRESS_WEBHOOK_FACT: Final = "is_silent"  # the stored name
DEMANDED_FACTORS: Final = "demanded"
"""The token's fact that lists the factors a risk demands, also of an account that enrolled none."""
SEND_ERRORS: Final = (
    e.NoSmsConfiguration,
    e.VoiceOtpOff,
    e.SmsLimitReached,
    e.SharedSmsLimitReached,
    e.MailLimitReached,
)


@dataclass(frozen=True)
class Authentication:
    """The factors that a sign-in has passed so far."""

    methods: tuple[str, ...]  # amr (RFC 8176), in the order passed
    kind: str = "email"  # of the identifier that named the account
    channel: FactorKind | None = None  # where the code was sent: a second code there is no second factor
    opens_lock: bool = False  # the first factor came with the solution of a lock
    remember: bool = False
    suppress_webhook: bool = False


@dataclass(frozen=True)
class PendingSignIn:
    """A sign-in that passed its first factor."""

    token: ContinuationToken
    person: AccountFactors
    authentication: Authentication

    @property
    def account(self) -> Account:
        return self.person.account

    @property
    def is_risk_based(self) -> bool:
        """Whether the factor is required because of the origin of the sign-in."""
        return DEMANDED_FACTORS in self.token.facts


def begin(context: Context, required: RequiredFactor, authentication: Authentication) -> PendingSignIn:
    """Store that the first factor is passed, for ten minutes."""
    uid = required.factors.account.uid
    facts: dict[str, Any] = {
        "way": to_facts(authentication),
        "password_changed_at": iso(required.factors.account.password_changed_at),
    }
    if required.is_risk_based:
        facts[DEMANDED_FACTORS] = list(required.factors.fallback_kinds)
    ticket = continuation_tokens.issue(context, ContinuationPurpose.SECOND_FACTOR, uid, lifetime=LIFETIME, facts=facts)
    return PendingSignIn(ticket, replace(required.factors, sign_in=ticket.ticket_hash), authentication)


def resume(context: Context, ticket: ContinuationToken | None) -> PendingSignIn:
    """Return the pending sign-in that a continuation token stands for.

    Raises:
        UnknownFactorToken, ExpiredFactorToken: the token is unknown, used, or expired.
        AccountBlocked, LoginDisabled and others: the account may no longer sign in.
    """
    if ticket is None:
        raise e.UnknownFactorToken
    if ticket.is_expired(context.now):
        raise e.ExpiredFactorToken
    account = accounts.by_uid(context, ticket.uid)
    if account is None or ticket.facts.get("password_changed_at") != iso(account.password_changed_at):
        raise e.UnknownFactorToken  # a new password ends the sign-ins that began with the old one
    known = replace(second_factors.account_factors(context, account), sign_in=ticket.ticket_hash)
    authentication = from_facts(ticket.facts["way"])
    if fallback_kinds := ticket.facts.get(DEMANDED_FACTORS):
        if context.tenant.settings.two_factor != "disabled" and second_factors.enrolled_kinds(
            context.tenant.settings, known
        ):
            raise e.UnknownFactorToken  # the account enrolled a factor meanwhile, which is now required
        known = replace(known, credentials=(), fallback_kinds=tuple(FactorKind(kind) for kind in fallback_kinds))
    return PendingSignIn(ticket, replace(known, used_channel=authentication.channel), authentication)


def challenge(
    context: Context, pending: PendingSignIn, kind: FactorKind, options: ChallengeOptions
) -> tuple[PendingSignIn, FactorChallenge]:
    """Send the code of a factor, or begin to enrol it.

    Raises TooManyRequests within 30 seconds of the last message; a mistyped number or address may be corrected at
    once.
    """
    one = second_factors.enabled_authenticator(context, kind)
    is_enrolled = one.is_enrolled(pending.person)
    sent, target = dict(pending.token.facts.get("sent") or {}), options.phone or options.email
    last = sent.get(kind.value) or _NEVER_SENT
    is_same = is_enrolled or not target or target == last.get("to") or _digest(target) == last.get("target")
    if is_same and (left := resend_delay.seconds_left(context, last["at"])):
        raise e.TooManyRequests(retry_after_seconds=left)
    shown = (one.challenge if is_enrolled else one.begin_enrolment)(context, pending.person, options)
    if shown.sent_to is None:
        return pending, shown
    now = int(context.now.timestamp())
    sent[kind.value] = {"at": now, "to": shown.sent_to, "target": _digest(target)}
    return replace(pending, token=continuation_tokens.add_facts(context, pending.token, sent=sent)), shown


def send_preferred(
    context: Context, pending: PendingSignIn, kinds: tuple[FactorKind, ...], options: ChallengeOptions
) -> PendingSignIn:
    """Send the code of the preferred factor at once where its target is clear, at most one in 30 seconds per account.

    A code that cannot be sent leaves the choice of a factor to the visitor.
    """
    if prompt_device(context, pending, kinds):
        return pending
    kind = kinds[0] if kinds else None
    if kind not in second_factors.CODE_PURPOSES or (to := AUTHENTICATORS[kind].hint(pending.person)) is None:
        return pending
    left = max(
        resend_delay.of_account(context, (second_factors.CODE_PURPOSES[kind],), pending.account.uid).values(), default=0
    )
    if left:
        last = {"at": int(context.now.timestamp()) - resend_delay.SECONDS + left, "to": to}
        return replace(pending, token=continuation_tokens.add_facts(context, pending.token, sent={kind.value: last}))
    try:
        return challenge(context, pending, kind, options)[0]
    except SEND_ERRORS as reason:
        context.audit.record("second_factor.not_sent", uid=pending.account.uid, kind=kind, reason=type(reason).__name__)
        return pending


def prompt_device(context: Context, pending: PendingSignIn, kinds: tuple[FactorKind, ...]) -> bool:
    """Prompt the account's device where push is preferred, and return whether it is. A failed prompt leaves the other
    factors.
    """
    if kinds[:1] != (FactorKind.PUSH,):
        return False
    try:
        challenge(context, pending, FactorKind.PUSH, ChallengeOptions())
    except (e.TooManyRequests, e.PushMisconfigured) as reason:
        context.audit.record("second_factor.not_sent", uid=pending.account.uid, reason=type(reason).__name__)
    return True


def prove(
    context: Context,
    pending: PendingSignIn,
    kind: FactorKind,
    answer: FactorResponse,
    shown: locks.LockSolution | None = None,
) -> PendingSignIn:
    """Use a proof; call it before anything is written. Whoever enrolled nothing yet enrols by it, and nobody else.

    Raises:
        LockedDuringStep: 1264, the account was locked since; begin again at the first factor.
        LockedForCaptcha, LockedForSecurityQuestion, LockedForAWhile, AccountBlocked: this very try locked it.
        and what `factors.prove` raises.
    """
    authentication = replace(
        pending.authentication,
        opens_lock=pending.authentication.opens_lock or _solves_lock(context, pending.account, shown),
    )
    if second_factors.verify_or_enrol(
        context, pending.person, kind, answer, may_enrol=can_enrol(context, pending), is_lock_solved=authentication.opens_lock
    ):  # fmt: skip
        notifications.notify_factor_change(context, MailKind.FACTOR_ADDED, pending.account, kind)
    methods = dict.fromkeys((*authentication.methods, *AUTHENTICATORS[kind].amr, MFA))
    return replace(pending, authentication=replace(authentication, methods=tuple(methods)))


def can_enrol(context: Context, pending: PendingSignIn) -> bool:
    """Return whether a first proof enrols the factor: only for an account without any factor, and not for a factor
    demanded by risk.
    """
    return not (
        pending.person.fallback_kinds
        or second_factors.enrolled_kinds(context.tenant.settings, replace(pending.person, used_channel=None))
    )


def finish(context: Context, pending: PendingSignIn) -> Account:
    """Use the continuation token up and record the sign-in. One of several concurrent calls wins.

    Raises UnknownFactorToken, LockedDuringStep, and why the account may not sign in.
    """
    account, authentication = pending.account, pending.authentication
    refusal = service.sign_in_refusal(context, account, Identifier(authentication.kind, ""))
    if refusal is not None:
        raise refusal
    opens = authentication.opens_lock
    if not login_records.record_login(
        context.work, account.uid, account.password_hash, context.now, is_lock_solved=opens, new_hash=None
    ):
        raise e.LockedDuringStep
    if not continuation_tokens.spend(context, pending.token):
        raise e.UnknownFactorToken
    service.notify_sign_in(context, account, suppress_webhook=authentication.suppress_webhook)
    return account


def _solves_lock(context: Context, account: Account, shown: locks.LockSolution | None) -> bool:
    """Return whether the solution opens the account's lock; a lock that stays closed restarts the sign-in."""
    lock = login_records.lock_of(account)
    if lock is None:
        return False
    can_open = lock.kind in (locks.CAPTCHA, locks.QUESTION)
    if shown is None or not can_open or (shown.captcha.is_empty and not shown.security_answer):
        raise e.LockedDuringStep
    lookup = AccountLookup(context, Identifier("email", account.email or account.uid), account, is_hidden=False)
    context.work.release_connection()
    if not locks.solve(context, lookup, lock, shown):
        account_lookup.count_failure(context, lookup)
        raise locks.with_lock_challenge(context, lookup, lock, e.WrongQuestionOrAnswer())
    return True


def channel_for(methods: Sequence[str]) -> FactorKind | None:
    """Return where the first factor of a session was sent, by its `amr`: the same channel is no second factor."""
    return _CHANNELS.get(methods[0]) if methods else None


def to_facts(authentication: Authentication) -> dict[str, Any]:
    """Return an authentication as continuation tokens store it."""
    stored = {**vars(authentication), "methods": list(authentication.methods)}
    stored[SUPPRESS_WEBHOOK_FACT] = stored.pop("suppress_webhook")
    return stored


def from_facts(stored: Mapping[str, Any]) -> Authentication:
    """Return the authentication that a continuation token stores."""
    fields = {name: value for name, value in stored.items() if name != SUPPRESS_WEBHOOK_FACT}
    fields["suppress_webhook"] = bool(stored.get(SUPPRESS_WEBHOOK_FACT))
    fields["channel"] = FactorKind(stored["channel"]) if stored.get("channel") else None
    return Authentication(**{**fields, "methods": tuple(stored["methods"])})


def _digest(target: str | None) -> str | None:
    return randomness.digest(target) if target else None
