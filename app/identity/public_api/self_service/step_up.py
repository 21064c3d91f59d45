"""Step-up authentication of a signed-in account."""

from __future__ import annotations

from app.contract import errors
from app.contract.second_factors import step_up_operations
from app.contract.second_factors.account_factor_operations import OwnFactorsRead
from app.contract.second_factors.challenge import Challenge, FactorKind
from app.contract.second_factors.step_up_operations import StepUpMethod, ValidationToken
from app.contract.shared_responses import Posted
from app.identity.authentication.sign_in import pending_sign_in
from app.identity.credentials import account_locks, current_password
from app.identity.credentials.one_time_tokens.one_time_token_store import Purpose
from app.identity.credentials.pins import pins
from app.identity.credentials.second_factors import factor_views, second_factors, step_up
from app.identity.credentials.second_factors.authenticators import email
from app.identity.credentials.second_factors.authenticators.authenticator import ChallengeOptions, FactorResponse
from app.identity.credentials.second_factors.second_factors import RequiredFactor
from app.identity.directory.accounts import accounts
from app.identity.directory.accounts.input_checks import require_parameter
from app.identity.directory.accounts.login_attempts import login_records
from app.identity.platform.context import Context
from app.identity.public_api.self_service.account_unlock import open_lock
from app.identity.public_api.sign_in import sign_in_responses
from app.kit import randomness
from app.kit.clock import iso


@step_up_operations.begin.implements
def begin(context: Context, req: OwnFactorsRead) -> Challenge:
    """Return a challenge; its token authorizes nothing, because the access token identifies the account."""
    _refuse_off(context)
    factors = second_factors.of_account(context, accounts.current(context))
    kinds = second_factors.enrolled_kinds(context.tenant.settings, factors)
    if not kinds:
        raise errors.NoSecondFactor
    required = RequiredFactor(factors, kinds)
    options = ChallengeOptions(req.sms_template_2fa, None, req.is_voice_otp, req.duo_redirect_uri)
    members = factor_views.challenge_members(context, required, options) | sign_in_responses.send_code(
        context, required, options
    )
    ends = iso(context.now + pending_sign_in.LIFETIME) or ""
    return Challenge(second_factor_authentication_token=randomness.guid(), expire_in=ends, **members)


@step_up_operations.with_app.implements
def with_app(context: Context, req: step_up_operations.StepUpByApp) -> ValidationToken:
    return _by_factor(context, FactorKind.TOTP, FactorResponse(code=_given(req.code)), req)


@step_up_operations.with_sms.implements
def with_sms(context: Context, req: step_up_operations.StepUpBySms) -> ValidationToken:
    return _by_factor(context, FactorKind.SMS, FactorResponse(code=_given(req.otp)), req)


@step_up_operations.with_backup_code.implements
def with_backup_code(context: Context, req: step_up_operations.StepUpByBackupCode) -> ValidationToken:
    return _by_factor(context, FactorKind.BACKUP_CODE, FactorResponse(code=_given(req.backup_code)), req)


@step_up_operations.mail_factor_code.implements
def mail_factor_code(context: Context, req: step_up_operations.SendFactorEmail) -> Posted:
    _refuse_off(context)
    factors = second_factors.of_account(context, accounts.current(context))
    authenticator = second_factors.enabled_authenticator(context, FactorKind.EMAIL)
    if not authenticator.is_enrolled(factors):
        raise authenticator.not_enrolled_error
    if not req.email_id:
        raise errors.EmailMissing
    authenticator.challenge(
        context, factors, ChallengeOptions(email=req.email_id, email_template=req.email_template_2fa)
    )
    return Posted()


@step_up_operations.with_factor_mail.implements
def with_factor_mail(context: Context, req: step_up_operations.StepUpByEmail) -> ValidationToken:
    named = require_parameter("emailid", req.email_id)
    answer = FactorResponse(code=email.require_code(req.otp), email=named)
    return _by_factor(context, FactorKind.EMAIL, answer, req)


@step_up_operations.with_answers.implements
def with_answers(context: Context, req: step_up_operations.StepUpByAnswers) -> ValidationToken:
    return _by_factor(context, FactorKind.QUESTIONS, FactorResponse(answers=req.by_question), None)


@step_up_operations.with_duo.implements
def with_duo(context: Context, req: step_up_operations.StepUpByDuo) -> ValidationToken:
    return _by_factor(context, FactorKind.DUO, FactorResponse(code=req.code, state=req.state), None)


@step_up_operations.with_password.implements
def with_password(context: Context, req: step_up_operations.StepUpByPassword) -> ValidationToken:
    account, shown = accounts.current(context), require_parameter("password", req.password)
    is_open = open_lock(context, account, req, req)
    current_password.verify(context, account, shown, errors.WrongStepUpPassword, is_lock_solved=is_open)
    login_records.reset_failures(context.work, account.uid, is_lock_solved=is_open)
    return step_up.issue(context, account, StepUpMethod.PASSWORD)


@step_up_operations.with_pin.implements
def with_pin(context: Context, req: step_up_operations.StepUpByPin) -> ValidationToken:
    pins.refuse_disabled(context.tenant.settings)
    account, shown = accounts.current(context), require_parameter("pin", req.pin)
    is_open = open_lock(context, account, req, req)
    pins.check(context, account, shown, errors.WrongPin, is_lock_solved=is_open)
    return step_up.issue(context, account, StepUpMethod.PIN)


@step_up_operations.mail_code.implements
def mail_code(context: Context, req: step_up_operations.SendStepUpEmail) -> Posted:
    account = accounts.current(context)
    if not req.email_id:
        raise errors.EmailMissing
    to = email.select_email(account, req.email_id)
    email.send(context, account, to, req.email_template, purpose=Purpose.STEP_UP_EMAIL)
    return Posted()


@step_up_operations.with_mail.implements
def with_mail(context: Context, req: step_up_operations.StepUpByEmail) -> ValidationToken:
    account = accounts.current(context)
    otp = require_parameter("otp", req.otp)
    named = require_parameter("emailid", req.email_id)
    is_open = open_lock(context, account, req, req)
    try:
        email.spend_code(context, account, otp, named, is_lock_solved=is_open, purpose=Purpose.STEP_UP_EMAIL)
    except errors.WrongMailCode as refusal:
        context.work.rollback()
        raise account_locks.current_error(context, account) or refusal from None
    return step_up.issue(context, account, StepUpMethod.FACTOR)


def _by_factor(
    context: Context,
    kind: FactorKind,
    answer: FactorResponse,
    req: step_up_operations.StepUpByApp
    | step_up_operations.StepUpBySms
    | step_up_operations.StepUpByBackupCode
    | step_up_operations.StepUpByEmail
    | None,
) -> ValidationToken:
    """Verify an enrolled factor; never enrols one."""
    _refuse_off(context)
    account = accounts.current(context)
    factors = second_factors.of_account(context, account)
    is_open = open_lock(context, account, req, req) if req is not None else False
    verified = second_factors.verify_or_enrol(context, factors, kind, answer, may_enrol=False, is_lock_solved=is_open)
    if verified.attempt is not None:
        verified.attempt.take_back_all(context.work)
    return step_up.issue(context, account, StepUpMethod.FACTOR)


def _refuse_off(context: Context) -> None:
    settings = context.tenant.settings
    if settings.two_factor == "disabled" or not settings.second_factors.step_up:
        raise errors.StepUpOff


def _given(code: str | None) -> str:
    if not code:
        raise errors.StepUpCodeMissing
    return code
