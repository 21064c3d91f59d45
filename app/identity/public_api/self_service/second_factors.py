"""Operations on the signed-in account's second factors."""

from __future__ import annotations

from app.contract import errors
from app.contract.passkeys import passkey_factor_operations
from app.contract.passkeys.account_passkey_operations import AddPasskey
from app.contract.passkeys.models import ListedPasskey, PublicKey, RegisterBegin
from app.contract.profile import Profile
from app.contract.second_factors import account_factor_operations, duo_operations, push_operations
from app.contract.second_factors.challenge import FactorKind
from app.contract.shared_parameters import AccessTokenQuery
from app.contract.shared_responses import Deleted
from app.identity.authentication.sign_in.passkeys import passkey_management
from app.identity.credentials.passkeys import passkey_store
from app.identity.credentials.second_factors import factor_changes, factor_views, second_factors
from app.identity.credentials.second_factors.authenticators.authenticator import (
    ChallengeOptions,
    FactorResponse,
)
from app.identity.directory.accounts import accounts
from app.identity.platform.context import Context


@account_factor_operations.read.implements
def read(context: Context, req: account_factor_operations.OwnFactorsRead) -> account_factor_operations.OwnFactors:
    second_factors.refuse_disabled(context.tenant.settings)
    factors = second_factors.of_account(context, accounts.current(context))
    options = ChallengeOptions(req.sms_template_2fa, None, req.is_voice_otp, req.duo_redirect_uri)
    return account_factor_operations.OwnFactors(**factor_views.settings_members(context, factors, options))


@account_factor_operations.prove_totp.implements
def prove_totp(context: Context, req: account_factor_operations.OwnTotp) -> Profile:
    if not req.code:
        raise errors.FactorCodeMissing
    return verify_or_enrol(context, FactorKind.TOTP, FactorResponse(code=req.code), req.fields_)


def verify_or_enrol(context: Context, kind: FactorKind, answer: FactorResponse, fields: str | None) -> Profile:
    """Enrol a factor by its first verification, or verify it again; return the profile."""
    if context.tenant.settings.two_factor == "disabled":
        raise errors.TwoFactorOff
    account = accounts.current(context)
    factor_changes.enrol(context, second_factors.of_account(context, account), kind, answer)
    return accounts.profile_for_owner(context, account, fields)


@account_factor_operations.make_backup_codes.implements
def make_backup_codes(context: Context, req: AccessTokenQuery) -> account_factor_operations.BackupCodes:
    return account_factor_operations.BackupCodes(
        back_up_codes=factor_changes.new_backup_codes(context, accounts.current(context), is_first=True)
    )


@account_factor_operations.renew_backup_codes.implements
def renew_backup_codes(context: Context, req: AccessTokenQuery) -> account_factor_operations.BackupCodes:
    return account_factor_operations.BackupCodes(
        back_up_codes=factor_changes.new_backup_codes(context, accounts.current(context), is_first=False)
    )


@account_factor_operations.remove_totp.implements
def remove_totp(context: Context, req: AccessTokenQuery) -> Deleted:
    return removed(context, FactorKind.TOTP)


@push_operations.remove_push.implements
def remove_push(context: Context, req: AccessTokenQuery) -> Deleted:
    second_factors.enabled_authenticator(context, FactorKind.PUSH)
    return removed(context, FactorKind.PUSH)


@duo_operations.prove_duo.implements
def prove_duo(context: Context, req: duo_operations.OwnDuo) -> Profile:
    return verify_or_enrol(context, FactorKind.DUO, FactorResponse(code=req.code, state=req.state), req.fields_)


@duo_operations.remove_duo.implements
def remove_duo(context: Context, req: AccessTokenQuery) -> Deleted:
    second_factors.enabled_authenticator(context, FactorKind.DUO)
    return removed(context, FactorKind.DUO)


@account_factor_operations.remove_older.implements
def remove_older(context: Context, req: account_factor_operations.LegacyRemoval) -> Deleted:
    return removed(context, older(req))


@passkey_factor_operations.begin_own.implements
def begin_passkey(context: Context, req: AccessTokenQuery) -> RegisterBegin:
    factors = second_factors.of_account(context, accounts.current(context))
    options = passkey_management.begin_adding_factor(context, factors)
    return RegisterBegin(register_begin_credential=PublicKey(publicKey=options))


@passkey_factor_operations.enrol_own.implements
def enrol_passkey(context: Context, req: AddPasskey) -> ListedPasskey:
    account = accounts.current(context)
    second_factors.enabled_authenticator(context, FactorKind.PASSKEY)
    return passkey_store.to_listed(passkey_management.add_factor(context, account, req.credential))


@passkey_factor_operations.remove_own.implements
def remove_passkey(context: Context, req: AccessTokenQuery) -> Deleted:
    second_factors.enabled_authenticator(context, FactorKind.PASSKEY)
    return removed(context, FactorKind.PASSKEY)


def older(req: account_factor_operations.LegacyRemoval | account_factor_operations.LegacyManagedRemoval) -> FactorKind:
    """Return the requested one of the two factors; raises FactorRemovalRefused for neither and for both."""
    if req.authenticator == req.otp_authenticator:
        raise errors.FactorRemovalRefused
    return FactorKind.TOTP if req.authenticator else FactorKind.SMS


def removed(context: Context, kind: FactorKind) -> Deleted:
    """Remove a factor of the signed-in account."""
    factor_changes.remove(context, accounts.current(context), kind)
    return Deleted()
