"""Operations of codes sent during a sign-in, by SMS and by mail."""

from __future__ import annotations

from app.contract import errors
from app.contract.second_factors import email_factor_operations, sms_factor_operations
from app.contract.second_factors.challenge import FactorKind, FactorLogin
from app.contract.shared_responses import Posted, SmsSent
from app.identity.authentication.sign_in import pending_sign_in
from app.identity.authentication.sign_in.pending_sign_in import PendingSignIn
from app.identity.credentials.second_factors.authenticators import email
from app.identity.credentials.second_factors.authenticators.authenticator import (
    ChallengeOptions,
    FactorChallenge,
    FactorResponse,
)
from app.identity.credentials.second_factors.authenticators.registry import AUTHENTICATORS
from app.identity.messaging import messaging
from app.identity.platform.context import Context
from app.identity.public_api.sign_in.complete_challenge import (
    complete,
    find_pending,
    find_unlocked,
    refuse_unavailable,
)


@sms_factor_operations.with_sms.implements
def with_sms(context: Context, req: sms_factor_operations.SmsVerification) -> FactorLogin:
    pending = find_pending(context, req.second_factor_authentication_token)
    try:
        refuse_unavailable(context, pending, FactorKind.SMS)
    except errors.SmsFactorOff:
        raise errors.SmsFactorOffAtLogin from None
    if not req.otp:
        raise errors.FactorCodeMissing
    if not _has_number(context, pending):
        raise errors.SmsFactorOff
    return complete(context, req, FactorKind.SMS, FactorResponse(code=req.otp), pending)


@sms_factor_operations.set_number.implements
def set_number(context: Context, req: sms_factor_operations.SetNumberAtLogin) -> SmsSent:
    """Set the number of an account without factors; a password alone cannot add one to the others."""
    pending = find_unlocked(context, req.second_factor_authentication_token)
    refuse_unavailable(context, pending, FactorKind.SMS)
    if not req.phone_no_2fa:
        raise errors.BadParameter.names("phoneno2fa")
    if not pending_sign_in.can_enrol(context, pending):
        raise errors.FactorPhoneFixed
    options = ChallengeOptions(sms_template=req.sms_template_2fa, is_voice_otp=req.is_voice_otp, phone=req.phone_no_2fa)
    return sms_sent(context, AUTHENTICATORS[FactorKind.SMS].begin_enrolment(context, pending.factors, options))


@sms_factor_operations.text_again.implements
def resend_sms(context: Context, req: sms_factor_operations.ResendSms) -> SmsSent:
    pending = find_unlocked(context, req.second_factor_authentication_token)
    refuse_unavailable(context, pending, FactorKind.SMS)
    if not _has_number(context, pending):
        raise errors.NoPhoneRegistered
    options = ChallengeOptions(sms_template=req.sms_template_2fa, is_voice_otp=req.is_voice_otp)
    authenticator = AUTHENTICATORS[FactorKind.SMS]
    send = authenticator.challenge if authenticator.is_enrolled(pending.factors) else authenticator.begin_enrolment
    return sms_sent(context, send(context, pending.factors, options))


@email_factor_operations.mail_code.implements
def mail_code(context: Context, req: email_factor_operations.SendEmailCode) -> Posted:
    pending = find_unlocked(context, req.second_factor_authentication_token)
    refuse_unavailable(context, pending, FactorKind.EMAIL)
    if not req.to:
        raise errors.EmailMissing
    authenticator = AUTHENTICATORS[FactorKind.EMAIL]
    if not authenticator.is_enrolled(pending.factors) and not pending_sign_in.can_enrol(context, pending):
        raise authenticator.not_enrolled_error
    authenticator.challenge(
        context, pending.factors, ChallengeOptions(email=req.to, email_template=req.email_template_2fa)
    )
    return Posted()


@email_factor_operations.with_email.implements
def with_email(context: Context, req: email_factor_operations.EmailVerification) -> FactorLogin:
    pending = find_pending(context, req.second_factor_authentication_token)
    refuse_unavailable(context, pending, FactorKind.EMAIL)
    response = FactorResponse(code=email.require_code(req.otp), email=req.to)
    return complete(context, req, FactorKind.EMAIL, response, pending)


def sms_sent(context: Context, challenge: FactorChallenge) -> SmsSent:
    """Return the response of operations that send an SMS."""
    return SmsSent(account_sid=messaging.account_sid(context), sid=challenge.sid or "")


def _has_number(context: Context, pending: PendingSignIn) -> bool:
    """Return whether there is a number for the code: enrolled, or pending and allowed to be enrolled."""
    factors = pending.factors
    if AUTHENTICATORS[FactorKind.SMS].is_enrolled(factors):
        return True
    return bool(factors.pending(FactorKind.SMS)) and pending_sign_in.can_enrol(context, pending)
