"""Operations on the SMS, email and security-question factors of the signed-in account."""

from __future__ import annotations

from app.contract import errors
from app.contract.profile import Profile
from app.contract.second_factors import email_factor_operations, security_question_operations, sms_factor_operations
from app.contract.second_factors.challenge import FactorKind
from app.contract.shared_parameters import AccessTokenQuery
from app.contract.shared_responses import Deleted, Posted, SmsSent
from app.identity.authentication.recovery import recipient
from app.identity.authentication.verification import phone_verification
from app.identity.credentials.second_factors import factor_changes, second_factors
from app.identity.credentials.second_factors.authenticators import email
from app.identity.credentials.second_factors.authenticators.authenticator import ChallengeOptions, FactorResponse
from app.identity.credentials.second_factors.authenticators.registry import AUTHENTICATORS
from app.identity.directory.accounts import accounts, identifiers
from app.identity.directory.accounts.account import is_verified
from app.identity.platform.context import Context
from app.identity.public_api.self_service.account_unlock import open_lock
from app.identity.public_api.sign_in.sent_codes import sms_sent


@sms_factor_operations.prove_sms.implements
def prove_sms(context: Context, req: sms_factor_operations.OwnSms) -> Profile:
    """A newly requested number replaces the enrolled one."""
    second_factors.refuse_unavailable(context, FactorKind.SMS)
    if not req.otp:
        raise errors.BadParameter.names("otp")
    account = accounts.current(context)
    factors = second_factors.of_account(context, account)
    has_new = bool(factors.pending(FactorKind.SMS))
    if not (has_new or factors.enrolled(FactorKind.SMS)):
        raise errors.NoPhoneRegistered
    is_open = open_lock(context, account, req, req)
    answer = FactorResponse(code=req.otp)
    factor_changes.enrol(context, factors, FactorKind.SMS, answer, is_lock_solved=is_open, replaces=has_new)
    return accounts.profile_for_owner(context, account, req.fields_)


@sms_factor_operations.set_own_number.implements
def set_number(context: Context, req: sms_factor_operations.OwnNumber) -> SmsSent:
    second_factors.refuse_unavailable(context, FactorKind.SMS)
    factors = second_factors.of_account(context, accounts.current(context))
    if not req.phone_no_2fa:
        raise errors.BadParameter.names("phoneno2fa")
    options = ChallengeOptions(sms_template=req.sms_template_2fa, is_voice_otp=req.is_voice_otp, phone=req.phone_no_2fa)
    return sms_sent(context, AUTHENTICATORS[FactorKind.SMS].begin_enrolment(context, factors, options))


@email_factor_operations.mail_own_code.implements
def mail_code(context: Context, req: email_factor_operations.SendOwnEmailCode) -> Posted:
    """Email a code. Callers without an access token have a limit of their own, and get the same answer for unknown addresses
    if the tenant hides accounts.
    """
    second_factors.refuse_unavailable(context, FactorKind.EMAIL)
    typed = (req.email_id or "").strip()
    if not typed:
        raise errors.EmailMissing
    if context.holder is not None:
        account = accounts.current(context)
        email.send(context, account, email.select_email(account, typed), req.email_template_2fa)
        return Posted()
    if identifiers.normalize_email(typed) is None:
        raise errors.MalformedEmail
    phone_verification.count_code_request(context, "factor_code")
    lookup = recipient.find(context, "email", typed)
    holder = lookup.holder
    if not lookup.is_hidden and holder is not None:
        recipient.refuse_closed(holder)
    if holder is not None and not recipient.is_closed(holder) and is_verified(holder, typed):
        to = email.select_email(holder, typed)
        email.send(context, holder, to, req.email_template_2fa, is_unauthenticated=True)
    elif lookup.is_hidden:
        quiet = context.without_sending()
        email.send_to_unknown_email(quiet, typed, req.email_template_2fa)
    else:
        raise errors.EmailNotOnProfile
    return Posted()


@email_factor_operations.prove_email.implements
def prove_email(context: Context, req: email_factor_operations.OwnEmail) -> Profile:
    second_factors.refuse_unavailable(context, FactorKind.EMAIL)
    otp = email.require_code(req.otp)
    account = accounts.current(context)
    is_open = open_lock(context, account, req, req)
    answer = FactorResponse(code=otp, email=req.email_id or None)
    factors = second_factors.of_account(context, account)
    factor_changes.enrol(context, factors, FactorKind.EMAIL, answer, is_lock_solved=is_open)
    return accounts.profile_for_owner(context, account, req.fields_)


@security_question_operations.keep_answers.implements
def keep_answers(context: Context, req: security_question_operations.OwnAnswers) -> Posted:
    second_factors.refuse_unavailable(context, FactorKind.QUESTIONS)
    factors = second_factors.of_account(context, accounts.current(context))
    if factors.enrolled(FactorKind.QUESTIONS) and not req.replace_security_question_answer:
        raise errors.FactorEnrolledBefore
    factor_changes.enrol(context, factors, FactorKind.QUESTIONS, FactorResponse(answers=req.by_question), replaces=True)
    return Posted()


@sms_factor_operations.remove_sms.implements
def remove_sms(context: Context, req: AccessTokenQuery) -> Deleted:
    return _removed(context, FactorKind.SMS)


@email_factor_operations.remove_email.implements
def remove_email(context: Context, req: AccessTokenQuery) -> Deleted:
    return _removed(context, FactorKind.EMAIL)


@security_question_operations.remove_questions.implements
def remove_questions(context: Context, req: AccessTokenQuery) -> Deleted:
    return _removed(context, FactorKind.QUESTIONS)


def _removed(context: Context, kind: FactorKind) -> Deleted:
    """Remove a factor; without one, a factor that the tenant does not offer is refused as unavailable."""
    account = accounts.current(context)
    if not second_factors.of_account(context, account).enrolled(kind) and kind is not FactorKind.SMS:
        second_factors.refuse_unavailable(context, kind)
    factor_changes.remove(context, account, kind)
    return Deleted()
