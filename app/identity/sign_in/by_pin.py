"""Operations that take a PIN: a session again, the first one, another one, one that was forgotten (user.md U46, U67 to U69, U73 to U77)."""

from __future__ import annotations

from collections.abc import Mapping

from app.contract import errors as e
from app.contract import pins as contract
from app.contract.groups import Posted
from app.contract.second_factors.challenge import FactorLogin
from app.contract.sign_in import Login
from app.identity.accounts import service as accounts
from app.identity.accounts import store
from app.identity.accounts.service import Account
from app.identity.accounts.sought import Identifier, Sought
from app.identity.authenticators.protocol import Wish
from app.identity.call import Call
from app.identity.captcha import service as captcha
from app.identity.pins import asking, service, sessions
from app.identity.proofs import service as proofs
from app.identity.proofs.service import MAIL_CODE, SMS_CODE, ProofKind
from app.identity.recovery import pins as forgotten
from app.identity.recovery import sending, whom
from app.identity.sign_in import entry, gates, locks, recovered
from app.identity.sign_in import service as sign_in
from app.identity.sign_in.recovered import given
from app.identity.sign_in.second_factor import Way, way_of
from app.identity.tickets import service as tickets
from app.identity.tickets.service import TicketKind
from app.kit.server import Server

METHOD = "pin"  # RFC 8176


def register(server: Server) -> None:
    """Implement the operations."""
    server.implements(contract.with_pin)(with_pin)
    server.implements(contract.end_session)(end_session)
    server.implements(contract.set_first)(set_first)
    server.implements(contract.change)(change)
    server.implements(contract.reset_by_token)(reset_by_token)
    server.implements(contract.reset_by_code)(reset_by_code)
    server.implements(contract.reset_by_answer_and_email)(reset_by_answer_and_email)
    server.implements(contract.reset_by_answer_and_phone)(reset_by_answer_and_phone)
    server.implements(contract.reset_by_answer_and_username)(reset_by_answer_and_username)


def with_pin(call: Call, req: contract.PinLogin) -> FactorLogin:
    """The session that was shown is used up with the right PIN, and no other."""
    settings = call.tenant.settings
    service.refuse_off(settings)
    if not settings.pin.login:
        raise e.PinLoginOff
    shown, session = given("pin", req.pin), sessions.shown(call, req.session_token)
    account = accounts.by_uid(call, session.uid)
    if account is None:
        raise e.UnknownSessionToken
    service.check(call, account, shown, e.WrongPin)
    store.change(call, account.uid, {})  # everybody locks the account first, and its tickets after it
    sessions.spend(call, session)
    way = Way((METHOD,), str(session.facts.get("kind") or "email"), is_silent=req.is_silent)
    wish = Wish(req.sms_template_2fa, req.email_template_2fa, req.is_voice_otp, req.duo_redirect_uri)
    return entry.enter(call, account, way, fields=req.fields_, wish=wish)


def end_session(call: Call, req: contract.EndPinSession) -> Posted:
    session = sessions.shown(call, req.session_token)
    sessions.spend(call, session)
    call.ledger.record("pin.session_ended", uid=session.uid)
    return Posted()


def set_first(call: Call, req: contract.FirstPin) -> Login:
    """A refused PIN uses nothing up; of many that are set at once one begins the session."""
    service.refuse_off(call.tenant.settings)
    if not req.pin_auth_token:
        raise e.BadParameter.names("pinauthtoken")
    ticket, account = asking.waiting(call, req.pin_auth_token)
    if not req.pin:
        raise e.PinMissing
    proofs.refuse_locked(call, account)
    way = way_of(ticket.facts["way"])
    if (closed := sign_in.closed(call, account, Identifier(way.kind, ""))) is not None:
        raise closed
    hashed = service.hashed(call, req.pin)
    store.change(call, account.uid, {})  # as above
    if not tickets.spend(call, ticket):
        raise e.UnknownPinToken
    account = service.write(call, account, hashed, service.SET, is_silent=req.is_silent)
    return entry.plain(entry.session(call, account, way, after=gates.PIN))


def change(call: Call, req: contract.OtherPin) -> Posted:
    service.refuse_off(call.tenant.settings)
    account = accounts.own(call)
    old, new = given("oldpin", req.old_pin), given("newpin", req.new_pin)
    renew(call, account, old, new, is_silent=req.is_silent)
    return Posted()


def renew(call: Call, account: Account, old: str, new: str, *, is_silent: bool = False) -> Account:
    """Give an account another PIN by the present one.

    Raises NoPin, WrongCurrentPin, BadParameter, and the refusals of a lock.
    """
    if not account.has_pin:
        raise e.NoPin
    hashed = service.hashed(call, new, "newpin")
    service.check(call, account, old, e.WrongCurrentPin)
    fresh = store.change(call, account.uid, {})
    if fresh is None or fresh.pin != account.pin:
        raise e.WrongCurrentPin
    return service.write(call, fresh, hashed, service.CHANGED, is_silent=is_silent)


def reset_by_token(call: Call, req: contract.PinByToken) -> Posted:
    service.refuse_off(call.tenant.settings)
    token, new = given("resettoken", req.reset_token), given("pin", req.pin)
    recovered.spend(call)
    try:
        by_link(call, token, new, is_silent=req.is_silent)
    except e.UsedLink:
        raise e.UsedPinLink from None
    return Posted()


def by_link(call: Call, token: str, new: str, *, is_silent: bool = False) -> Account:
    """Use a link for a new PIN; a refused PIN leaves it unused. Of many at once one wins.

    Raises UnknownLink, UsedLink, ExpiredLink, AccountBlocked, NoPin and BadParameter.
    """
    peeked = proofs.peek_link(call, ProofKind.RESET_PIN, token)
    account = accounts.by_uid(call, peeked.uid)
    if account is None:
        raise e.UnknownLink
    _refuse_without(account)
    if not sending.still_reaches(account, peeked):
        raise e.ExpiredLink
    hashed = service.hashed(call, new)
    proofs.spend_link(call, ProofKind.RESET_PIN, token)
    return reset(call, account, hashed, is_silent=is_silent)


def reset_by_code(call: Call, req: contract.PinByCode) -> Posted:
    service.refuse_off(call.tenant.settings)
    otp, new = given("otp", req.otp), given("pin", req.pin)
    recovered.spend(call)
    who = _one_of(call, req)
    by, errors = (sending.SMS, SMS_CODE) if who.identifier.kind == "phone" else (sending.MAIL, MAIL_CODE)
    account, shown = forgotten.reached(who, by), locks.Proof(req.security_answer, captcha.of_parameters(req))
    proof, is_open = recovered.checked(call, who, account, otp, by, errors, shown, kind=ProofKind.RESET_PIN)
    if account is None:
        raise errors.wrong
    if not sending.still_reaches(account, proof):
        raise errors.closed
    hashed = service.hashed(call, new)
    proofs.spend_checked(call, proof, errors=errors, is_lock_open=is_open)
    reset(call, account, hashed, is_silent=req.is_silent)
    return Posted()


def reset_by_answer_and_email(call: Call, req: contract.PinByAnswerAndEmail) -> Posted:
    if not accounts.is_email(given("email", req.email)):
        raise e.MalformedEmail
    return _by_answer(call, Identifier("email", req.email or ""), req)


def reset_by_answer_and_phone(call: Call, req: contract.PinByAnswerAndPhone) -> Posted:
    return _by_answer(call, Identifier("phone", given("phone", req.phone)), req)


def reset_by_answer_and_username(call: Call, req: contract.PinByAnswerAndUsername) -> Posted:
    return _by_answer(call, Identifier("username", given("username", req.username)), req)


def reset(call: Call, account: Account, hashed: str, *, is_silent: bool = False) -> Account:
    """Write a PIN in the place of one that was forgotten. What the one before would open again ends: whoever reads the
    mails of a stolen phone does not come in by them.
    """
    after = service.write(call, account, hashed, service.RESET, is_silent=is_silent)
    tickets.close_all(call, account.uid, TicketKind.PIN_SESSION, TicketKind.STEP_UP)
    return after


def _by_answer(call: Call, name: Identifier, req: contract.PinByAnswer) -> Posted:
    service.refuse_off(call.tenant.settings)
    recovered.refuse_unasked(call, req.security_answer)
    new = given("pin", req.pin)
    recovered.spend(call)
    account = _answered(call, whom.named(call, name.kind, name.value), req.security_answer or {})
    reset(call, account, service.hashed(call, new), is_silent=req.is_silent)
    return Posted()


def reset_by_answers(call: Call, who: Sought, shown: Mapping[str, str], hashed: str) -> Account:
    """Write the PIN of whoever answered every question. Raises what `recovered.answering` raises, AccountBlocked, NoPin."""
    return reset(call, _answered(call, who, shown), hashed)


def _answered(call: Call, who: Sought, shown: Mapping[str, str]) -> Account:
    account = recovered.answering(call, who, shown)
    _refuse_without(account)
    return account


def _refuse_without(account: Account) -> None:
    whom.refuse_closed(account)
    if not account.has_pin:
        raise e.NoPin


def _one_of(call: Call, req: contract.PinByCode) -> Sought:
    named = [kind for kind in ("email", "username", "phone") if getattr(req, kind)]
    if not named:
        raise e.BadParameter.names(req.type)
    if len(named) > 1:
        raise e.BadParameter("Exactly one identifier is expected.")
    if req.email and not accounts.is_email(req.email):
        raise e.MalformedEmail
    return whom.named(call, named[0], getattr(req, named[0]))
