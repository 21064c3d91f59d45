"""A new account, made by the tenant's servers (interface account.md row A01)."""

from __future__ import annotations

from app.contract.accounts import CreateAccount
from app.identity.authentication.registration import drafts
from app.identity.directory.accounts.account import Account, limit_column
from app.identity.directory.accounts.input_checks import refuse_policy_version
from app.identity.directory.consents import service as consent_forms
from app.identity.platform import events
from app.identity.platform.context import Context


def create(context: Context, req: CreateAccount) -> Account:
    """Create an account from the request. Sends no email.

    Raises what `drafting` refuses, UnknownPolicyVersion, NoConsentForm and ConsentRefused.
    """
    refuse_policy_version(context.tenant.settings, req.privacy_policy)
    answers = consent_forms.parse_optional(context, req.consents)
    draft = drafts.read(context, req, req.registration_source or "API")
    columns = drafts.to_columns(
        context,
        draft,
        email_verified=bool(req.email_verified and draft.addresses.forms),
        phone_verified=bool(req.phone_id_verified and draft.phone),
        login_disabled=bool(req.disable_login),
        session_limit=limit_column(req.session_limit),
        private=consent_forms.at_registration(context, answers, is_own=False),
    )
    account = drafts.add(context, draft, columns)
    events.emit(context, "CreateTraditionalAccount", account, req.suppress_webhook)
    return account
