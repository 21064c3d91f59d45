"""Consent forms on our pages: answered during a sign-in, shown on the account page."""

from __future__ import annotations

from typing import Any

from app.contract import errors
from app.contract.accounts.self_service_operations import AcceptedPolicy
from app.contract.consents import consent_pages
from app.contract.consents.consent_operations import ConsentAnswer, ConsentAnswers, ConsentEvent
from app.contract.page_models import NoParameters
from app.contract.steps import StepResponse
from app.identity.authentication.sign_in import interactions
from app.identity.directory.accounts import account_consents, privacy_policy
from app.identity.directory.consents import consent_forms
from app.identity.pages_api.interactions import next_step
from app.identity.pages_api.signed_in_account import require_account, require_session
from app.identity.platform.context import Context


@consent_pages.answer_forms.implements
def answer_forms(context: Context, req: consent_pages.ConsentFormsAnswer) -> StepResponse:
    """Store the answers; a second submit changes nothing, because the forms are no longer due."""
    interaction, (session, account) = interactions.find(context, req.interaction_id), require_session(context)
    if interaction is None:
        return next_step.START_AGAIN
    due = {form.event for form in consent_forms.due_forms(context, account, session.authenticated_at)}
    if due & set(req.events):
        answers = consent_forms.parse(context.tenant.settings, _given(context, req))
        consent_forms.submit(context, account, answers)
    return next_step.after_end(session) if interaction.is_done else next_step.advance(context, interaction, session)


@consent_pages.read_consents.implements
def read_consents(context: Context, req: NoParameters) -> consent_pages.OwnConsents:
    _, account = require_account(context)
    stored = account_consents.of_account(account)
    return consent_pages.OwnConsents(
        events=[version["Event"] for version in account_consents.versions(stored)],
        agreed=[
            consent_pages.AcceptedOption(option=option["ConsentOptionId"], at=option["AcceptOnDate"])
            for option in stored.get("options") or ()
        ],
        history=[_entry(item) for item in consent_forms.history(context, account)],
        policies=[AcceptedPolicy.model_validate(entry) for entry in privacy_policy.history_of(account)],
    )


def _given(context: Context, req: consent_pages.ConsentFormsAnswer) -> ConsentAnswers:
    forms = [consent_forms.form_of(context.tenant.settings, event) for event in dict.fromkeys(req.events)]
    events = [ConsentEvent(event=form.event, is_custom=form.is_custom) for form in forms if form is not None]
    if len(events) < len(forms):
        raise errors.NoConsentForm
    accepted = dict.fromkeys(req.accepted)
    return ConsentAnswers(
        events=events, data=[ConsentAnswer(consent_option_id=option, is_accepted=True) for option in accepted]
    )


def _entry(entry: dict[str, Any]) -> consent_pages.ConsentEntry:
    choices = [
        consent_pages.ConsentChoice(option=item["ConsentId"], change=item["Event"]) for item in entry["ConsentLogs"]
    ]
    return consent_pages.ConsentEntry(at=entry["LoggedOnDate"], choices=choices)
