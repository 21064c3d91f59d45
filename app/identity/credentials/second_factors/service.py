"""The rules that hold for every authenticator: who is asked, who may enrol, what a wrong proof costs."""

from __future__ import annotations

from dataclasses import dataclass, replace

from app.contract import errors as e
from app.contract.configuration import TenantSettings
from app.contract.second_factors.challenge import FactorKind
from app.identity.credentials import store
from app.identity.credentials.authenticators import backup_codes, security_questions
from app.identity.credentials.authenticators.protocol import AccountFactors, Authenticator, FactorResponse
from app.identity.credentials.authenticators.registry import AUTHENTICATORS
from app.identity.credentials.one_time_tokens import attempt_limit
from app.identity.credentials.one_time_tokens import service as one_time_tokens
from app.identity.credentials.one_time_tokens.service import Purpose
from app.identity.credentials.second_factors import fallback_factors, trusted_browsers
from app.identity.directory.accounts import login_records
from app.identity.directory.accounts import store as store_accounts
from app.identity.directory.accounts.account import Account
from app.identity.directory.accounts.login_records import Failure
from app.identity.platform import continuation_tokens
from app.identity.platform.context import Context
from app.identity.platform.continuation_tokens import ContinuationPurpose
from app.kit.errors import ApiError

SUPPLEMENTARY = frozenset({FactorKind.BACKUP_CODE})
"""Kinds that prove only whoever has another one."""
WRONG_SENT_CODE = (e.WrongSmsCode, e.WrongMailCode)
"""Guesses at codes that were sent, which count by themselves."""
CODE_PURPOSES = {FactorKind.SMS: Purpose.FACTOR_SMS, FactorKind.EMAIL: Purpose.FACTOR_EMAIL}
"""Kinds whose codes are sent."""
REMOVAL_ERRORS = {FactorKind.EMAIL: e.FactorRemovalRefused, FactorKind.QUESTIONS: e.FactorRemovalRefused}
"""What removing refuses where nothing is enrolled, for kinds whose `missing` says that the tenant does not have them."""


@dataclass(frozen=True)
class RequiredFactor:
    """What stands between a first factor and the session."""

    factors: AccountFactors
    kinds: tuple[FactorKind, ...]  # enrolled or lent ones, the preferred first; none: one has to be enrolled now
    is_risk_based: bool = False  # because of from where it is

    @property
    def must_enrol(self) -> bool:
        return not self.kinds


def account_factors(context: Context, account: Account) -> AccountFactors:
    """Return an account with what it enrolled."""
    is_required = context.tenant.settings.two_factor == "required"
    return AccountFactors(account, tuple(store.by_account(context, account.uid)), is_factor_required=is_required)


def available_kinds(settings: TenantSettings, factors: AccountFactors | None = None) -> tuple[FactorKind, ...]:
    """Return the kinds that a tenant has, the preferred first; none of what the person's first factor proved, and none at all
    to whoever is asked at a risk: they prove, and enrol nothing."""
    if factors is not None and factors.fallback_kinds:
        return ()
    left_out = SUPPLEMENTARY | ({factors.used_channel} if factors is not None else set())
    return tuple(kind for kind, one in AUTHENTICATORS.items() if one.is_on(settings) and kind not in left_out)


def enrolled_kinds(settings: TenantSettings, factors: AccountFactors) -> tuple[FactorKind, ...]:
    """Return the kinds with which a person can prove who they are; none where there are codes on paper alone."""
    usable = tuple(kind for kind, one in AUTHENTICATORS.items() if one.is_on(settings) and one.is_enrolled(factors))
    return usable if set(usable) - SUPPLEMENTARY else ()


def kinds_of_account(context: Context, account: Account, channel: FactorKind | None = None) -> tuple[FactorKind, ...]:
    """Return the kinds with which an account proves who it is, beside the first factor; none where the tenant asks for none.
    `channel`: as of `wanted`.
    """
    settings = context.tenant.settings
    if settings.two_factor == "disabled":
        return ()
    return enrolled_kinds(settings, replace(account_factors(context, account), used_channel=channel))


def required_factor(
    context: Context,
    account: Account,
    channel: FactorKind | None = None,
    *,
    is_reauthentication: bool = False,
    is_risk_based: bool = False,
) -> RequiredFactor | None:
    """Return what is asked of somebody who passed one factor; None where that is enough.

    Costs one statement where the tenant has second factors, none where it has not.

    Args:
        channel: the kind that would prove what the first factor proved already: one mailbox does not count twice.
        is_again: whether somebody who is signed in proves once more who they are; no browser is trusted with that.
        is_demanded: whether one is asked because of from where it is: no browser is trusted then, and whoever enrolled nothing
            shows what the account has (`lent`).

    Raises:
        TwoFactorOn: the person enrolled nothing beside that; they sign in with their password.
    """
    settings = context.tenant.settings
    if settings.two_factor == "disabled":
        return _fallback_requirement(context, account, channel) if is_risk_based else None
    factors = replace(
        account_factors(context, account), sign_in="", used_channel=channel
    )  # not the owner's own session, and no ticket of a sign-in yet
    kinds = enrolled_kinds(settings, factors)
    if kinds and not (is_reauthentication or is_risk_based) and trusted_browsers.is_trusted(context, account):
        return None
    if channel is not None and not kinds and enrolled_kinds(settings, replace(factors, used_channel=None)):
        raise e.TwoFactorOn
    if is_risk_based and not kinds and (shown := _fallback_requirement(context, account, channel)):
        return shown
    if not kinds and (settings.two_factor != "required" or not available_kinds(settings, factors)):
        return None
    return RequiredFactor(factors, kinds, is_risk_based=is_risk_based)


def _fallback_requirement(context: Context, account: Account, channel: FactorKind | None) -> RequiredFactor | None:
    """Return what an account shows at a risk though it enrolled nothing; None where there is nothing that the tenant takes."""
    kinds = fallback_factors.kinds(context, account, channel)
    return (
        RequiredFactor(
            AccountFactors(account, sign_in="", used_channel=channel, fallback_kinds=kinds), kinds, is_risk_based=True
        )
        if kinds
        else None
    )


def refuse_disabled(settings: TenantSettings) -> None:
    """Raise TwoFactorOff, or NoTwoFactorMethod where the tenant has none (interface mfa.md section 1)."""
    if settings.two_factor == "disabled":
        raise e.TwoFactorOff
    if not available_kinds(settings):
        raise e.NoTwoFactorMethod


def is_available(context: Context, kind: FactorKind) -> bool:
    """Return whether the tenant has second factors, and this one."""
    settings = context.tenant.settings
    return settings.two_factor != "disabled" and AUTHENTICATORS[kind].is_on(settings)


def refuse_unavailable(context: Context, kind: FactorKind, factors: AccountFactors | None = None) -> None:
    """Raise what an authenticator refuses with where the tenant does not have it, or the first factor was the same proof."""
    is_lent = (
        factors is not None and kind in factors.fallback_kinds and AUTHENTICATORS[kind].is_on(context.tenant.settings)
    )
    if not (is_lent or is_available(context, kind)) or (factors is not None and kind is factors.used_channel):
        raise AUTHENTICATORS[kind].disabled_error


def enabled_authenticator(context: Context, kind: FactorKind) -> Authenticator:
    """Return the authenticator of a kind; raises its own refusal where the tenant does not have it."""
    found = AUTHENTICATORS[kind]
    if not found.is_on(context.tenant.settings):
        raise found.disabled_error
    return found


def verify_or_enrol(
    context: Context,
    factors: AccountFactors,
    kind: FactorKind,
    response: FactorResponse,
    *,
    may_enrol: bool,
    is_lock_solved: bool = False,
    replaces: bool = False,
) -> bool:
    """Use a proof, in the call's transaction; call it before anything is written. Returns whether it enrolled the factor.

    One counter for all of them and the password: a wrong proof counts, a locked account is refused.

    Args:
        may_enrol: whether a factor that is not enrolled is enrolled by its first proof.
        is_lock_open: whether a lock of the account was just opened.
        replaces: whether what is enrolled now takes the place of what was.

    Raises:
        LockedForAWhile, LockedForCaptcha, LockedForSecurityQuestion, AccountBlocked: the account is locked, or was locked
            by this very try.
        UnknownFactorToken: another proof ended this very sign-in in the same moment, or another sign-in enrolled a factor.
        the authenticator's `off`, `missing` and `wrong`, and those of the codes that are sent.
    """
    found = enabled_authenticator(context, kind)
    is_new = replaces or not found.is_enrolled(factors)
    if kind is factors.used_channel or (is_new and not may_enrol):
        raise found.not_enrolled_error
    if not is_lock_solved:
        one_time_tokens.refuse_locked(context, factors.account)
    if kind is FactorKind.QUESTIONS:
        security_questions.refuse_incomplete(context, factors, response, is_new=is_new)
    tried = None
    if found.wrong_errors and not is_lock_solved:
        tried = attempt_limit.count_attempt(context, factors.account, lambda own: _refuse_ended_sign_in(own, factors))
    use = found.enrol if is_new else found.verify
    try:
        use(context, factors, replace(response, is_lock_solved=is_lock_solved))
    except WRONG_SENT_CODE as refusal:
        context.work.rollback()
        raise attempt_limit.lock_error(context, factors.account) or refusal from None
    except found.wrong_errors as refusal:
        context.work.rollback()
        raise _count_wrong(context, factors.account, kind, tried, refusal) from None
    if is_new and factors.sign_in is not None:
        _refuse_concurrent_enrolment(context, factors, found)
    if tried is None:
        login_records.reset_failures(context.work, factors.account.uid, is_lock_solved=is_lock_solved)
    else:
        attempt_limit.record_success(context, factors.account)
    context.audit.record(
        "second_factor.enrolled" if is_new else "second_factor.passed", uid=factors.account.uid, kind=kind
    )
    return is_new


def generate_backup_codes(context: Context, account: Account, *, is_first: bool) -> list[str]:
    """Return ten new codes on paper for whoever has a second factor; the old ones are over. `is_first` refuses to replace any.

    Raises:
        NoSecondFactor: there is nothing that they would stand in for. NoBackupCodes: the tenant has none.
        BackupCodesMade: `is_first`, and there are some.
    """
    enabled_authenticator(context, FactorKind.BACKUP_CODE)
    factors = account_factors(context, account)
    if not enrolled_kinds(context.tenant.settings, factors):
        raise e.NoSecondFactor
    if is_first and factors.enrolled(FactorKind.BACKUP_CODE):
        raise e.BackupCodesMade
    store_accounts.change(context, account.uid, {})  # of two at once the second sees the codes of the first
    if is_first and store.by_kind(context, account.uid, FactorKind.BACKUP_CODE):
        raise e.BackupCodesMade
    context.audit.record("second_factor.backup_codes_made", uid=account.uid)
    return backup_codes.generate(context, account.uid)


def remove(context: Context, uid: str, kind: FactorKind) -> None:
    """Remove a factor; with the last one the codes on paper go too (interface mfa.md section 3), and the trust in browsers.

    Raises its `missing`.
    """
    store_accounts.change(context, uid, {})  # everybody locks the account first, and its credentials after it
    if not store.remove(context, uid, (kind,)):
        raise REMOVAL_ERRORS.get(kind, AUTHENTICATORS[kind].not_enrolled_error)
    if kind in CODE_PURPOSES:
        one_time_tokens.close(context, uid, CODE_PURPOSES[kind])
    left = {one.kind for one in store.by_account(context, uid) if one.is_enrolled}
    if not (left & set(FactorKind)) - SUPPLEMENTARY:
        store.remove(context, uid, tuple(SUPPLEMENTARY))
        trusted_browsers.revoke_all(context, uid)
    context.audit.record("second_factor.removed", uid=uid, kind=kind)


def _refuse_ended_sign_in(context: Context, factors: AccountFactors) -> None:
    """Raise UnknownFactorToken where the sign-in was ended by the same proof, sent twice: that is no guess."""
    if (
        factors.sign_in
        and continuation_tokens.by_hash(context, ContinuationPurpose.SECOND_FACTOR, factors.sign_in) is None
    ):
        raise e.UnknownFactorToken


def _refuse_concurrent_enrolment(context: Context, factors: AccountFactors, found: Authenticator) -> None:
    """Undo what a sign-in enrolled where another one did in the same moment: with the password alone nobody enrols a second
    factor. The account is locked by now, so that the later one sees the earlier.
    """
    before = {one.credential_id for one in factors.credentials if one.is_enrolled}
    now = {one.credential_id for one in store.by_account(context, factors.account.uid) if one.is_enrolled}
    if len(now - before) > 1:
        context.work.rollback()
        context.audit.record(
            "second_factor.refused", uid=factors.account.uid, kind=found.kind, reason="another meanwhile"
        )
        raise e.UnknownFactorToken


def _count_wrong(
    context: Context, account: Account, kind: FactorKind, tried: Failure | None, refusal: ApiError
) -> ApiError:
    """Return the refusal of a wrong proof; of the one that locks the account, the lock's."""
    told, attempts = attempt_limit.record_failure(context, account, tried, refusal)
    context.audit.record("second_factor.refused", uid=account.uid, kind=kind, attempts=attempts)
    return told
