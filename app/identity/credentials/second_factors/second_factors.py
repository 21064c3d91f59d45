"""The rules of all authenticators: when a factor is required, when it can be enrolled, and how wrong attempts count."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime

from app.contract import errors
from app.contract.second_factors.challenge import FactorKind
from app.contract.tenants.settings import TenantSettings
from app.identity.credentials import account_locks, attempt_limit, credential_store
from app.identity.credentials.credential_store import Credential
from app.identity.credentials.one_time_tokens import one_time_tokens
from app.identity.credentials.second_factors import trusted_browsers
from app.identity.credentials.second_factors.authenticators import backup_code
from app.identity.credentials.second_factors.authenticators.authenticator import (
    AccountFactors,
    Authenticator,
    FactorResponse,
)
from app.identity.credentials.second_factors.authenticators.registry import AUTHENTICATORS, fallback_kinds
from app.identity.directory.accounts import account_store
from app.identity.directory.accounts.account import Account
from app.identity.directory.accounts.login_attempts import login_records
from app.identity.directory.accounts.login_attempts.login_records import Attempt
from app.identity.directory.organizations import active_policies
from app.identity.platform import continuation_tokens
from app.identity.platform.context import Context
from app.identity.platform.continuation_tokens import ContinuationPurpose
from app.kit.operations.errors import ApiError

SUPPLEMENTARY = frozenset(kind for kind, item in AUTHENTICATORS.items() if item.is_supplementary)
"""Kinds that do not count without another one."""
CODE_PURPOSES = {kind: item.code_purpose for kind, item in AUTHENTICATORS.items() if item.code_purpose is not None}
"""Purposes of the codes, for kinds that send codes."""
WRONG_SENT_CODE = (errors.WrongSmsCode, errors.WrongMailCode)
"""Errors of wrong sent codes, which count their attempts themselves."""


@dataclass(frozen=True)
class RequiredFactor:
    """The second factor that a sign-in needs after the first."""

    factors: AccountFactors
    kinds: tuple[FactorKind, ...]  # enrolled or fallback kinds, the preferred first; if empty, one must be enrolled now
    is_risk_based: bool = False  # required by a risk rule

    @property
    def must_enrol(self) -> bool:
        return not self.kinds


@dataclass(frozen=True)
class VerifiedFactor:
    """A right response to a second factor."""

    is_new: bool
    """Whether it enrolled the factor."""
    attempt: Attempt | None
    """What the caller takes back; None where none was counted: for a sent code, after the solution of a lock."""


def of_account(
    context: Context,
    account: Account,
    *,
    sign_in: str | None = None,
    used_channel: FactorKind | None = None,
    credentials: tuple[Credential, ...] | None = None,
) -> AccountFactors:
    """Return an account with its credentials, in the state of one sign-in if these name it.

    Args:
        credentials: as a statement read them with the account; by default a statement of their own reads them.
    """
    is_required = active_policies.requires_second_factor(context, account)
    if credentials is None:
        credentials = tuple(credential_store.by_account(context, account.uid))
    return AccountFactors(account, credentials, sign_in, is_required, used_channel)


def available_kinds(settings: TenantSettings, factors: AccountFactors | None = None) -> tuple[FactorKind, ...]:
    """Return the kinds that a tenant enables, the preferred first, without the channel that the first factor used. An account
    that uses fallback factors at a risk gets none, because it must not enrol then.
    """
    if factors is not None and factors.fallback_kinds:
        return ()
    left_out = SUPPLEMENTARY | ({factors.used_channel} if factors is not None else set())
    return tuple(
        kind
        for kind, authenticator in AUTHENTICATORS.items()
        if authenticator.is_on(settings) and kind not in left_out and (factors is None or factors.accepts(kind))
    )


def enrolled_kinds(settings: TenantSettings, factors: AccountFactors) -> tuple[FactorKind, ...]:
    """Return the kinds with which the account can pass a second factor; none if it has backup codes only."""
    if not factors.credentials and not factors.fallback_kinds:
        return ()
    usable = tuple(
        [
            kind
            for kind, authenticator in AUTHENTICATORS.items()
            if authenticator.is_on(settings) and factors.accepts(kind) and authenticator.is_enrolled(factors)
        ]
    )
    return usable if set(usable) - SUPPLEMENTARY else ()


def last_use(factors: AccountFactors, kind: FactorKind) -> datetime | None:
    """Return when the account last passed a factor of a kind; None for never."""
    return max((item.used_at for item in factors.enrolled(kind) if item.used_at is not None), default=None)


def last_used_kind(factors: AccountFactors, kinds: Iterable[FactorKind]) -> FactorKind | None:
    """Return the kind that the account used last; None if it used none of `kinds`."""
    uses = {kind: instant for kind in kinds if (instant := last_use(factors, kind)) is not None}
    return max(uses, key=lambda kind: uses[kind], default=None)


def kinds_of_account(context: Context, account: Account, channel: FactorKind | None = None) -> tuple[FactorKind, ...]:
    """Return the kinds with which an account can pass a second factor; none if the tenant has two-factor sign-in disabled.
    `channel`: as in `factor_required_by_settings`.
    """
    settings = context.tenant.settings
    if settings.two_factor == "disabled":
        return ()
    return enrolled_kinds(settings, of_account(context, account, used_channel=channel))


def factor_required_by_settings(
    context: Context,
    account: Account,
    channel: FactorKind | None = None,
    *,
    is_reauthentication: bool = False,
    is_risk_based: bool = False,
) -> RequiredFactor | None:
    """Return the second factor required after a first one; None if the first is enough.

    Runs one SQL statement if the tenant has two-factor sign-in enabled, else none; one more for members of organizations.

    Args:
        channel: the kind whose mailbox or number the first factor used, because one mailbox does not count twice.
        is_reauthentication: a signed-in account authenticates again; trusted browsers do not skip that.
        is_risk_based: a risk rule requires the factor; trusted browsers do not skip it, and an account without enrolled
            factors uses its fallback factors.

    Raises:
        TwoFactorOn: the account enrolled no kind other than `channel`; its owner must sign in with the password.
    """
    settings = context.tenant.settings
    if settings.two_factor == "disabled":
        return _fallback_requirement(context, account, channel) if is_risk_based else None
    # sign_in="": neither the owner's own session, nor a sign-in that has a token already
    factors = of_account(context, account, sign_in="", used_channel=channel)
    kinds = enrolled_kinds(settings, factors)
    if kinds and not (is_reauthentication or is_risk_based) and trusted_browsers.is_trusted(context, account):
        return None
    if channel is not None and not kinds and enrolled_kinds(settings, replace(factors, used_channel=None)):
        raise errors.TwoFactorOn
    if is_risk_based and not kinds and (fallback := _fallback_requirement(context, account, channel)):
        return fallback
    if not kinds and (not factors.is_factor_required or not available_kinds(settings, factors)):
        return None
    return RequiredFactor(factors, kinds, is_risk_based=is_risk_based)


def factor_required_by_workflow(
    context: Context, account: Account, channel: FactorKind | None, accepted: tuple[FactorKind, ...]
) -> RequiredFactor | None:
    """Return the second factor that a workflow requires, as a risk does: no trusted browser skips it, and an account without
    enrolled factors uses its mailbox or number, also where the tenant has two-factor sign-in disabled.

    None if the account has none of the accepted kinds; who has enrolled others enrols none of them now.

    Args:
        accepted: the kinds that the workflow accepts; empty for all.

    Raises:
        TwoFactorOn: as `factor_required_by_settings`.
    """
    required = factor_required_by_settings(context, account, channel, is_risk_based=True)
    if required is None or not accepted:
        return required
    fallback = tuple(kind for kind in required.factors.fallback_kinds if kind in accepted)
    factors = replace(required.factors, fallback_kinds=fallback, accepted_kinds=accepted)
    kinds = tuple(kind for kind in required.kinds if kind in accepted)
    if kinds:
        return replace(required, factors=factors, kinds=kinds)
    can_enrol = required.must_enrol and bool(available_kinds(context.tenant.settings, factors))
    return replace(required, factors=factors) if can_enrol else None


def _fallback_requirement(context: Context, account: Account, channel: FactorKind | None) -> RequiredFactor | None:
    """Return the risk-based requirement of an account without enrolled factors; None if it has no fallback kind."""
    kinds = fallback_kinds(context, account, channel)
    return (
        RequiredFactor(
            AccountFactors(account, sign_in="", used_channel=channel, fallback_kinds=kinds), kinds, is_risk_based=True
        )
        if kinds
        else None
    )


def refuse_disabled(settings: TenantSettings) -> None:
    """Raise TwoFactorOff, or NoTwoFactorMethod if the tenant enables no kind."""
    if settings.two_factor == "disabled":
        raise errors.TwoFactorOff
    if not available_kinds(settings):
        raise errors.NoTwoFactorMethod


def is_available(context: Context, kind: FactorKind) -> bool:
    """Return whether the tenant enables two-factor sign-in and this kind."""
    settings = context.tenant.settings
    return settings.two_factor != "disabled" and AUTHENTICATORS[kind].is_on(settings)


def refuse_unavailable(context: Context, kind: FactorKind, factors: AccountFactors | None = None) -> None:
    """Raise the authenticator's `disabled_error` if the tenant disables it or the first factor used its channel."""
    is_fallback = (
        factors is not None and kind in factors.fallback_kinds and AUTHENTICATORS[kind].is_on(context.tenant.settings)
    )
    if not (is_fallback or is_available(context, kind)) or (factors is not None and kind is factors.used_channel):
        raise AUTHENTICATORS[kind].disabled_error


def enabled_authenticator(context: Context, kind: FactorKind) -> Authenticator:
    """Return the authenticator of a kind. Raises its `disabled_error`."""
    authenticator = AUTHENTICATORS[kind]
    if not authenticator.is_on(context.tenant.settings):
        raise authenticator.disabled_error
    return authenticator


def verify_or_enrol(
    context: Context,
    factors: AccountFactors,
    kind: FactorKind,
    response: FactorResponse,
    *,
    may_enrol: bool,
    is_lock_solved: bool = False,
    replaces: bool = False,
) -> VerifiedFactor:
    """Verify a response in the request's transaction. Call it before any write.

    All kinds and the password share one counter of failures; a locked account is refused. The caller takes the attempt back
    in the transaction of what the response completes, so that a crash in between leaves it counted.

    Args:
        may_enrol: whether the response may enrol a factor that is not enrolled.
        is_lock_solved: whether the caller just solved a lock of the account.
        replaces: whether it enrols in place of an enrolled factor.

    Raises:
        LockedForAWhile, LockedForCaptcha, LockedForSecurityQuestion, AccountBlocked: the account is locked, or this
            attempt locks it.
        UnknownFactorToken: a concurrent response ended this sign-in, or a concurrent sign-in enrolled a factor.
        the authenticator's `disabled_error`, `not_enrolled_error`, `wrong_errors`, and the errors of sent codes.
    """
    authenticator = enabled_authenticator(context, kind)
    is_new = replaces or not authenticator.is_enrolled(factors)
    if kind is factors.used_channel or not factors.accepts(kind) or (is_new and not may_enrol):
        raise authenticator.not_enrolled_error
    if not is_lock_solved:
        account_locks.refuse_locked(context, factors.account)
    authenticator.refuse_incomplete(context, factors, response, is_new=is_new)
    attempt = _count_attempt(context, factors) if authenticator.wrong_errors and not is_lock_solved else None
    apply = authenticator.enrol if is_new else authenticator.verify
    try:
        apply(context, factors, replace(response, is_lock_solved=True) if is_lock_solved else response)
    except WRONG_SENT_CODE as refusal:
        context.work.rollback()
        raise account_locks.current_error(context, factors.account) or refusal from None
    except authenticator.wrong_errors as refusal:
        context.work.rollback()
        _refuse_ended_sign_in(context, factors, attempt)
        raise _count_wrong(context, factors.account, kind, attempt, refusal) from None
    if is_new and factors.sign_in is not None:
        _refuse_concurrent_enrolment(context, factors, authenticator)
    if attempt is None:
        login_records.reset_failures(context.work, factors.account.uid, is_lock_solved=is_lock_solved)
    event = "second_factor.enrolled" if is_new else "second_factor.passed"
    context.audit.record(event, uid=factors.account.uid, kind=kind)
    return VerifiedFactor(is_new, attempt)


def generate_backup_codes(context: Context, account: Account, *, is_first: bool) -> list[str]:
    """Return ten new backup codes, which replace the old ones. With `is_first` existing codes are an error.

    Raises:
        NoSecondFactor: the account has no other factor. NoBackupCodes: the tenant disables them.
        BackupCodesMade: `is_first`, and the account has codes.
    """
    factors = _require_other_factor(context, account)
    if is_first and factors.enrolled(FactorKind.BACKUP_CODE):
        raise errors.BackupCodesMade
    account_store.lock(context, account.uid)  # of concurrent calls the second sees the codes of the first
    if is_first and of_account(context, account).enrolled(FactorKind.BACKUP_CODE):
        raise errors.BackupCodesMade
    context.audit.record("second_factor.backup_codes_made", uid=account.uid)
    return backup_code.generate(context, account.uid)


def draft_backup_codes(context: Context, account: Account) -> tuple[list[str], str]:
    """Return ten backup codes, which work once `save_backup_codes` gets the id of their batch, and that id.

    Raises:
        NoSecondFactor: the account has no other factor. NoBackupCodes: the tenant disables them.
    """
    _require_other_factor(context, account)
    account_store.lock(context, account.uid)  # lock order: the account, then its credentials
    return backup_code.draft(context, account.uid)


def save_backup_codes(context: Context, account: Account, batch: str) -> bool:
    """Put the codes of a batch into use; return False if newer ones replaced them, or the last other factor is gone."""
    account_store.lock(context, account.uid)
    if not backup_code.activate_batch(context, account.uid, batch):
        return False
    context.audit.record("second_factor.backup_codes_made", uid=account.uid)
    return True


def _require_other_factor(context: Context, account: Account) -> AccountFactors:
    enabled_authenticator(context, FactorKind.BACKUP_CODE)
    factors = of_account(context, account)
    if not enrolled_kinds(context.tenant.settings, factors):
        raise errors.NoSecondFactor
    return factors


def remove(context: Context, uid: str, kind: FactorKind) -> None:
    """Remove a factor. With the last one, remove backup codes and trusted browsers too.

    Raises its `removal_error`.
    """
    authenticator = AUTHENTICATORS[kind]
    account_store.lock(context, uid)  # lock order: the account, then its credentials
    if not credential_store.remove(context, uid, (kind,)):
        raise authenticator.removal_error or authenticator.not_enrolled_error
    if authenticator.code_purpose is not None:
        one_time_tokens.close(context, uid, authenticator.code_purpose)
    remaining = {item.kind for item in credential_store.by_account(context, uid) if item.is_enrolled}
    if not (remaining & set(FactorKind)) - SUPPLEMENTARY:
        credential_store.remove(context, uid, tuple(SUPPLEMENTARY))
        trusted_browsers.revoke_all(context, uid)
    context.audit.record("second_factor.removed", uid=uid, kind=kind)


def _count_attempt(context: Context, factors: AccountFactors) -> Attempt:
    """Count an attempt; raises the lock's error if none is left, and UnknownFactorToken if the sign-in has ended."""
    try:
        return attempt_limit.count_attempt(context, factors.account)
    except ApiError:
        _refuse_ended_sign_in(context, factors, None)
        raise


def _refuse_ended_sign_in(context: Context, factors: AccountFactors, attempt: Attempt | None) -> None:
    """Raise UnknownFactorToken if the same response, sent twice, has ended the sign-in: that is no failed attempt."""
    if (
        factors.sign_in
        and continuation_tokens.by_hash(context, ContinuationPurpose.SECOND_FACTOR, factors.sign_in) is None
    ):
        if attempt is not None:
            with context.work.separate_transaction() as transaction:
                attempt.take_back(transaction)
        raise errors.UnknownFactorToken


def _refuse_concurrent_enrolment(context: Context, factors: AccountFactors, authenticator: Authenticator) -> None:
    """Roll an enrolment back if a concurrent sign-in enrolled a factor: with the password alone an attacker could enrol beside
    the owner. The account row is locked here, so the later one sees the earlier.
    """
    before = {credential.credential_id for credential in factors.credentials if credential.is_enrolled}
    now = {item.credential_id for item in credential_store.by_account(context, factors.account.uid) if item.is_enrolled}
    if len(now - before) > 1:
        context.work.rollback()
        context.audit.record(
            "second_factor.refused", uid=factors.account.uid, kind=authenticator.kind, reason="another meanwhile"
        )
        raise errors.UnknownFactorToken


def _count_wrong(
    context: Context, account: Account, kind: FactorKind, attempt: Attempt | None, refusal: ApiError
) -> ApiError:
    """Count a wrong response and return its error, or the lock's error if it locks the account."""
    error, attempts = attempt_limit.record_failure(context, account, attempt, refusal)
    context.audit.record("second_factor.refused", uid=account.uid, kind=kind, attempts=attempts)
    return error
