"""Operations of the tenant's servers that create, update and delete accounts."""

from __future__ import annotations

from app.contract import errors as e
from app.contract.accounts import operations as contract
from app.contract.profile import Profile
from app.identity.authentication.registration import drafts
from app.identity.authentication.sign_in.sessions import service as sessions
from app.identity.directory.accounts import service as accounts
from app.identity.directory.accounts.account import Account, limit_column
from app.identity.directory.accounts.input_checks import refuse_policy_version
from app.identity.directory.consents import service as consent_forms
from app.identity.directory.organizations import powers as organization_powers
from app.identity.platform import events
from app.identity.platform.context import Context
from app.identity.platform.powers import require as require_powers
from app.identity.platform.store import removal
from app.identity.public_api.management.server_update import change


@contract.create.implements
def create_account(context: Context, req: contract.CreateAccount) -> Profile:
    if not context.raw.body.strip():
        raise e.BadPostBody("The body is empty.")
    return accounts.profile_for_server(context, _create(context, req), req.fields_)


@contract.update.implements
def update(context: Context, req: contract.UpdateAccount) -> Profile:
    _refuse_empty(context)
    account = change(context, accounts.require(context, req.uid), req, req)
    return accounts.profile_for_server(context, account, req.fields_)


@contract.update_by_identifier.implements
def update_by_identifier(context: Context, req: contract.UpdateAccountByIdentifier) -> Profile:
    _refuse_empty(context)
    account = accounts.require_by_identifier(context, email=req.email, username=req.username, phone=req.phone)
    return accounts.profile_for_server(context, change(context, account, req, None), req.fields_)


@contract.delete_by_uid.implements
def delete_by_uid(context: Context, req: contract.DeleteAccountByUid) -> contract.AccountDeleted:
    return _delete(context, accounts.require(context, req.uid), req.suppress_webhook)


@contract.delete_by_identifier.implements
def delete_by_identifier(context: Context, req: contract.DeleteAccount) -> contract.AccountDeleted:
    if not (req.email or req.username or req.phone):
        raise e.EmailMissing
    account = accounts.require_by_identifier(context, email=req.email, username=req.username, phone=req.phone)
    return _delete(context, account, req.suppress_webhook)


def _delete(context: Context, account: Account, suppress_webhook: bool) -> contract.AccountDeleted:
    """Delete all rows of the account but the audit log, so that a later account with the same id inherits nothing."""
    sessions.end_all(context, account.uid, reason="account_delete")
    removal.delete_account_rows(context.work, account.uid)
    events.emit(context, "DeleteAccount", account, suppress_webhook)
    return contract.AccountDeleted()


def _refuse_empty(context: Context) -> None:
    if not context.raw.body.strip():
        raise e.BadPutBody("The body is empty.")


def _create(context: Context, req: contract.CreateAccount) -> Account:
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
    events.emit(context, "CreateTraditionalAccount", account, req.suppress_webhook)
    return account
