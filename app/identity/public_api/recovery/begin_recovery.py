"""Operations that begin a recovery by mail or SMS, and the security questions of an account."""

from __future__ import annotations

import json
from collections.abc import Collection

from app.contract import errors
from app.contract.recovery import recovery_operations
from app.contract.shared_parameters import AccessTokenQuery
from app.contract.shared_responses import Posted, PostedSms
from app.identity.authentication.recovery import recipient, recovery_requests
from app.identity.credentials import reset_messages
from app.identity.credentials.captcha import answers, captcha_verification
from app.identity.credentials.ldap import ldap_directories
from app.identity.credentials.one_time_tokens import one_time_tokens
from app.identity.credentials.reset_messages import ResetOptions
from app.identity.directory.accounts import account_store, accounts, linked_identities
from app.identity.directory.accounts.login_attempts import account_lookup
from app.identity.directory.accounts.login_attempts.account_lookup import AccountLookup
from app.identity.messaging import messaging
from app.identity.platform.context import Context
from app.kit.operations.wire import Document


@recovery_operations.forgot.implements
def forgot(context: Context, req: recovery_operations.ForgotPassword) -> Posted:
    recovery_requests.count_request(context)
    lookup = recipient.from_email_or_username(context, req.email, req.username)
    captcha_verification.require_solved_at(context, "forgot_password", answers.from_parameters(req))
    ldap_directories.refuse_reset(context, lookup.identifier)
    reset_messages.refuse_url(context, req.reset_password_url)
    recipient.refuse_foreign_token(context, lookup.holder)
    account = recipient.reachable_account(lookup, reset_messages.MAIL)
    recovery_requests.send_mail(
        context, lookup, account, ResetOptions(url=req.reset_password_url, template=req.email_template)
    )
    return Posted()


@recovery_operations.forgot_by_sms.implements
def forgot_by_sms(context: Context, req: recovery_operations.ForgotBySms) -> PostedSms:
    recovery_requests.count_request(context)
    lookup = recipient.from_phone(context, req.phone)
    captcha_verification.require_solved_at(context, "forgot_password", answers.from_parameters(req))
    account = recipient.reachable_account(lookup, reset_messages.SMS)
    if account is not None and not account.phone_verified:
        raise errors.PhoneUnverified
    return messaging.posted_sms(context, recovery_requests.send_sms(context, lookup, account, req))


@recovery_operations.forgot_token.implements
def forgot_token(
    context: Context, req: recovery_operations.CreateForgotToken
) -> recovery_operations.ForgotTokenCreated:
    """Create a token that the tenant's server delivers, and record it in the audit log."""
    account = recipient.from_email_or_username(context, req.email, req.username).holder
    reset_messages.refuse_url(context, req.reset_password_url)
    if account is None:
        raise errors.UnknownAccount
    one_time_tokens.count_server_supplied(context, account.uid, is_code=False)
    options = ResetOptions(url=req.reset_password_url, template=req.email_template, needs_token=True)
    create = reset_messages.send if req.send_email else reset_messages.create_token
    token = create(context, account, options, email=req.email)
    context.audit.record("password.token_made", uid=account.uid, mailed=req.send_email)
    return recovery_operations.ForgotTokenCreated(
        forgot_token=token, identity_providers=linked_identities.providers_of(account)
    )


@recovery_operations.questions_by_email.implements
def questions_by_email(context: Context, req: recovery_operations.QuestionsByEmail) -> Document:
    _require_lookup_allowed(context)
    if not req.email or not accounts.is_email(req.email):
        raise errors.MalformedEmail
    return _answered_questions(context, recipient.find(context, "email", req.email))


@recovery_operations.questions_by_username.implements
def questions_by_username(context: Context, req: recovery_operations.QuestionsByUsername) -> Document:
    _require_enabled(context)
    if not req.username:
        raise errors.UsernameMissing
    return _answered_questions(context, recipient.find(context, "username", req.username))


@recovery_operations.questions_by_phone.implements
def questions_by_phone(context: Context, req: recovery_operations.QuestionsByPhone) -> Document:
    _require_lookup_allowed(context)
    if not req.phone:
        raise errors.PhoneMissing
    return _answered_questions(context, recipient.find(context, "phone", req.phone))


@recovery_operations.own_questions.implements
def own_questions(context: Context, req: AccessTokenQuery) -> Document:
    _require_enabled(context)
    account = account_store.by_uid(context, context.token_holder.uid)
    return _question_list(context, account.security_answers if account else ())


def _require_enabled(context: Context) -> None:
    settings = context.tenant.settings
    if not settings.security_questions:
        raise errors.SecurityQuestionsOff
    context.count_request("security_questions", settings.limits.availability_per_minute_per_address)


def _require_lookup_allowed(context: Context) -> None:
    _require_enabled(context)
    if context.tenant.settings.login_kinds == ("username",):
        raise errors.UsernameLookupOnly


def _answered_questions(context: Context, lookup: AccountLookup) -> Document:
    """Return the questions of the account; where accounts are hidden, every identifier appears to have some."""
    if lookup.is_hidden:
        return _question_list(context, account_lookup.questions_for(context, lookup))
    if lookup.account is None:
        raise errors.UnknownAccount
    return _question_list(context, lookup.account.security_answers)


def _question_list(context: Context, answered: Collection[str]) -> Document:
    questions = context.tenant.settings.security_questions
    entries = [{"QuestionId": name, "Question": text} for name, text in questions.items() if name in answered]
    if not entries:
        raise errors.NoSecurityAnswers
    return Document(json.dumps(entries, ensure_ascii=False).encode())
