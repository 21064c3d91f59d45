"""Operations of the tenant's servers on second factors and step-up tokens."""

from __future__ import annotations

import re

from app.contract import errors
from app.contract.passkeys import account_passkey_operations, passkey_factor_operations
from app.contract.passkeys.models import ListedPasskeys
from app.contract.second_factors import (
    account_factor_operations,
    duo_operations,
    email_factor_operations,
    push_operations,
    security_question_operations,
    sms_factor_operations,
    step_up_operations,
)
from app.contract.second_factors.challenge import FactorKind
from app.contract.second_factors.step_up_operations import StepUpMethod
from app.contract.shared_parameters import Uid
from app.contract.shared_responses import Deleted
from app.identity.authentication.sign_in.passkeys import passkey_management
from app.identity.credentials.second_factors import factor_changes, factor_views, second_factors, step_up
from app.identity.directory.accounts import accounts
from app.identity.platform.context import Context
from app.identity.public_api.self_service.passkeys import require_passkeys
from app.identity.public_api.self_service.second_factors import older

_TOKEN_FORM = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\Z", re.IGNORECASE)


@account_factor_operations.managed_read.implements
def read(context: Context, req: account_factor_operations.ManagedFactor) -> account_factor_operations.OwnFactors:
    factors = second_factors.of_account(context, accounts.require(context, req.uid))
    return account_factor_operations.OwnFactors(**factor_views.management_members(context, factors))


@account_factor_operations.managed_make_backup_codes.implements
def make_backup_codes(
    context: Context, req: account_factor_operations.ManagedFactor
) -> account_factor_operations.BackupCodes:
    account = accounts.require(context, req.uid)
    return account_factor_operations.BackupCodes(
        back_up_codes=factor_changes.new_backup_codes(context, account, is_first=True)
    )


@account_factor_operations.managed_renew_backup_codes.implements
def renew_backup_codes(
    context: Context, req: account_factor_operations.ManagedFactor
) -> account_factor_operations.BackupCodes:
    account = accounts.require(context, req.uid)
    return account_factor_operations.BackupCodes(
        back_up_codes=factor_changes.new_backup_codes(context, account, is_first=False)
    )


@account_factor_operations.managed_remove_totp.implements
def remove_totp(context: Context, req: account_factor_operations.ManagedFactor) -> Deleted:
    return removed(context, req.uid, FactorKind.TOTP)


@sms_factor_operations.managed_remove_sms.implements
def remove_sms(context: Context, req: account_factor_operations.ManagedFactor) -> Deleted:
    return removed(context, req.uid, FactorKind.SMS)


@email_factor_operations.managed_remove_email.implements
def remove_email(context: Context, req: account_factor_operations.ManagedFactor) -> Deleted:
    return removed(context, req.uid, FactorKind.EMAIL)


@security_question_operations.managed_remove_questions.implements
def remove_questions(context: Context, req: account_factor_operations.ManagedFactor) -> Deleted:
    return removed(context, req.uid, FactorKind.QUESTIONS)


def remove_push(context: Context, req: account_factor_operations.ManagedFactor | Uid) -> Deleted:
    return removed(context, req.uid, FactorKind.PUSH)


push_operations.managed_remove_push.implements(remove_push)
push_operations.managed_remove_push_older.implements(remove_push)


@duo_operations.managed_remove_duo.implements
def remove_duo(context: Context, req: account_factor_operations.ManagedFactor) -> Deleted:
    return removed(context, req.uid, FactorKind.DUO)


@account_factor_operations.managed_remove_older.implements
def remove_older(context: Context, req: account_factor_operations.LegacyManagedRemoval) -> Deleted:
    return removed(context, req.uid, older(req))


@passkey_factor_operations.managed_remove.implements
def remove_passkey_factor(context: Context, req: account_factor_operations.ManagedFactor) -> Deleted:
    return removed(context, req.uid, FactorKind.PASSKEY)


@account_passkey_operations.managed_listed.implements
def list_passkeys(context: Context, req: account_factor_operations.ManagedFactor) -> ListedPasskeys:
    return require_passkeys(context, accounts.require(context, req.uid).uid)


@account_passkey_operations.managed_remove.implements
def remove_passkey(context: Context, req: account_passkey_operations.ManagedPasskey) -> Deleted:
    passkey_management.remove(context, accounts.require(context, req.uid), req.passkey_id)
    return Deleted()


def removed(context: Context, uid: str, kind: FactorKind) -> Deleted:
    """Remove a factor of an account."""
    factor_changes.remove(context, accounts.require(context, uid), kind)
    return Deleted()


@step_up_operations.check_factor.implements
def check_factor(context: Context, req: step_up_operations.CheckValidationToken) -> step_up_operations.TokenIsValid:
    return _check_validation_token(context, req, StepUpMethod.FACTOR, refuses=True)


@step_up_operations.check_password.implements
def check_password(context: Context, req: step_up_operations.CheckValidationToken) -> step_up_operations.TokenIsValid:
    return _check_validation_token(context, req, StepUpMethod.PASSWORD, refuses=True)


@step_up_operations.check_pin.implements
def check_pin(context: Context, req: step_up_operations.CheckValidationToken) -> step_up_operations.TokenIsValid:
    return _check_validation_token(context, req, StepUpMethod.PIN)


def _check_validation_token(
    context: Context, req: step_up_operations.CheckValidationToken, method: StepUpMethod, *, refuses: bool = False
) -> step_up_operations.TokenIsValid:
    """Check a validation token; `refuses` raises WrongValidationToken for a malformed one (decision 0090)."""
    account = accounts.require(context, req.uid)
    if refuses and not _TOKEN_FORM.match(req.second_factor_validation_token):
        raise errors.WrongValidationToken
    return step_up_operations.TokenIsValid(
        is_valid=step_up.spend(context, account, req.second_factor_validation_token, method)
    )
