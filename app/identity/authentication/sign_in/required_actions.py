"""The actions that a tenant requires on our pages after sign-in: privacy policy, consent forms, PIN, missing fields."""

from __future__ import annotations

from typing import Any

from app.contract.steps import ConsentFormsStep, MissingFieldsStep, PinStep, PrivacyPolicyStep, RequiredAction
from app.identity.authentication.sign_in.sessions.sessions import BrowserSession
from app.identity.credentials.pins import pins
from app.identity.directory.accounts import account_consents, accounts, privacy_policy
from app.identity.directory.accounts.account import Account
from app.identity.directory.consents import consent_forms
from app.identity.directory.tenants import registration_form
from app.identity.platform.context import Context


def find_first(context: Context, session: BrowserSession, account: Account | None = None) -> RequiredAction | None:
    """Return the first required action; None where there is none. Reads nothing where the tenant requires nothing."""
    settings = context.tenant.settings
    requires_pin = settings.pin.is_on and (settings.pin.required or settings.pin.ask_on_login)
    if not (
        privacy_policy.is_strict(settings) or settings.consent_forms or settings.ask_required_fields or requires_pin
    ):
        return None
    account = account or accounts.by_uid(context, session.uid)
    if account is None:
        return None
    if privacy_policy.must_accept(settings.privacy_policy, account, context.now):
        return PrivacyPolicyStep()
    if forms := consent_forms.due_forms(context, account, session.authenticated_at):
        return ConsentFormsStep(
            events=[form.event for form in forms],
            accepted_options=sorted(account_consents.accepted_options(account_consents.of_account(account))),
        )
    if pins.must_set_pin(context, account):
        return PinStep()
    if lacking := missing_fields(context, account) if settings.ask_required_fields else []:
        return MissingFieldsStep(names=lacking)
    return PinStep(can_skip=True) if pins.is_offered(context, account) else None


def blocks_account_pages(context: Context, session: BrowserSession, account: Account) -> bool:
    """Return whether the account pages stay closed until the policy is accepted and the consent forms are answered."""
    is_outdated = privacy_policy.must_accept(context.tenant.settings.privacy_policy, account, context.now)
    return is_outdated or bool(consent_forms.due_forms(context, account, session.authenticated_at))


def missing_fields(context: Context, account: Account) -> list[str]:
    """Return the names of the form's required fields that the account's profile lacks."""
    custom: dict[str, Any] = account.profile.get("CustomFields") or {}
    lacking = []
    for field in registration_form.fields_of(context.tenant.settings):
        value = account.profile.get(field.member) if field.member else custom.get(field.name.removeprefix("cf_"))
        if field.required and (field.member or field.is_custom) and value in (None, ""):
            lacking.append(field.name)
    return lacking
