"""Changes of an account's second factors, each with its email to the owner."""

from __future__ import annotations

from app.contract import errors
from app.contract.messages.models import MailKind
from app.contract.second_factors.challenge import FactorKind
from app.identity.credentials import notifications
from app.identity.credentials.second_factors import second_factors
from app.identity.credentials.second_factors.authenticators.authenticator import AccountFactors, FactorResponse
from app.identity.directory.accounts import account_store
from app.identity.directory.accounts.account import Account
from app.identity.platform.context import Context


def enrol(
    context: Context,
    factors: AccountFactors,
    kind: FactorKind,
    answer: FactorResponse,
    *,
    is_lock_solved: bool = False,
    replaces: bool = False,
) -> None:
    """Enrol a factor by its first verification, or verify it again; a new factor is notified by email."""
    verified = second_factors.verify_or_enrol(
        context, factors, kind, answer, may_enrol=True, is_lock_solved=is_lock_solved, replaces=replaces
    )
    if verified.attempt is not None:
        verified.attempt.take_back_all(context.work)
    if verified.is_new:
        notifications.notify_factor_change(context, MailKind.FACTOR_ADDED, factors.account, kind)


def remove(context: Context, account: Account, kind: FactorKind) -> None:
    """Remove a factor and notify the owner."""
    second_factors.remove(context, account.uid, kind)
    notifications.notify_factor_change(context, MailKind.FACTOR_REMOVED, account, kind)


def turn_off(context: Context, account: Account) -> None:
    """Remove every factor and the backup codes, and notify the owner once. An account without factors is unchanged.

    Raises FactorRemovalRefused if the tenant or an organization requires a second factor.
    """
    factors = second_factors.of_account(context, account_store.lock(context, account.uid) or account)
    if factors.is_factor_required:
        raise errors.FactorRemovalRefused("The tenant or an organization requires a second factor of this account.")
    kinds = [kind for kind in FactorKind if kind not in second_factors.SUPPLEMENTARY and factors.enrolled(kind)]
    for kind in kinds:
        second_factors.remove(context, account.uid, kind)
    if kinds:
        notifications.notify_factor_change(context, MailKind.FACTOR_REMOVED, account, None)


def new_backup_codes(context: Context, account: Account, *, is_first: bool) -> list[str]:
    """Generate backup codes and notify the owner, of the first ones too: each replaces a factor. Raises as the service does."""
    codes = second_factors.generate_backup_codes(context, account, is_first=is_first)
    notifications.notify_factor_change(context, MailKind.FACTOR_ADDED, account, FactorKind.BACKUP_CODE)
    return codes


def save(context: Context, account: Account, batch: str) -> bool:
    """Put new backup codes into use. Return False for codes that were replaced.

    Replacing existing ones notifies the owner; the first ones come with a factor, of which a mail was just sent, or by the password.
    """
    had_some = bool(second_factors.of_account(context, account).enrolled(FactorKind.BACKUP_CODE))
    if not second_factors.save_backup_codes(context, account, batch):
        return False
    if had_some:
        notifications.notify_factor_change(context, MailKind.FACTOR_ADDED, account, FactorKind.BACKUP_CODE)
    return True
