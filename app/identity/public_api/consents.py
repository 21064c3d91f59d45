"""The consent operations of signed-in accounts and of the tenant's servers. Those with a consent token stand with sign-in."""

from __future__ import annotations

from app.contract import errors
from app.contract.consents import consent_operations
from app.contract.profile import Profile
from app.contract.shared_parameters import AccessTokenQuery, Uid
from app.identity.directory.accounts import account_consents, accounts
from app.identity.directory.accounts.account import Account
from app.identity.directory.accounts.profile import profile_document
from app.identity.directory.consents import consent_forms
from app.identity.platform.context import Context


@consent_operations.give.implements
def give(context: Context, req: consent_operations.SubmitOwnConsents) -> Profile:
    account = accounts.current(context)
    consent_forms.require_enabled(context)
    answers = consent_forms.parse(context.tenant.settings, req)
    return Profile.of(profile_document.profile_of(consent_forms.submit(context, account, answers)))


@consent_operations.change.implements
def change(context: Context, req: consent_operations.UpdateOwnConsents) -> consent_operations.ConsentProfile:
    account = accounts.current(context)
    consent_forms.require_enabled(context)
    after = consent_forms.change(context, account, req.consents)
    return profile_of(after) or consent_operations.ConsentProfile(accepted_consent_versions=[], consents=[])


@consent_operations.verify.implements
def verify(context: Context, req: consent_operations.CheckOwnConsent) -> consent_operations.ConsentValidity:
    account = accounts.current(context)
    consent_forms.require_enabled(context)
    is_valid = consent_forms.is_valid(context, account, req.event, is_custom=req.is_custom)
    return consent_operations.ConsentValidity(consent_profile=profile_of(account), is_valid=is_valid)


@consent_operations.logs.implements
def logs(context: Context, req: AccessTokenQuery) -> consent_operations.ConsentLogs:
    return _logs(context, accounts.current(context))


@consent_operations.managed_logs.implements
def managed_logs(context: Context, req: Uid) -> consent_operations.ConsentLogs:
    return _logs(context, accounts.require(context, req.uid))


def profile_of(account: Account) -> consent_operations.ConsentProfile | None:
    """Return the account's consent profile."""
    profile = account_consents.profile(account_consents.of_account(account))
    return consent_operations.ConsentProfile.model_validate(profile) if profile else None


def _logs(context: Context, account: Account) -> consent_operations.ConsentLogs:
    consent_forms.require_enabled(context)
    entries = consent_forms.history(context, account)
    if not entries:
        raise errors.NoConsentLogs
    return consent_operations.ConsentLogs(
        uid=account.uid, consent_logs=[consent_operations.ConsentLog.model_validate(entry) for entry in entries]
    )
