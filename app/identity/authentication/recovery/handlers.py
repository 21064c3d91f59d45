"""Operations that begin a recovery by mail or SMS, and the security questions of an account.

Operations that set a password are in `sign_in`, because they end and begin sessions.
"""

from __future__ import annotations

import json
from collections.abc import Collection

from app.contract import errors as e
from app.contract.recovery import operations as contract
from app.contract.shared_parameters import AccessTokenQuery, CaptchaSolution
from app.contract.shared_responses import Posted, PostedSms, SmsSent
from app.identity.authentication.recovery import recipient
from app.identity.authentication.recovery import sending as recovery_sending
from app.identity.authentication.recovery.sending import ResetOptions
from app.identity.credentials.captcha import service as captcha
from app.identity.credentials.one_time_tokens import service as one_time_tokens
from app.identity.directory.accounts import linked_identities
from app.identity.directory.accounts import service as accounts
from app.identity.directory.accounts.login_attempts import account_lookup
from app.identity.directory.accounts.login_attempts.account_lookup import AccountLookup
from app.identity.messaging import service as messaging
from app.identity.platform.context import Context
from app.kit import randomness
from app.kit.limits.rate_limits import Rate
from app.kit.operations.errors import ApiError
from app.kit.operations.wire import Document


def spend_limits(context: Context) -> None:
    """Count a recovery request against this address and this tenant; raises TooManyRequests."""
    limits = context.tenant.settings.limits
    context.count("forgot", limits.forgot_per_minute_per_address)
    if limits.forgot_per_minute:
        context.spend("forgot_tenant", Rate(limits.forgot_per_minute, 60))


def require_captcha(context: Context, req: CaptchaSolution, place: str) -> None:
    """Verify the captcha where the tenant requires one at `place`, and ignore it at other places.

    Raises:
        WrongCaptcha, WrongSecondCaptcha.
    """
    if place in context.tenant.settings.captcha_at:
        captcha.require_solved(context, captcha.from_parameters(req))


@contract.forgot.implements
def forgot(context: Context, req: contract.ForgotPassword) -> Posted:
    spend_limits(context)
    lookup = recipient.from_email_or_username(context, req.email, req.username)
    require_captcha(context, req, "forgot_password")
    recovery_sending.refuse_url(context, req.reset_password_url)
    recipient.refuse_foreign_token(context, lookup.holder)
    options = ResetOptions(url=req.reset_password_url, template=req.email_template)
    account = recipient.reachable_account(lookup, recovery_sending.MAIL)
    try:
        if account is None:
            recovery_sending.simulate_send(context, lookup.identifier.value, options)
        else:
            recovery_sending.send(context, account, options, email=req.email)
    except e.MailLimitReached as reason:
        raise_unless_hidden(context, lookup, reason)
    return Posted()


@contract.forgot_by_sms.implements
def forgot_by_sms(context: Context, req: contract.ForgotBySms) -> PostedSms:
    spend_limits(context)
    lookup = recipient.from_phone(context, req.phone)
    require_captcha(context, req, "forgot_password")
    account = recipient.reachable_account(lookup, recovery_sending.SMS)
    if account is not None and not account.phone_verified:
        raise e.PhoneUnverified
    sid = ""
    try:
        sid = (
            recovery_sending.send_sms(context, account, req)
            if account
            else recovery_sending.simulate_sms(context, lookup.identifier.value, req)
        )
    except e.SmsLimitReached as reason:
        raise_unless_hidden(context, lookup, reason)
    return PostedSms(data=SmsSent(account_sid=messaging.account_sid(context), sid=sid or f"SM{randomness.uid()}"))


@contract.forgot_token.implements
def forgot_token(context: Context, req: contract.CreateForgotToken) -> contract.ForgotTokenCreated:
    """Create a token that the tenant's server delivers, and record it in the audit log."""
    account = recipient.from_email_or_username(context, req.email, req.username).holder
    recovery_sending.refuse_url(context, req.reset_password_url)
    if account is None:
        raise e.UnknownAccount
    one_time_tokens.spend_server_supplied(context, account.uid, is_code=False)
    options = ResetOptions(url=req.reset_password_url, template=req.email_template, needs_token=True)
    create = recovery_sending.send if req.send_email else recovery_sending.create_token
    token = create(context, account, options, email=req.email)
    context.audit.record("password.token_made", uid=account.uid, mailed=req.send_email)
    return contract.ForgotTokenCreated(forgot_token=token, identity_providers=linked_identities.providers_of(account))


@contract.questions_by_email.implements
def questions_by_email(context: Context, req: contract.QuestionsByEmail) -> Document:
    _require_lookup_allowed(context)
    if not req.email or not accounts.is_email(req.email):
        raise e.MalformedEmail
    return _answered_questions(context, recipient.find(context, "email", req.email))


@contract.questions_by_username.implements
def questions_by_username(context: Context, req: contract.QuestionsByUsername) -> Document:
    _require_enabled(context)
    if not req.username:
        raise e.UsernameMissing
    return _answered_questions(context, recipient.find(context, "username", req.username))


@contract.questions_by_phone.implements
def questions_by_phone(context: Context, req: contract.QuestionsByPhone) -> Document:
    _require_lookup_allowed(context)
    if not req.phone:
        raise e.PhoneMissing
    return _answered_questions(context, recipient.find(context, "phone", req.phone))


@contract.own_questions.implements
def own_questions(context: Context, req: AccessTokenQuery) -> Document:
    _require_enabled(context)
    account = accounts.by_uid(context, context.token_holder.uid)
    return _question_list(context, account.security_answers if account else ())


def raise_unless_hidden(context: Context, lookup: AccountLookup, reason: ApiError) -> None:
    """Raise `reason` unless accounts are hidden, where a limit would reveal an earlier message."""
    if not lookup.is_hidden:
        raise reason
    context.work.rollback()
    uid = lookup.account.uid if lookup.account else None
    context.audit.record("password.forgot_not_sent", uid=uid, reason=type(reason).__name__)


def _require_enabled(context: Context) -> None:
    settings = context.tenant.settings
    if not settings.security_questions:
        raise e.SecurityQuestionsOff
    context.count("security_questions", settings.limits.availability_per_minute_per_address)


def _require_lookup_allowed(context: Context) -> None:
    _require_enabled(context)
    if context.tenant.settings.login_kinds == ("username",):
        raise e.UsernameLookupOnly


def _answered_questions(context: Context, lookup: AccountLookup) -> Document:
    """Return the questions of the account; where accounts are hidden, every identifier appears to have some."""
    if lookup.is_hidden:
        return _question_list(context, account_lookup.questions_for(context, lookup))
    if lookup.account is None:
        raise e.UnknownAccount
    return _question_list(context, lookup.account.security_answers)


def _question_list(context: Context, answered: Collection[str]) -> Document:
    questions = context.tenant.settings.security_questions
    entries = [{"QuestionId": name, "Question": text} for name, text in questions.items() if name in answered]
    if not entries:
        raise e.NoSecurityAnswers
    return Document(json.dumps(entries, ensure_ascii=False).encode())
