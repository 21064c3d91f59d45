"""Operations on the SMS, email and security-question factors of the signed-in account."""

from __future__ import annotations

from app.contract import errors as e
from app.contract.profile import Profile
from app.contract.second_factors import email, questions, sms
from app.contract.second_factors.challenge import FactorKind
from app.contract.shared_parameters import AccessTokenQuery
from app.contract.shared_responses import Deleted, Posted, SmsSent
from app.identity.authentication.recovery import recipient
from app.identity.authentication.verification import phones
from app.identity.credentials.second_factors import factor_changes
from app.identity.credentials.second_factors import service as second_factors
from app.identity.credentials.second_factors.authenticators import email as email_code
from app.identity.credentials.second_factors.authenticators.authenticator import ChallengeOptions, FactorResponse
from app.identity.credentials.second_factors.authenticators.registry import AUTHENTICATORS
from app.identity.directory.accounts import identifiers
from app.identity.directory.accounts import service as accounts
from app.identity.directory.accounts.account import is_verified
from app.identity.platform.context import Context
from app.identity.public_api.self_service.account_unlock import open_lock
from app.identity.public_api.sign_in.sent_codes import sms_sent


@sms.prove_sms.implements
def prove_sms(context: Context, req: sms.OwnSms) -> Profile:
    """A newly requested number replaces the enrolled one."""
    second_factors.refuse_unavailable(context, FactorKind.SMS)
    if not req.otp:
        raise e.BadParameter.names("otp")
    account = accounts.current(context)
    factors = second_factors.of_account(context, account)
    has_new = bool(factors.pending(FactorKind.SMS))
    if not (has_new or factors.enrolled(FactorKind.SMS)):
        raise e.NoPhoneRegistered
    is_open = open_lock(context, account, req, req)
    answer = FactorResponse(code=req.otp)
    factor_changes.enrol(context, factors, FactorKind.SMS, answer, is_lock_solved=is_open, replaces=has_new)
    return accounts.profile_for_owner(context, account, req.fields_)


@sms.set_own_number.implements
def set_number(context: Context, req: sms.OwnNumber) -> SmsSent:
    second_factors.refuse_unavailable(context, FactorKind.SMS)
    factors = second_factors.of_account(context, accounts.current(context))
    if not req.phone_no_2fa:
        raise e.BadParameter.names("phoneno2fa")
    options = ChallengeOptions(sms_template=req.sms_template_2fa, is_voice_otp=req.is_voice_otp, phone=req.phone_no_2fa)
    return sms_sent(context, AUTHENTICATORS[FactorKind.SMS].begin_enrolment(context, factors, options))


@email.mail_own_code.implements
def mail_code(context: Context, req: email.SendOwnEmailCode) -> Posted:
    """Email a code. Callers without an access token have a limit of their own, and get the same answer for unknown addresses
    if the tenant hides accounts.
    """
    second_factors.refuse_unavailable(context, FactorKind.EMAIL)
    typed = (req.email_id or "").strip()
    if not typed:
        raise e.EmailMissing
    if context.holder is not None:
        account = accounts.current(context)
        email_code.send(context, account, email_code.select_address(account, typed), req.email_template_2fa)
        return Posted()
    if identifiers.normalize_email(typed) is None:
        raise e.MalformedEmail
    phones.spend_limit(context, "factor_code")
    lookup = recipient.find(context, "email", typed)
    found = lookup.holder
    if not lookup.is_hidden and found is not None:
        recipient.refuse_closed(found)
    if found is not None and not recipient.is_closed(found) and is_verified(found, typed):
        to = email_code.select_address(found, typed)
        email_code.send(context, found, to, req.email_template_2fa, is_unauthenticated=True)
    elif lookup.is_hidden:
        quiet = context.without_sending()
        email_code.send_to_unknown_address(quiet, typed, req.email_template_2fa)
    else:
        raise e.EmailNotOnProfile
    return Posted()


@email.prove_email.implements
def prove_email(context: Context, req: email.OwnEmail) -> Profile:
    second_factors.refuse_unavailable(context, FactorKind.EMAIL)
    otp = email_code.require_code(req.otp)
    account = accounts.current(context)
    is_open = open_lock(context, account, req, req)
    answer = FactorResponse(code=otp, email=req.email_id or None)
    factors = second_factors.of_account(context, account)
    factor_changes.enrol(context, factors, FactorKind.EMAIL, answer, is_lock_solved=is_open)
    return accounts.profile_for_owner(context, account, req.fields_)


@questions.keep_answers.implements
def keep_answers(context: Context, req: questions.OwnAnswers) -> Posted:
    second_factors.refuse_unavailable(context, FactorKind.QUESTIONS)
    factors = second_factors.of_account(context, accounts.current(context))
    if factors.enrolled(FactorKind.QUESTIONS) and not req.replace_security_question_answer:
        raise e.FactorEnrolledBefore
    factor_changes.enrol(context, factors, FactorKind.QUESTIONS, FactorResponse(answers=req.by_question), replaces=True)
    return Posted()


@sms.remove_sms.implements
def remove_sms(context: Context, req: AccessTokenQuery) -> Deleted:
    return _removed(context, FactorKind.SMS)


@email.remove_email.implements
def remove_email(context: Context, req: AccessTokenQuery) -> Deleted:
    return _removed(context, FactorKind.EMAIL)


@questions.remove_questions.implements
def remove_questions(context: Context, req: AccessTokenQuery) -> Deleted:
    return _removed(context, FactorKind.QUESTIONS)


def _removed(context: Context, kind: FactorKind) -> Deleted:
    """Remove a factor; without one, a factor that the tenant does not offer is refused as unavailable."""
    account = accounts.current(context)
    if not second_factors.of_account(context, account).enrolled(kind) and kind is not FactorKind.SMS:
        second_factors.refuse_unavailable(context, kind)
    factor_changes.remove(context, account, kind)
    return Deleted()
