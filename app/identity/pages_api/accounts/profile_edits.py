"""Changes of the profile and the security answers, and the sign-in steps for the privacy policy and missing fields."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from app.contract import errors
from app.contract.accounts.pages import profile_pages, security_pages
from app.contract.accounts.self_service_operations import UpdateOwnAccount
from app.contract.consents import consent_pages
from app.contract.page_models import InteractionOnly
from app.contract.registration.form import CUSTOM, FormField
from app.contract.shared_responses import Posted
from app.contract.steps import StepResponse
from app.identity.authentication.sign_in import interactions, required_actions
from app.identity.authentication.sign_in.sessions.sessions import BrowserSession
from app.identity.authentication.sign_in.workflows import node_actions, pending_workflows
from app.identity.directory.accounts import accounts, privacy_policy
from app.identity.directory.accounts.account import Account
from app.identity.directory.tenants import registration_form
from app.identity.pages_api.interactions import next_step
from app.identity.pages_api.signed_in_account import require_account, require_session
from app.identity.platform.context import Context
from app.identity.use_cases.accounts import change_profile


@profile_pages.edit_profile.implements
def edit_profile(context: Context, req: profile_pages.ProfileEdit) -> Posted:
    session, account = require_account(context)
    form = profile_pages.editable(registration_form.fields_of(context.tenant.settings))
    change_profile.update(context, account, _changes(form, req.fields), session_id=session.session_id)
    return Posted()


@security_pages.edit_answers.implements
def edit_answers(context: Context, req: security_pages.AnswersEdit) -> Posted:
    answers = {question: text for question, text in req.answers.items() if text.strip()}
    if answers:
        change_profile.update(
            context,
            accounts.current(context),
            UpdateOwnAccount(security_question_answer=answers),
            has_reauthenticated=True,
        )
    return Posted()


@consent_pages.accept_policy.implements
def accept_policy(context: Context, req: InteractionOnly) -> StepResponse:
    interaction, (session, account) = interactions.find(context, req.interaction_id), require_session(context)
    if interaction is None:
        return next_step.START_AGAIN
    with suppress(errors.NoPrivacyPolicy, errors.PolicyAcceptedAlready):  # a second click or another tab continues too
        privacy_policy.accept(context, account)
    return next_step.after_end(session) if interaction.is_done else next_step.advance(context, interaction, session)


@profile_pages.fill_missing.implements
def fill_missing(context: Context, req: profile_pages.MissingFieldsRequest) -> StepResponse:
    interaction, (session, account) = interactions.find(context, req.interaction_id), require_session(context)
    if interaction is None:
        return next_step.START_AGAIN
    if required_actions.must_answer_first(context, session, account):
        raise errors.NotAuthenticated
    provided = {name: text for name, text in req.fields.items() if text.strip()}
    changes = _changes(_asked_fields(context, session, account), provided)
    change_profile.update(context, account, changes, session_id=session.session_id)
    return next_step.after_end(session) if interaction.is_done else next_step.advance(context, interaction, session)


def _asked_fields(context: Context, session: BrowserSession, account: Account) -> tuple[FormField, ...]:
    """Return the fields for which the sign-in waits: a session that must still pass a workflow changes nothing else."""
    asked = (*required_actions.required_fields(context), *pending_workflows.asked_fields(context, session))
    by_name = {field.name: field for field in asked}
    return tuple(by_name[name] for name in node_actions.lacking_fields(account, by_name))


def _changes(form: Sequence[FormField], typed: dict[str, str]) -> UpdateOwnAccount:
    """Return the typed values as an update of the profile, limited to the fields of a form."""
    edited = [(field, typed[field.name].strip()) for field in form if field.name in typed]
    body: dict[str, Any] = {field.member: _submitted_value(field, text) for field, text in edited if field.member}
    custom = {field.name.removeprefix(CUSTOM): text or None for field, text in edited if field.is_custom}
    return UpdateOwnAccount.model_validate(
        {**body, **({"CustomFields": custom} if custom else {}), "null_support": True}
    )


def _submitted_value(field: FormField, text: str) -> str | None:
    return text or ("false" if field.type == "multi" else None)
