"""The rows of sign-in by mail and by text message (interface user.md section 7)."""

from __future__ import annotations

from dataclasses import replace

from app.contract import errors as e
from app.contract import passwordless as contract
from app.contract.groups import Posted, PostedSms
from app.contract.second_factors.challenge import NO_EXPIRY, NO_SESSION, FactorKind, FactorLogin
from app.identity.accounts.sought import Sought
from app.identity.call import Call
from app.identity.captcha import service as captcha
from app.identity.passwordless import answering, entering, redeeming, sending, smart_rows
from app.identity.passwordless.sending import MAIL, SIGN_IN, SMS, Wish
from app.identity.proofs import service as proofs
from app.identity.proofs.service import MAIL_CODE, NOBODY, SMS_CODE, ProofKind
from app.identity.recovery import whom
from app.identity.sign_in import identifiers, locks, verified
from app.identity.sign_in.second_factor import Way
from app.identity.verification import service as verification
from app.kit.server import Server

_CodeShown = contract.EmailCodeShown | contract.UsernameCodeShown | contract.SmsCodeShown


def register(server: Server) -> None:
    """Implement the area's operations."""
    server.implements(contract.send_mail)(send_mail)
    server.implements(contract.by_link)(by_link)
    server.implements(contract.by_email_code)(by_email_code)
    server.implements(contract.by_username_code)(by_username_code)
    server.implements(contract.send_sms)(send_sms)
    server.implements(contract.by_sms_code)(by_sms_code)
    smart_rows.register(server)


def send_mail(call: Call, req: contract.MailWanted) -> Posted:
    _refuse_mail_off(call)
    sending.spend(call)
    who = whom.stated(call, req.email, req.username)
    identifiers.refuse_kind(call.tenant.settings, who.identifier.kind)
    answering.refuse_wrong_captcha(call, req)
    verification.refuse_url(call, req.verification_url)
    wish = Wish(url=req.verification_url, template=req.passwordless_login_template)
    account = whom.reached(who, MAIL)
    try:
        sending.mail(call, SIGN_IN, account, who.identifier.value, wish)
    except e.MailLimitReached as reason:
        answering.keep_silent(call, who, reason)
    return Posted()


def by_link(call: Call, req: contract.LinkShown) -> FactorLogin:
    """A HEAD request, which scanners of mail send, uses nothing up."""
    _refuse_mail_off(call)
    sending.spend_try(call)
    token = req.verification_token
    if not token:
        raise e.BadParameter.names("verificationtoken")
    if not proofs.has_link_form(token):
        raise e.WrongVerificationLink
    try:
        if call.raw.method == "HEAD":
            proofs.peek_link(call, ProofKind.SIGN_IN, token)
            return FactorLogin(access_token=NO_SESSION, expires_in=NO_EXPIRY)
        proof = proofs.spend_link(call, ProofKind.SIGN_IN, token)
    except e.UsedLink:
        raise e.UsedPasswordlessLink from None
    template = req.welcome_email_template
    account = redeeming.account_of(call, proof, e.ExpiredLink, is_silent=req.is_silent, template=template)
    return entering.enter(call, account, Way(("otp",), channel=FactorKind.EMAIL, is_silent=req.is_silent), req)


def by_email_code(call: Call, req: contract.EmailCodeShown) -> FactorLogin:
    _refuse_mail_off(call)
    identifiers.refuse_kind(call.tenant.settings, "email")
    if not req.email:
        raise e.MalformedEmail
    return _by_code(call, whom.stated(call, req.email, None), MAIL, req, req.welcome_email_template)


def by_username_code(call: Call, req: contract.UsernameCodeShown) -> FactorLogin:
    _refuse_mail_off(call)
    identifiers.refuse_kind(call.tenant.settings, "username")
    if not req.username:
        raise e.UsernameMissing
    return _by_code(call, whom.stated(call, None, req.username), MAIL, req, req.welcome_email_template)


def send_sms(call: Call, req: contract.SmsWanted) -> PostedSms:
    _refuse_sms_off(call)
    sending.spend(call)
    who = whom.with_phone(call, req.phone)
    identifiers.refuse_kind(call.tenant.settings, "phone")
    answering.refuse_wrong_captcha(call, req)
    account = whom.reached(who, SMS)
    if account is not None and not account.phone_verified:
        raise e.PhoneUnverified
    sid = ""
    try:
        sid = sending.text(call, account, who.identifier.value, req)
    except e.SmsLimitReached as reason:
        answering.keep_silent(call, who, reason)
    return answering.posted(call, sid)


def by_sms_code(call: Call, req: contract.SmsCodeShown) -> FactorLogin:
    _refuse_sms_off(call)
    who = whom.with_phone(call, req.phone)
    identifiers.refuse_kind(call.tenant.settings, "phone")
    return _by_code(call, who, SMS, req, None)


def _by_code(call: Call, who: Sought, by: str, req: _CodeShown, template: str | None) -> FactorLogin:
    """Of somebody whom nothing reaches each code is wrong, at the price of a wrong one."""
    sending.spend_try(call)
    if not req.otp:
        raise e.BadParameter.names("otp")
    otp, errors = req.otp, MAIL_CODE if by == MAIL else SMS_CODE
    account = whom.reached(who, by)
    is_open = verified.open_lock(call, who, locks.Proof(req.security_answer, captcha.of_parameters(req)))
    uid, subject = (account.uid, by) if account else (NOBODY, sending.stranger(who.identifier.value))
    name = who.identifier if who.is_hidden else None
    proof = proofs.spend_code(
        call, ProofKind.SIGN_IN, uid, otp, subject=subject, errors=errors, is_lock_open=is_open, name=name
    )
    owner = redeeming.account_of(call, proof, errors.closed, is_silent=req.is_silent, template=template)
    way = Way(("otp",), "email", FactorKind.EMAIL) if by == MAIL else Way(("sms",), "phone", FactorKind.SMS)
    return entering.enter(call, owner, replace(way, is_silent=req.is_silent), req)


def _refuse_mail_off(call: Call) -> None:
    if not call.tenant.settings.passwordless_email:
        raise e.PasswordlessOff


def _refuse_sms_off(call: Call) -> None:
    if not call.tenant.settings.passwordless_sms:
        raise e.PasswordlessOff
