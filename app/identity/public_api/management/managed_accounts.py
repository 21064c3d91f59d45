"""Operations of the tenant's servers that create, update and delete accounts."""

from __future__ import annotations

from app.contract import errors
from app.contract.accounts import account_operations
from app.contract.profile import Profile
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
from app.identity.public_api.management.server_update import change


@account_operations.create.implements
def create_account(context: Context, req: account_operations.CreateAccount) -> Profile:
    if not context.raw.body.strip():
        raise errors.BadPostBody("The body is empty.")
    return accounts.profile_for_server(context, _create(context, req), req.fields_)


@account_operations.update.implements
def update(context: Context, req: account_operations.UpdateAccount) -> Profile:
    _refuse_empty(context)
    account = change(context, accounts.require(context, req.uid), req, req)
    return accounts.profile_for_server(context, account, req.fields_)


@account_operations.update_by_identifier.implements
def update_by_identifier(context: Context, req: account_operations.UpdateAccountByIdentifier) -> Profile:
    _refuse_empty(context)
    account = accounts.require_by_identifier(context, email=req.email, username=req.username, phone=req.phone)
    return accounts.profile_for_server(context, change(context, account, req, None), req.fields_)


@account_operations.delete_by_uid.implements
def delete_by_uid(context: Context, req: account_operations.DeleteAccountByUid) -> account_operations.AccountDeleted:
    return _delete(context, accounts.require(context, req.uid))


@account_operations.delete_by_identifier.implements
def delete_by_identifier(context: Context, req: account_operations.DeleteAccount) -> account_operations.AccountDeleted:
    if not (req.email or req.username or req.phone):
        raise errors.EmailMissing
    account = accounts.require_by_identifier(context, email=req.email, username=req.username, phone=req.phone)
    return _delete(context, account)


def _delete(context: Context, account: Account) -> account_operations.AccountDeleted:
    """Delete all rows of the account but the audit log, so that a later account with the same id inherits nothing."""
    account = accounts.lock(context, account.uid)  # of two concurrent requests, one deletes it
    sessions.end_all(context, account.uid, reason="account_delete")
    removal.delete_account_rows(context.work, account.uid)
    events.emit(context, "DeleteAccount", account)
    return account_operations.AccountDeleted()


def _refuse_empty(context: Context) -> None:
    if not context.raw.body.strip():
        raise errors.BadPutBody("The body is empty.")


def _create(context: Context, req: account_operations.CreateAccount) -> Account:
    """Create an account from the request, without sending an email.

    Raises:
        UnknownPolicyVersion, NoConsentForm, ConsentRefused, and the refusals of `drafts`.
    """
    refuse_policy_version(context.tenant.settings, req.privacy_policy)
    answers = consent_forms.parse_optional(context, req.consents)
    draft = drafts.read(context, req, req.registration_source or "API")
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
