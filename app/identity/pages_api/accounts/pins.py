"""PINs on our pages: set at sign-in or on the account page, reset by security answers or a mailed link."""

from __future__ import annotations

from dataclasses import replace

from app.contract import errors
from app.contract.accounts.pages.reauthentication_pages import RequiredReauthentication
from app.contract.page_models import LinkLookup
from app.contract.pins import pin_pages
from app.contract.recovery.recovery_pages import RecoveryLinkView
from app.contract.shared_responses import Posted
from app.contract.steps import StepResponse
from app.contract.webhooks.events import EventName
from app.identity.authentication.recovery import password_reset, pin_reset
from app.identity.authentication.sign_in import (
    interactions,
    reauthentication_rules,
    required_actions,
    sign_in_identifiers,
)
from app.identity.credentials.one_time_tokens.one_time_token_store import Purpose
from app.identity.credentials.pins import pins
from app.identity.directory.accounts import accounts
from app.identity.directory.accounts.login_attempts import account_lookup
from app.identity.pages_api import signed_in_account
from app.identity.pages_api.interactions import next_step
from app.identity.pages_api.recovery.password_and_pin import link_view
from app.identity.platform.context import Context


@pin_pages.set_at_sign_in.implements
def set_at_sign_in(context: Context, req: pin_pages.PinStepRequest) -> StepResponse:
    """Set or skip the PIN of a sign-in; only an offered PIN may be skipped. A second click gets the same response."""
    session, account = signed_in_account.require_session(context)
    interaction = next_step.open_interaction(context, req.interaction_id)
    if isinstance(interaction, StepResponse):
        return interaction
    if req.skip and pins.is_offered(context, account):
        pins.skip(context, account)
    if req.skip or account.has_pin or not context.tenant.settings.pin.is_on:
        return next_step.advance(context, interaction, session)
    required = reauthentication_rules.required_reauthentication(context, session, account)
    if required is RequiredReauthentication.STRONGER:
        chosen = interactions.save(context, interaction, replace(interaction.state, pin_chosen=True))
        return next_step.advance(context, chosen, session)
    if required_actions.must_answer_first(context, session, account):
        raise errors.NotAuthenticated
    reauthentication_rules.require_for_visit(context, session, account)
    pins.set_pin(context, account, pins.hash_new_pin(context, req.pin), pins.SET)
    return next_step.advance(context, interaction, session)


@pin_pages.set_own.implements
def set_own(context: Context, req: pin_pages.SetPinRequest) -> Posted:
    pins.refuse_disabled(context.tenant.settings)
    account = accounts.current(context)
    event: EventName = pins.CHANGED if account.has_pin else pins.SET
    pins.set_pin(context, account, pins.hash_new_pin(context, req.pin), event)
    return Posted()


@pin_pages.by_answers.implements
def by_answers(context: Context, req: pin_pages.PinByAnswers) -> Posted:
    """Reset the PIN by security answers; wrong answers get the same response with and without an account."""
    pins.refuse_disabled(context.tenant.settings)
    answers = {question: text for question, text in req.answers.items() if text.strip()}
    if not context.tenant.settings.security_questions:
        raise errors.SecurityQuestionsOff
    password_reset.count_attempt(context)
    identifier = sign_in_identifiers.guess(context.tenant.settings, req.identifier)
    lookup = account_lookup.find(context, identifier, is_hidden=True)
    pin_hash = pins.hash_new_pin(context, req.pin)
    try:
        pin_reset.set_pin(context, pin_reset.verify_answers(context, lookup, answers), pin_hash)
    except (errors.WrongSecurityAnswer, errors.AccountBlocked, errors.NoPin):
        raise errors.WrongQuestionOrAnswer from None
    return Posted()


@pin_pages.read_link.implements
def read_link(context: Context, req: LinkLookup) -> RecoveryLinkView:
    return link_view(context, Purpose.RESET_PIN, req)


@pin_pages.reset.implements
def reset(context: Context, req: pin_pages.PinReset) -> Posted:
    pins.refuse_disabled(context.tenant.settings)
    password_reset.count_attempt(context)
    pin_reset.reset_with_link(context, req.token, req.pin)
    return Posted()
