"""Consent forms on our pages: answered during a sign-in, shown on the account page."""

from __future__ import annotations

from typing import Any

from app.contract import errors as e
from app.contract.accounts.self_service import AcceptedPolicy
from app.contract.consents import pages as contract
from app.contract.consents.operations import ConsentAnswer, ConsentAnswers, ConsentEvent
from app.contract.page_models import NoParameters
from app.contract.steps import StepResponse
from app.identity.authentication.sign_in import interactions
from app.identity.directory.accounts import consents as account_consents
from app.identity.directory.accounts import privacy_policy
from app.identity.directory.consents import service as consent_forms
from app.identity.pages_api.interactions import next_step
from app.identity.pages_api.signed_in_account import require_account, require_session
from app.identity.platform.context import Context


@contract.answer_forms.implements
def answer_forms(context: Context, req: contract.ConsentFormsAnswer) -> StepResponse:
    """Store the answers; a second submit changes nothing, because the forms are no longer due."""
    interaction, (session, account) = interactions.find(context, req.interaction_id), require_session(context)
    if interaction is None:
        return next_step.START_AGAIN
    due = {form.event for form in consent_forms.due_forms(context, account, session.authenticated_at)}
    if due & set(req.events):
        answers = consent_forms.parse(context.tenant.settings, _given(context, req))
        consent_forms.submit(context, account, answers, suppress_webhook=False)
    return next_step.after_end(session) if interaction.is_done else next_step.advance(context, interaction, session)


@contract.read_consents.implements
def read_consents(context: Context, req: NoParameters) -> contract.OwnConsents:
    _, account = require_account(context)
    stored = account_consents.of_account(account)
    return contract.OwnConsents(
        events=[version["Event"] for version in account_consents.versions(stored)],
        agreed=[
            contract.AcceptedOption(option=option["ConsentOptionId"], at=option["AcceptOnDate"])
            for option in stored.get("options") or ()
        ],
        history=[_entry(item) for item in consent_forms.history(context, account)],
        policies=[AcceptedPolicy.model_validate(entry) for entry in privacy_policy.history_of(account)],
    )


def _given(context: Context, req: contract.ConsentFormsAnswer) -> ConsentAnswers:
    forms = [consent_forms.form_of(context.tenant.settings, event) for event in dict.fromkeys(req.events)]
    events = [ConsentEvent(event=form.event, is_custom=form.is_custom) for form in forms if form is not None]
    if len(events) < len(forms):
        raise e.NoConsentForm
    accepted = dict.fromkeys(req.accepted)
    return ConsentAnswers(
        events=events, data=[ConsentAnswer(consent_option_id=option, is_accepted=True) for option in accepted]
    )


def _entry(entry: dict[str, Any]) -> contract.ConsentEntry:
    choices = [contract.ConsentChoice(option=item["ConsentId"], change=item["Event"]) for item in entry["ConsentLogs"]]
    return contract.ConsentEntry(at=entry["LoggedOnDate"], choices=choices)
