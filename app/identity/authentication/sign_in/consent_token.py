"""Consent by token: continues a sign-in that waits for it (interface user.md row U83)."""

from __future__ import annotations

from app.contract import errors as e
from app.contract.consents import SubmitConsentsByToken, submit
from app.contract.sign_in import Login
from app.identity.authentication.sign_in import completion, service, tenant_requirements
from app.identity.authentication.sign_in.second_factor import from_facts
from app.identity.credentials.one_time_tokens import service as one_time_tokens
from app.identity.directory.accounts.account_lookup import Identifier
from app.identity.directory.consents import consent_required
from app.identity.directory.consents import service as forms
from app.identity.platform import continuation_tokens
from app.identity.platform.context import Context


@submit.implements
def with_token(context: Context, req: SubmitConsentsByToken) -> Login:
    """A wrong submission uses nothing up; of several concurrent right ones, one begins the session."""
    forms.require_enabled(context)
    ticket, account = consent_required.pending_sign_in(context, req.consent_token)
    answers, authentication = consent_required.parse_answers(context, ticket, req), from_facts(ticket.facts["way"])
    one_time_tokens.refuse_locked(context, account)
    if (closed := service.sign_in_refusal(context, account, Identifier(authentication.kind, ""))) is not None:
        raise closed
    if not continuation_tokens.spend(context, ticket):
        raise e.WrongConsentToken
    account = forms.submit(context, account, answers, suppress_webhook=req.suppress_webhook)
    return completion.to_login(
        completion.begin_session(context, account, authentication, after=tenant_requirements.CONSENT)
    )
