"""A new account, made by the tenant's servers (interface account.md row A01)."""

from __future__ import annotations

from app.contract.accounts import CreateAccount
from app.identity.accounts.account import Account, limit_column
from app.identity.accounts.refusals import refuse_policy_version
from app.identity.call import Call
from app.identity.consent_forms import service as consent_forms
from app.identity.registration import drafting
from app.identity.tasks import events


def create(call: Call, req: CreateAccount) -> Account:
    """Create an account with everything that the request says of it. No mail is sent.

    Raises what `drafting` refuses, UnknownPolicyVersion, NoConsentForm and ConsentRefused.
    """
    refuse_policy_version(call.tenant.settings, req.privacy_policy)
    answers = consent_forms.stated(call, req.consents)
    draft = drafting.read(call, req, req.registration_source or "API")
    columns = drafting.row(
        call,
        draft,
        email_verified=bool(req.email_verified and draft.addresses.forms),
        phone_verified=bool(req.phone_id_verified and draft.phone),
        login_disabled=bool(req.disable_login),
        session_limit=limit_column(req.session_limit),
        private=consent_forms.at_registration(call, answers, is_own=False),
    )
    account = drafting.add(call, draft, columns)
    events.emit(call, "CreateTraditionalAccount", account, req.is_silent)
    return account
