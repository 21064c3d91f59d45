"""Operations that set a password: by a link, a code, security answers, the current password, or a server of the tenant."""

from __future__ import annotations

from typing import Final

from app.contract import errors
from app.contract.recovery import recovery_operations
from app.contract.second_factors.challenge import FactorKind
from app.contract.shared_parameters import Uid
from app.contract.shared_responses import Posted
from app.identity.authentication.recovery import new_password, password_change, password_reset, recipient
from app.identity.authentication.sign_in import completion, locks
from app.identity.authentication.sign_in.authentication import Authentication
from app.identity.authentication.sign_in.sessions.revocation import end_sessions_and_tokens
from app.identity.credentials import reset_messages
from app.identity.credentials.captcha import answers, captcha_verification
from app.identity.directory.accounts import account_store, accounts
from app.identity.directory.accounts.account import Account
from app.identity.directory.accounts.input_checks import require_parameter
from app.identity.directory.accounts.login_attempts.account_lookup import AccountLookup
from app.identity.platform.context import Context
from app.identity.public_api.sign_in import sign_in_responses

_METHODS: Final = {FactorKind.EMAIL: "otp", FactorKind.SMS: "sms", FactorKind.QUESTIONS: "kba"}
"""The `amr` of a sign-in by a reset (RFC 8176), by the reset's channel."""


@recovery_operations.reset.implements
def reset(context: Context, req: recovery_operations.Reset) -> recovery_operations.PasswordReset:
    password_reset.count_attempt(context)
    if req.otp is None and req.email is None and req.username is None:
        return _by_link(context, req)
    identifier, otp, password = _read_code_request(req)
    if req.email is not None and not accounts.is_email(identifier):
        raise errors.MalformedEmail
    lookup = recipient.find(context, "email" if req.email is not None else "username", identifier)
    recipient.refuse_foreign_token(context, lookup.holder)
    return _response(
        context,
        password_reset.reset_by_code(context, lookup, reset_messages.MAIL, otp, password, req),
    )


@recovery_operations.reset_by_sms.implements
def reset_by_sms(context: Context, req: recovery_operations.ResetBySms) -> recovery_operations.PasswordReset:
    password_reset.count_attempt(context)
    lookup = recipient.from_phone(context, req.phone)
    otp, password = require_parameter("otp", req.otp), require_parameter("password", req.password)
    return _response(
        context,
        password_reset.reset_by_code(context, lookup, reset_messages.SMS, otp, password, req),
        FactorKind.SMS,
    )


@recovery_operations.reset_by_answer.implements
def reset_by_answer(context: Context, req: recovery_operations.ResetByAnswer) -> recovery_operations.PasswordReset:
    password_reset.require_answers(context, req.security_answer)
    password = require_parameter("password", req.password)
    password_reset.count_attempt(context)
    captcha_verification.require_solved_at(context, "forgot_password", answers.from_parameters(req))
    account = password_reset.verify_answers(context, _read_identifier(context, req), req.security_answer or {})
    password_hash = new_password.check_and_hash(context, account, password)
    locked = new_password.lock_account(context, account)
    changed = password_reset.set_password(
        context,
        locked,
        password_hash,
        template=req.reset_password_email_template,
    )
    return _response(context, changed, FactorKind.QUESTIONS)


@recovery_operations.change.implements
def change_own(context: Context, req: recovery_operations.ChangePassword) -> Posted:
    password_reset.count_attempt(context)
    account = account_store.by_uid(context, context.token_holder.uid)
    if account is None:
        raise errors.UnknownUid
    if not req.new_password:
        raise errors.BadParameter.names("newpassword")
    solution = locks.LockSolution(req.security_answer, answers.from_parameters(req))
    if not account.is_locked_now:  # a captcha is valid once, and a locked account needs it for the lock
        captcha_verification.require_solved_at(context, "change_password", answers.from_parameters(req))
    changed = password_change.change(context, account, req.old_password, req.new_password, solution)
    end_sessions_and_tokens(
        context, changed, except_session=context.token_holder.session_id, except_token=context.token_holder.token_hash
    )
    return Posted()


@recovery_operations.read_hash.implements
def read_hash(context: Context, req: Uid) -> recovery_operations.PasswordHash:
    return _hash_response(accounts.require(context, req.uid))


@recovery_operations.set_password.implements
def set_password(context: Context, req: recovery_operations.SetPassword) -> recovery_operations.PasswordHash:
    account = accounts.require(context, req.uid)
    if not req.password:
        raise errors.PasswordRequired.names("password")
    if account.password_hash is None:
        raise errors.NoEmailProfile
    password_hash = new_password.check_and_hash(context, account, req.password)
    locked = account_store.lock(context, account.uid)  # a blocked account gets the password too and stays blocked
    if locked is None:
        raise errors.UnknownUid
    changed = new_password.write(context, locked, password_hash, event="SetPassword")
    end_sessions_and_tokens(context, changed)
    return _hash_response(changed)


def _by_link(context: Context, req: recovery_operations.Reset) -> recovery_operations.PasswordReset:
    if not req.reset_token and not req.password:
        raise errors.BadParameter("The password and resettoken are required parameters.")
    token, password = require_parameter("resettoken", req.reset_token), require_parameter("password", req.password)
    changed, _ = password_reset.reset_with_link(context, token, password, template=req.reset_password_email_template)
    return _response(context, changed)


def _read_code_request(req: recovery_operations.Reset) -> tuple[str, str, str]:
    """Return the identifier, the code and the password of a reset by code.

    Raises:
        EmailOrPhoneMissing, EmailMissing, UsernameMissing, BadParameter.
    """
    if req.email is None and req.username is None:
        raise errors.EmailOrPhoneMissing
    if req.email is not None and req.username is not None:
        raise errors.BadParameter("The username must not stand beside email: exactly one identifier is expected.")
    if req.email is not None and not req.email.strip():
        raise errors.EmailMissing
    if req.username is not None and not req.username.strip():
        raise errors.UsernameMissing
    return (
        req.email or req.username or "",
        require_parameter("otp", req.otp),
        require_parameter("password", req.password),
    )


def _read_identifier(context: Context, req: recovery_operations.ResetByAnswer) -> AccountLookup:
    kinds = [kind for kind in ("email", "username", "phone") if getattr(req, kind)]
    if len(kinds) != 1:
        raise (
            errors.BadParameter.names("email")
            if not kinds
            else errors.BadParameter("Exactly one identifier is expected.")
        )
    if req.email and not accounts.is_email(req.email):
        raise errors.MalformedEmail
    return recipient.find(context, kinds[0], getattr(req, kinds[0]))


def _response(
    context: Context, account: Account, channel: FactorKind = FactorKind.EMAIL
) -> recovery_operations.PasswordReset:
    """Sign in if the tenant configured that and a single factor suffices; every other requirement of a sign-in applies."""
    if not context.tenant.settings.login_on_password_reset:
        return recovery_operations.PasswordReset()
    authentication = Authentication((_METHODS[channel],), channel=channel)
    complete = completion.without_asking(context, account, authentication)
    data = sign_in_responses.to_login(sign_in_responses.session(context, complete)) if complete else None
    return recovery_operations.PasswordReset(data=data)


def _hash_response(account: Account) -> recovery_operations.PasswordHash:
    if account.password_hash is None:
        raise errors.NoEmailProfile
    return recovery_operations.PasswordHash(password_hash=account.password_hash)
