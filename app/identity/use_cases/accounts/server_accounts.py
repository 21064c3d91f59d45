"""Creation and deletion of accounts by the tenant's servers."""

from __future__ import annotations

from app.contract.accounts import account_operations
from app.identity.authentication.registration import drafts
from app.identity.authentication.sign_in.sessions import sessions
from app.identity.directory.accounts import accounts
from app.identity.directory.accounts.account import Account, limit_column
from app.identity.directory.accounts.input_checks import refuse_policy_version
from app.identity.directory.consents import consent_forms
from app.identity.directory.organizations import organization_powers
from app.identity.platform import events
from app.identity.platform.context import Context
from app.identity.platform.powers import require_powers
from app.identity.platform.store import removal


def create(context: Context, req: account_operations.CreateAccount, *, is_provisioned: bool = False) -> Account:
    """Create an account from the request, without sending an email.

    Args:
        is_provisioned: an identity provider knows the person: the account needs no password, and may have no identifier yet.

    Raises:
        UnknownPolicyVersion, NoConsentForm, ConsentRefused, and the refusals of `drafts`.
    """
    refuse_policy_version(context.tenant.settings, req.privacy_policy)
    answers = consent_forms.parse_optional(context, req.consents)
    draft = drafts.read(
        context,
        req,
        req.registration_source or "API",
        needs_password=not is_provisioned,
        needs_identifier=not is_provisioned,
    )
    email_verified = bool(req.email_verified and draft.addresses.forms)
    if email_verified:
        require_powers(context, organization_powers.of_addresses(context, draft.addresses.forms))
    columns = drafts.to_columns(
        context,
        draft,
        email_verified=email_verified,
        phone_verified=bool(req.phone_id_verified and draft.phone),
        login_disabled=bool(req.disable_login),
        session_limit=limit_column(req.session_limit),
        private=consent_forms.at_registration(context, answers, is_own=False),
    )
    account = drafts.add(context, draft, columns)
    events.emit(context, "Register", account)
    return account


def delete(context: Context, account: Account) -> None:
    """Delete all rows of the account but the audit log, so that a later account with the same id inherits nothing."""
    account = accounts.lock(context, account.uid)  # of two concurrent requests, one deletes it
    sessions.end_all(context, account.uid, reason="account_delete")
    removal.delete_account_rows(context.work, account.uid)
    events.emit(context, "DeleteAccount", account)
