"""Operations on the signed-in account's second factors."""

from __future__ import annotations

from app.contract import errors as e
from app.contract.passkeys import second_factor as passkey_factor_operations
from app.contract.passkeys.account import AddPasskey
from app.contract.passkeys.models import ListedPasskey, PublicKey, RegisterBegin
from app.contract.profile import Profile
from app.contract.second_factors import account as contract
from app.contract.second_factors import duo, push
from app.contract.second_factors.challenge import FactorKind
from app.contract.shared_parameters import AccessTokenQuery
from app.contract.shared_responses import Deleted
from app.identity.authentication.sign_in.passkeys import management
from app.identity.credentials.passkeys import store as passkey_store
from app.identity.credentials.second_factors import factor_changes
from app.identity.credentials.second_factors import service as second_factors
from app.identity.credentials.second_factors import views as factor_views
from app.identity.credentials.second_factors.authenticators.authenticator import (
    ChallengeOptions,
    FactorResponse,
)
from app.identity.directory.accounts import service as accounts
from app.identity.platform.context import Context


@contract.read.implements
def read(context: Context, req: contract.OwnFactorsRead) -> contract.OwnFactors:
    second_factors.refuse_disabled(context.tenant.settings)
    factors = second_factors.of_account(context, accounts.current(context))
    options = ChallengeOptions(req.sms_template_2fa, None, req.is_voice_otp, req.duo_redirect_uri)
    return contract.OwnFactors(**factor_views.settings_members(context, factors, options))


@contract.prove_totp.implements
def prove_totp(context: Context, req: contract.OwnTotp) -> Profile:
    if not req.code:
        raise e.FactorCodeMissing
    return verify_or_enrol(context, FactorKind.TOTP, FactorResponse(code=req.code), req.fields_)


def verify_or_enrol(context: Context, kind: FactorKind, answer: FactorResponse, fields: str | None) -> Profile:
    """Enrol a factor by its first verification, or verify it again; return the profile."""
    if context.tenant.settings.two_factor == "disabled":
        raise e.TwoFactorOff
    account = accounts.current(context)
    factor_changes.enrol(context, second_factors.of_account(context, account), kind, answer)
    return accounts.profile_for_owner(context, account, fields)


@contract.make_backup_codes.implements
def make_backup_codes(context: Context, req: AccessTokenQuery) -> contract.BackupCodes:
    return contract.BackupCodes(
        back_up_codes=factor_changes.new_backup_codes(context, accounts.current(context), is_first=True)
    )


@contract.renew_backup_codes.implements
def renew_backup_codes(context: Context, req: AccessTokenQuery) -> contract.BackupCodes:
    return contract.BackupCodes(
        back_up_codes=factor_changes.new_backup_codes(context, accounts.current(context), is_first=False)
    )


@contract.remove_totp.implements
def remove_totp(context: Context, req: AccessTokenQuery) -> Deleted:
    return removed(context, FactorKind.TOTP)


@push.remove_push.implements
def remove_push(context: Context, req: AccessTokenQuery) -> Deleted:
    second_factors.enabled_authenticator(context, FactorKind.PUSH)
    return removed(context, FactorKind.PUSH)


@duo.prove_duo.implements
def prove_duo(context: Context, req: duo.OwnDuo) -> Profile:
    return verify_or_enrol(context, FactorKind.DUO, FactorResponse(code=req.code, state=req.state), req.fields_)


@duo.remove_duo.implements
def remove_duo(context: Context, req: AccessTokenQuery) -> Deleted:
    second_factors.enabled_authenticator(context, FactorKind.DUO)
    return removed(context, FactorKind.DUO)


@contract.remove_older.implements
def remove_older(context: Context, req: contract.LegacyRemoval) -> Deleted:
    return removed(context, older(req))


@passkey_factor_operations.begin_own.implements
def begin_passkey(context: Context, req: AccessTokenQuery) -> RegisterBegin:
    factors = second_factors.of_account(context, accounts.current(context))
    options = management.begin_adding_factor(context, factors)
    return RegisterBegin(register_begin_credential=PublicKey(publicKey=options))


@passkey_factor_operations.enrol_own.implements
def enrol_passkey(context: Context, req: AddPasskey) -> ListedPasskey:
    account = accounts.current(context)
    second_factors.enabled_authenticator(context, FactorKind.PASSKEY)
    return passkey_store.to_listed(management.add_factor(context, account, req.credential))


@passkey_factor_operations.remove_own.implements
def remove_passkey(context: Context, req: AccessTokenQuery) -> Deleted:
    second_factors.enabled_authenticator(context, FactorKind.PASSKEY)
    return removed(context, FactorKind.PASSKEY)


def older(req: contract.LegacyRemoval | contract.LegacyManagedRemoval) -> FactorKind:
    """Return the requested one of the two factors; raises FactorRemovalRefused for neither and for both."""
    if req.authenticator == req.otp_authenticator:
        raise e.FactorRemovalRefused
    return FactorKind.TOTP if req.authenticator else FactorKind.SMS


def removed(context: Context, kind: FactorKind) -> Deleted:
    """Remove a factor of the signed-in account."""
    factor_changes.remove(context, accounts.current(context), kind)
    return Deleted()
