"""PINs on our pages: set at sign-in where the tenant asks for one, set or changed later, reset by the link of a mail."""

from __future__ import annotations

from app.contract import errors as e
from app.contract import hub_pins as contract
from app.contract.groups import Posted
from app.contract.hub import Next
from app.contract.hub_account import SessionRenewal
from app.contract.hub_models import LinkLookup
from app.contract.hub_recovery import RecoveryLinkView
from app.identity.authentication.sign_in import identifiers, interactions, password_reset, pin_handlers
from app.identity.credentials.one_time_tokens.service import Purpose
from app.identity.credentials.pins import service
from app.identity.directory.accounts import account_lookup
from app.identity.hosted import account_settings, next_step, reauthentication
from app.identity.hosted.recovery import link_view
from app.identity.platform.context import Context


@contract.set_at_sign_in.implements
def set_at_sign_in(context: Context, req: contract.PinStepRequest) -> Next:
    """A second click goes on as the first did. What is offered may be left out; what is required may not."""
    session, account = account_settings.require_session(context)
    interaction = next_step.open_interaction(context, req.attempt)
    if isinstance(interaction, Next):
        return interaction
    if req.skip and service.is_offered(context, account):
        service.skip(context, account)
    if req.skip or account.has_pin or not context.tenant.settings.pin.is_on:
        return next_step.advance(context, interaction, session)
    if reauthentication.must_confirm(context, session, account):
        held = interactions.add_facts(context, interaction, lifetime=interactions.LIFETIME, **{next_step.CHOSEN: True})
        return next_step.advance(context, held, session)
    known = account_settings.reauthenticate(context, req)
    service.set_pin(context, account, service.hash_new_pin(context, req.pin), service.SET)
    after = next_step.advance(context, interaction, session)
    return after.model_copy(update={"session": account_settings.renew_session(context, known).session})


@contract.set_own.implements
def set_own(context: Context, req: contract.SetPinRequest) -> SessionRenewal:
    service.refuse_disabled(context.tenant.settings)
    known = account_settings.reauthenticate(context, req)
    event = service.CHANGED if known.account.has_pin else service.SET
    service.set_pin(context, known.account, service.hash_new_pin(context, req.pin), event)
    return account_settings.renew_session(context, known)


@contract.by_answers.implements
def by_answers(context: Context, req: contract.PinByAnswers) -> Posted:
    """Nothing differs between a name that somebody has and one that nobody has, but for right answers."""
    service.refuse_disabled(context.tenant.settings)
    shown = {question: text for question, text in req.answers.items() if text.strip()}
    if not context.tenant.settings.security_questions:
        raise e.SecurityQuestionsOff
    password_reset.spend_limit(context)
    identifier = identifiers.guess(context.tenant.settings, req.identifier)
    lookup = account_lookup.find(context, identifier, is_hidden=True)
    hashed = service.hash_new_pin(context, req.pin)
    try:
        pin_handlers.reset_with_answers(context, lookup, shown, hashed)
    except (e.WrongSecurityAnswer, e.AccountBlocked, e.NoPin):
        raise e.WrongQuestionOrAnswer from None
    return Posted()


@contract.read_link.implements
def read_link(context: Context, req: LinkLookup) -> RecoveryLinkView:
    return link_view(context, Purpose.RESET_PIN, req)


@contract.reset.implements
def reset(context: Context, req: contract.PinReset) -> Posted:
    service.refuse_disabled(context.tenant.settings)
    password_reset.spend_limit(context)
    pin_handlers.reset_with_link(context, req.token, req.pin)
    return Posted()
