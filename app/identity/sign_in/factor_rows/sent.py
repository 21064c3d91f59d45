"""Codes that are sent while somebody signs in: by text message and by mail (rows M04 to M08)."""

from __future__ import annotations

from app.contract import errors as e
from app.contract.groups import Posted, SmsSent
from app.contract.second_factors import email, sms
from app.contract.second_factors.challenge import FactorKind, FactorLogin
from app.identity.authenticators import email_code
from app.identity.authenticators.protocol import Answer, Shown, Wish
from app.identity.authenticators.registry import AUTHENTICATORS
from app.identity.call import Call
from app.identity.letters import service as letters
from app.identity.sign_in import second_factor
from app.identity.sign_in.factor_rows.answering import answered, known, refuse_without, waiting
from app.identity.sign_in.second_factor import Pending
from app.kit.server import Server


def register(server: Server) -> None:
    """Implement the operations."""
    server.implements(sms.with_sms)(with_sms)
    server.implements(sms.set_number)(set_number)
    server.implements(sms.text_again)(text_again)
    server.implements(email.mail_code)(mail_code)
    server.implements(email.with_email)(with_email)


def with_sms(call: Call, req: sms.SmsProof) -> FactorLogin:
    found = known(call, req.second_factor_authentication_token)
    try:
        refuse_without(call, found, FactorKind.SMS)
    except e.SmsFactorOff:
        raise e.SmsFactorOffAtLogin from None
    if not req.otp:
        raise e.FactorCodeMissing
    if not _has_number(call, found):
        raise e.SmsFactorOff
    return answered(call, req, FactorKind.SMS, Answer(code=req.otp), found)


def set_number(call: Call, req: sms.NumberAtLogin) -> SmsSent:
    """Whoever has the password alone names no number beside a factor that is there."""
    found = waiting(call, req.second_factor_authentication_token)
    refuse_without(call, found, FactorKind.SMS)
    if not req.phone_no_2fa:
        raise e.BadParameter.names("phoneno2fa")
    if not second_factor.may_enrol(call, found):
        raise e.FactorPhoneFixed
    wish = Wish(sms_template=req.sms_template_2fa, is_voice_otp=req.is_voice_otp, phone=req.phone_no_2fa)
    return texted(call, AUTHENTICATORS[FactorKind.SMS].begin(call, found.person, wish))


def text_again(call: Call, req: sms.SmsAgain) -> SmsSent:
    found = waiting(call, req.second_factor_authentication_token)
    refuse_without(call, found, FactorKind.SMS)
    if not _has_number(call, found):
        raise e.NoPhoneRegistered
    wish = Wish(sms_template=req.sms_template_2fa, is_voice_otp=req.is_voice_otp)
    one = AUTHENTICATORS[FactorKind.SMS]
    send = one.challenge if one.is_enrolled(found.person) else one.begin
    return texted(call, send(call, found.person, wish))


def mail_code(call: Call, req: email.CodeByMail) -> Posted:
    found = waiting(call, req.second_factor_authentication_token)
    refuse_without(call, found, FactorKind.EMAIL)
    if not req.to:
        raise e.EmailMissing
    one = AUTHENTICATORS[FactorKind.EMAIL]
    if not one.is_enrolled(found.person) and not second_factor.may_enrol(call, found):
        raise one.missing
    one.challenge(call, found.person, Wish(email=req.to, email_template=req.email_template_2fa))
    return Posted()


def with_email(call: Call, req: email.EmailProof) -> FactorLogin:
    found = known(call, req.second_factor_authentication_token)
    refuse_without(call, found, FactorKind.EMAIL)
    answer = Answer(code=email_code.read(req.otp), email=req.to)
    return answered(call, req, FactorKind.EMAIL, answer, found)


def texted(call: Call, shown: Shown) -> SmsSent:
    """Return what the operations that text something answer with."""
    return SmsSent(account_sid=letters.account_sid(call), sid=shown.sid or "")


def _has_number(call: Call, found: Pending) -> bool:
    """Return whether a code could come back: to the number that is enrolled, or to one that may be."""
    known = found.person
    if AUTHENTICATORS[FactorKind.SMS].is_enrolled(known):
        return True
    return bool(known.begun(FactorKind.SMS)) and second_factor.may_enrol(call, found)
