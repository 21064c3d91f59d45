"""The consent operations of signed-in accounts and of the tenant's servers. Those with a consent token stand with sign-in."""

from __future__ import annotations

from app.contract import errors as e
from app.contract.consents import operations as contract
from app.contract.profile import Profile
from app.contract.shared_parameters import AccessTokenQuery, Uid
from app.identity.directory.accounts import consents as account_consents
from app.identity.directory.accounts import service as accounts
from app.identity.directory.accounts.account import Account
from app.identity.directory.consents import service as consent_forms
from app.identity.platform.context import Context


@contract.give.implements
def give(context: Context, req: contract.SubmitOwnConsents) -> Profile:
    account = accounts.current(context)
    consent_forms.require_enabled(context)
    answers = consent_forms.parse(context.tenant.settings, req)
    return Profile.of(
        accounts.profile_of(consent_forms.submit(context, account, answers, suppress_webhook=req.suppress_webhook))
    )


@contract.change.implements
def change(context: Context, req: contract.UpdateOwnConsents) -> contract.ConsentProfile:
    account = accounts.current(context)
    consent_forms.require_enabled(context)
    after = consent_forms.change(context, account, req.consents, suppress_webhook=req.suppress_webhook)
    return profile_of(after) or contract.ConsentProfile(accepted_consent_versions=[], consents=[])


@contract.verify.implements
def verify(context: Context, req: contract.CheckOwnConsent) -> contract.ConsentValidity:
    account = accounts.current(context)
    consent_forms.require_enabled(context)
    is_valid = consent_forms.is_valid(context, account, req.event, is_custom=req.is_custom)
    return contract.ConsentValidity(consent_profile=profile_of(account), is_valid=is_valid)


@contract.logs.implements
def logs(context: Context, req: AccessTokenQuery) -> contract.ConsentLogs:
    return _logs(context, accounts.current(context))


@contract.managed_logs.implements
def managed_logs(context: Context, req: Uid) -> contract.ConsentLogs:
    return _logs(context, accounts.require(context, req.uid))


def profile_of(account: Account) -> contract.ConsentProfile | None:
    """Return the account's consent profile."""
    profile = account_consents.profile(account_consents.of_account(account))
    return contract.ConsentProfile.model_validate(profile) if profile else None


def _logs(context: Context, account: Account) -> contract.ConsentLogs:
    consent_forms.require_enabled(context)
    entries = consent_forms.history(context, account)
    if not entries:
        raise e.NoConsentLogs
    return contract.ConsentLogs(
        uid=account.uid, consent_logs=[contract.ConsentLog.model_validate(entry) for entry in entries]
    )
