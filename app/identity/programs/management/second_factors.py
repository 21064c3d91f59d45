"""The operations by which the tenant's servers see and remove an account's second factors (interface mfa.md section 4)."""

from __future__ import annotations

from app.contract.groups import Deleted, Uid
from app.contract.passkeys import account as own_passkeys
from app.contract.passkeys import second_factor as passkeys
from app.contract.passkeys.shapes import ListedPasskeys
from app.contract.second_factors import account as contract
from app.contract.second_factors import duo, email, push, questions, sms
from app.contract.second_factors.challenge import FactorKind
from app.identity.authentication.sign_in.passkeys import management
from app.identity.credentials.second_factors import service as second_factors
from app.identity.credentials.second_factors import views
from app.identity.directory.accounts import service as accounts
from app.identity.platform.context import Context
from app.identity.programs.self_service import second_factors as own_factors
from app.identity.programs.self_service.passkeys import some_of
from app.identity.programs.self_service.second_factors import older


@contract.managed_read.implements
def read(context: Context, req: contract.ManagedFactor) -> contract.OwnFactors:
    known = second_factors.account_factors(context, accounts.require(context, req.uid))
    return contract.OwnFactors(**views.management_members(context, known))


@contract.managed_make_backup_codes.implements
def make_backup_codes(context: Context, req: contract.ManagedFactor) -> contract.BackupCodes:
    account = accounts.require(context, req.uid)
    return contract.BackupCodes(back_up_codes=second_factors.generate_backup_codes(context, account, is_first=True))


@contract.managed_renew_backup_codes.implements
def renew_backup_codes(context: Context, req: contract.ManagedFactor) -> contract.BackupCodes:
    account = accounts.require(context, req.uid)
    return contract.BackupCodes(back_up_codes=own_factors.renew(context, account))


@contract.managed_remove_totp.implements
def remove_totp(context: Context, req: contract.ManagedFactor) -> Deleted:
    return removed(context, req.uid, FactorKind.TOTP)


@sms.managed_remove_sms.implements
def remove_sms(context: Context, req: contract.ManagedFactor) -> Deleted:
    return removed(context, req.uid, FactorKind.SMS)


@email.managed_remove_email.implements
def remove_email(context: Context, req: contract.ManagedFactor) -> Deleted:
    return removed(context, req.uid, FactorKind.EMAIL)


@questions.managed_remove_questions.implements
def remove_questions(context: Context, req: contract.ManagedFactor) -> Deleted:
    return removed(context, req.uid, FactorKind.QUESTIONS)


def remove_push(context: Context, req: contract.ManagedFactor | Uid) -> Deleted:
    return removed(context, req.uid, FactorKind.PUSH)


push.managed_remove_push.implements(remove_push)
push.managed_remove_push_older.implements(remove_push)


@duo.managed_remove_duo.implements
def remove_duo(context: Context, req: contract.ManagedFactor) -> Deleted:
    return removed(context, req.uid, FactorKind.DUO)


@contract.managed_remove_older.implements
def remove_older(context: Context, req: contract.LegacyManagedRemoval) -> Deleted:
    return removed(context, req.uid, older(req))


@passkeys.managed_remove.implements
def remove_passkey_factor(context: Context, req: contract.ManagedFactor) -> Deleted:
    return removed(context, req.uid, FactorKind.PASSKEY)


@own_passkeys.managed_listed.implements
def list_passkeys(context: Context, req: contract.ManagedFactor) -> ListedPasskeys:
    return some_of(context, accounts.require(context, req.uid).uid)


@own_passkeys.managed_remove.implements
def remove_passkey(context: Context, req: own_passkeys.ManagedPasskey) -> Deleted:
    management.remove(context, accounts.require(context, req.uid), req.passkey_id)
    return Deleted()


def removed(context: Context, uid: str, kind: FactorKind) -> Deleted:
    """Remove a factor of an account."""
    own_factors.remove(context, accounts.require(context, uid), kind)
    return Deleted()
