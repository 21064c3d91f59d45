"""PINs on our pages: set at sign-in where the tenant asks for one, set or changed later, reset by the link of a mail."""

from __future__ import annotations

from app.contract import errors as e
from app.contract import hub_pins as contract
from app.contract.groups import Posted
from app.contract.hub import Next
from app.contract.hub_recovery import LinkView
from app.contract.hub_self_service import Done
from app.contract.mailed import LinkRead
from app.identity.accounts import sought
from app.identity.accounts.sought import Sought
from app.identity.call import Call
from app.identity.journeys import freshness, own_account
from app.identity.journeys import next as journey
from app.identity.journeys.recovering import looked_at
from app.identity.pins import service
from app.identity.proofs.service import ProofKind
from app.identity.sign_in import attempts, by_pin, identifiers, recovered
from app.kit.server import Server


def register(server: Server) -> None:
    """Implement the operations."""
    server.implements(contract.set_at_sign_in)(set_at_sign_in)
    server.implements(contract.set_own)(set_own)
    server.implements(contract.read_link)(read_link)
    server.implements(contract.reset)(reset)
    server.implements(contract.by_answers)(by_answers)


def set_at_sign_in(call: Call, req: contract.PinStep) -> Next:
    """A second click goes on as the first did. What is offered may be left out; what is required may not."""
    attempt, (session, account) = attempts.find(call, req.attempt), own_account.signed_in(call)
    if attempt is None:
        return journey.START_AGAIN
    if attempt.is_done:
        return journey.after_the_end(session)
    if req.skip and service.is_offered(call, account):
        service.skip(call, account)
    if req.skip or account.has_pin or not call.tenant.settings.pin.is_on:
        return journey.advance(call, attempt, session)
    if freshness.must_confirm(call, session, account):
        held = attempts.note(call, attempt, lives_for=attempts.LIFETIME, **{journey.CHOSEN: True})
        return journey.advance(call, held, session)
    known = own_account.proved(call, req)
    service.write(call, account, service.hashed(call, req.pin), service.SET)
    after = journey.advance(call, attempt, session)
    return after.model_copy(update={"session": own_account.done(call, known).session})


def set_own(call: Call, req: contract.PinChosen) -> Done:
    service.refuse_off(call.tenant.settings)
    known = own_account.proved(call, req)
    event = service.CHANGED if known.account.has_pin else service.SET
    service.write(call, known.account, service.hashed(call, req.pin), event)
    return own_account.done(call, known)


def by_answers(call: Call, req: contract.PinByAnswers) -> Posted:
    """Nothing differs between a name that somebody has and one that nobody has, but for right answers."""
    service.refuse_off(call.tenant.settings)
    shown = {question: text for question, text in req.answers.items() if text.strip()}
    if not call.tenant.settings.security_questions:
        raise e.SecurityQuestionsOff
    recovered.spend(call)
    identifier = identifiers.guessed(call.tenant.settings, req.identifier)
    who = Sought(call, identifier, sought.account_of(call, identifier), is_hidden=True)
    hashed = service.hashed(call, req.pin)
    try:
        by_pin.reset_by_answers(call, who, shown, hashed)
    except (e.WrongSecurityAnswer, e.AccountBlocked, e.NoPin):
        raise e.WrongQuestionOrAnswer from None
    return Posted()


def read_link(call: Call, req: LinkRead) -> LinkView:
    return looked_at(call, ProofKind.RESET_PIN, req)


def reset(call: Call, req: contract.PinReset) -> Posted:
    service.refuse_off(call.tenant.settings)
    recovered.spend(call)
    by_pin.by_link(call, req.token, req.pin)
    return Posted()
