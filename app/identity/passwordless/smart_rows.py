"""The rows of smart login and of one-touch login (interface user.md section 8)."""

from __future__ import annotations

from dataclasses import replace

from app.contract import errors as e
from app.contract import smart_login as contract
from app.contract.groups import PostedSms
from app.contract.second_factors.challenge import FactorKind, FactorLogin
from app.identity.accounts import identifiers as names
from app.identity.accounts import service as accounts
from app.identity.accounts import sought
from app.identity.accounts.sought import Identifier, Sought
from app.identity.call import Call
from app.identity.captcha import service as captcha
from app.identity.outbox import Unsent
from app.identity.passwordless import answering, entering, redeeming, sending, smart
from app.identity.passwordless.sending import MAIL, SMART, SMS, TOUCH, Wish
from app.identity.passwordless.smart import State
from app.identity.proofs import service as proofs
from app.identity.proofs.service import NOBODY, SMS_CODE, Proof, ProofKind
from app.identity.recovery import whom
from app.identity.sign_in import identifiers
from app.identity.sign_in.second_factor import Way
from app.identity.tickets import service as tickets
from app.identity.tickets.service import Ticket, TicketKind
from app.identity.verification import service as verification
from app.kit.server import Server


def register(server: Server) -> None:
    """Implement the operations."""
    server.implements(contract.start)(start)
    server.implements(contract.poll)(poll)
    server.implements(contract.approve)(approve)
    server.implements(contract.touch_mail)(touch_mail)
    server.implements(contract.touch_sms)(touch_sms)
    server.implements(contract.touch_code)(touch_code)
    server.implements(contract.touch_link)(touch_link)


def start(call: Call, req: contract.SmartWanted) -> contract.Asked:
    if not call.tenant.settings.smart_login:
        raise e.SmartLoginOff
    sending.spend(call)
    who, by = _one_of(call, req)
    verification.refuse_url(call, req.redirect_url)
    account = whom.reached(who, by)
    if account is not None and by == SMS and not account.phone_verified:
        raise e.PhoneUnverified
    wish = Wish(req.redirect_url, req.smart_login_email_template, req.welcome_email_template)
    found, number = smart.begin_for_program(call, req.client_guid, account, welcome=wish.welcome_template)
    try:
        if by == SMS:
            sending.text(call, account, who.identifier.value, req, ticket=found.ticket_hash)
        else:
            sending.mail(call, SMART, account, who.identifier.value, wish, ticket=found.ticket_hash)
    except (e.MailLimitReached, e.SmsLimitReached) as reason:
        answering.keep_silent(call, who, reason)
        _, number = smart.begin_for_program(call, req.client_guid, account)
    return contract.Asked(number=number)


def poll(call: Call, req: contract.Poll) -> FactorLogin:
    found = tickets.find(call, TicketKind.SMART_LOGIN, req.client_guid)
    if found is None or found.is_over(call.now) or smart.is_of_our_pages(found) or found.state == State.DENIED:
        raise e.WrongClientGuid
    if found.state == State.USED:
        raise e.UsedSmartLink
    if found.state != State.APPROVED:
        raise e.SmartLinkWaits
    by_phone = bool(found.facts.get("phone"))
    way = Way(("sms",), "phone", FactorKind.SMS) if by_phone else Way(("otp",), channel=FactorKind.EMAIL)
    is_silent = bool(found.facts.get("is_silent"))
    way = replace(way, is_silent=is_silent)
    return entering.enter(call, smart.redeem(call, found, is_silent=is_silent), way, req)


def approve(call: Call, req: contract.LinkClicked) -> contract.Approved:
    """Links of one-touch mails are taken, too: clients of the interface show both here."""
    settings = call.tenant.settings
    if not settings.smart_login and not settings.one_touch:
        raise e.SmartLoginOff
    token = _shown(call, req)
    if not proofs.has_link_form(token):
        return _approved(call, req, _by_code(call, req, token))
    kind = next((one for one in smart.KINDS if proofs.known_link(call, one, token)), None)
    if kind is ProofKind.ONE_TOUCH:
        return touch_link(call, req)
    if not settings.smart_login:
        raise e.SmartLoginOff
    return _by_link(call, req, ProofKind.SMART_LOGIN, token)


def touch_mail(call: Call, req: contract.TouchWanted) -> contract.Asked:
    _refuse_touch_off(call)
    sending.spend(call)
    if not req.email or not accounts.is_email(req.email):
        raise e.MalformedEmail
    verification.refuse_url(call, req.redirect_url)
    captcha.demand(call, captcha.of_parameters(req))
    who = sought.named(call, Identifier("email", req.email), is_hidden=whom.hides(call))
    is_open = _is_open(call, who, email=req.email)
    wish = Wish(
        req.redirect_url, req.one_touch_login_email_template, req.welcome_email_template, registers=is_open,
        name=req.name or "", is_silent=req.is_silent,
    )  # fmt: skip
    kept = {**wish.kept, "is_silent": wish.is_silent}
    found, number = smart.begin_for_program(call, req.client_guid, None, **kept)
    try:
        sending.mail(call, TOUCH, None, req.email, wish, ticket=found.ticket_hash)
    except e.MailLimitReached as reason:
        answering.keep_silent(call, who, reason)
        _, number = smart.begin_for_program(call, req.client_guid, None, **kept)
    return contract.Asked(number=number)


def touch_sms(call: Call, req: contract.TouchTexted) -> PostedSms:
    _refuse_touch_off(call)
    sending.spend(call)
    phone = _number(call, req.phone)
    captcha.demand(call, captcha.of_parameters(req))
    who = sought.named(call, Identifier("phone", phone), is_hidden=whom.hides(call))
    sid, is_open = "", _is_open(call, who)
    quiet = call if is_open else replace(call, outbox=Unsent(call.work, call.house.clock, call.house.vault))
    try:
        sid = sending.text_anybody(quiet, ProofKind.ONE_TOUCH, phone, req, name=req.name or "")
    except e.SmsLimitReached as reason:
        answering.keep_silent(call, who, reason)
    return answering.posted(call, sid)


def touch_code(call: Call, req: contract.TouchCode) -> FactorLogin:
    _refuse_touch_off(call)
    sending.spend_try(call)
    phone = _number(call, req.phone)
    if not req.otp:
        raise e.BadParameter.names("otp")
    name, subject = Identifier("phone", phone), sending.stranger(phone)
    proof = proofs.spend_code(call, ProofKind.ONE_TOUCH, NOBODY, req.otp, subject=subject, errors=SMS_CODE, name=name)
    account = redeeming.account_of(call, proof, e.ClosedSmsCode, is_silent=req.is_silent)
    return entering.enter(call, account, Way(("sms",), "phone", FactorKind.SMS, is_silent=req.is_silent), req)


def touch_link(call: Call, req: contract.LinkClicked) -> contract.Approved:
    _refuse_touch_off(call)
    token = _shown(call, req)
    if not proofs.has_link_form(token):
        return _approved(call, req, _by_code(call, req, token))
    return _by_link(call, req, ProofKind.ONE_TOUCH, token)


def _by_link(call: Call, req: contract.LinkClicked, kind: ProofKind, token: str) -> contract.Approved:
    """A HEAD request approves nothing. A link of our own page is no program's."""
    held = proofs.known_link(call, kind, token)
    found = smart.of(call, held) if held is not None else None
    if held is None or (found is not None and smart.is_of_our_pages(found)):
        raise e.UnknownLink
    if call.raw.method == "HEAD":
        proofs.peek_link(call, kind, token)
        return contract.Approved()
    if found is not None:
        smart.demand_number(call, found, req.number)
    return _approved(call, req, smart.spend_link(call, kind, token))


def _approved(call: Call, req: contract.LinkClicked, proof: Proof) -> contract.Approved:
    found: Ticket = smart.approve(call, proof)
    if req.welcome_email_template or req.is_silent:
        tickets.note(
            call,
            _now(call, found),
            welcome=req.welcome_email_template or found.facts.get("welcome"),
            is_silent=req.is_silent,
        )
    return contract.Approved()


def _now(call: Call, found: Ticket) -> Ticket:
    return tickets.by_hash(call, TicketKind.SMART_LOGIN, found.ticket_hash) or found


def _by_code(call: Call, req: contract.LinkClicked, code: str) -> Proof:
    """Use the code of a mail, or of a message, whose template has no link.

    A device that asks at the same time gets a code, too: the number says which of them it is about.
    Raises EmailMissing where neither is named, UnknownLink where besides it is no code: then it was to be a link's token.
    """
    sending.spend_try(call)
    if req.phone:
        who, by = whom.with_phone(call, req.phone), SMS
    elif req.email and accounts.is_email(req.email):
        who, by = whom.named(call, "email", req.email), MAIL
    else:
        raise e.EmailMissing if proofs.is_code(code) else e.UnknownLink
    proof = smart.spend_code(call, who, by, code)
    found = smart.of(call, proof)
    if found is not None and smart.is_of_our_pages(found):
        raise e.ClosedMailCode if by == MAIL else e.ClosedSmsCode
    if found is not None:
        smart.demand_number(call, found, req.number)
    return proof


def _shown(call: Call, req: contract.LinkClicked) -> str:
    sending.spend_try(call)
    if not req.shown:
        raise e.BadParameter.names("verificationtoken")
    return req.shown


def _one_of(call: Call, req: contract.SmartWanted) -> tuple[Sought, str]:
    given = [kind for kind in ("email", "username", "phone") if getattr(req, kind)]
    if len(given) != 1:
        raise e.BadParameter.names("email") if not given else e.BadParameter("Exactly one identifier is expected.")
    identifiers.refuse_kind(call.tenant.settings, given[0])
    if given == ["phone"]:
        return whom.with_phone(call, req.phone), SMS
    return whom.stated(call, req.email, req.username), MAIL


def _is_open(call: Call, who: Sought, *, email: str = "") -> bool:
    """Return whether the name signs in, or registers; where who has an account is not hidden, raises why not: 991, 1190 and others."""
    if who.holder is not None:
        if not who.is_hidden:
            whom.refuse_closed(who.holder)
        return not whom.is_closed(who.holder)
    try:
        redeeming.refuse_new(call, email=email)
    except (e.RegistrationOff, e.EmailRefused, e.EmailDomainRefused):
        if not who.is_hidden:
            raise
        return False
    return True


def _number(call: Call, phone: str | None) -> str:
    if not call.tenant.settings.phone_login:
        raise e.PhoneLoginOff
    if not phone:
        raise e.PhoneMissing
    if (form := names.normal_phone(phone)) is None:
        raise e.MalformedPhone
    return form


def _refuse_touch_off(call: Call) -> None:
    if not call.tenant.settings.one_touch:
        raise e.OneTouchOff
