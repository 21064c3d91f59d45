"""Operations that set a new password by a link, a code or security answers. Every session and token of the account ends."""

from __future__ import annotations

from app.contract import errors as e
from app.contract.recovery import operations as contract
from app.contract.second_factors.challenge import FactorKind
from app.identity.authentication.recovery import new_password, recipient
from app.identity.authentication.recovery import sending as recovery_sending
from app.identity.authentication.recovery.handlers import require_captcha
from app.identity.authentication.recovery.recipient import refuse_foreign_token
from app.identity.authentication.sign_in import completion, password_reset
from app.identity.authentication.sign_in.pending_sign_in import Authentication
from app.identity.authentication.sign_in.required_parameters import require_parameter
from app.identity.directory.accounts import service as accounts
from app.identity.directory.accounts.login_attempts.account_lookup import AccountLookup
from app.identity.directory.accounts.service import Account
from app.identity.platform.context import Context


@contract.reset.implements
def reset(context: Context, req: contract.Reset) -> contract.PasswordReset:
    password_reset.spend_limit(context)
    if req.otp is None and req.email is None and req.username is None:
        return _by_link(context, req)
    identifier, otp, password = _read_code_request(req)
    if req.email is not None and not accounts.is_email(identifier):
        raise e.MalformedEmail
    lookup = recipient.find(context, "email" if req.email is not None else "username", identifier)
    refuse_foreign_token(context, lookup.holder)
    return _response(
        context,
        password_reset.reset_by_code(context, lookup, recovery_sending.MAIL, otp, password, req),
        suppress_webhook=req.suppress_webhook,
    )


@contract.reset_by_sms.implements
def reset_by_sms(context: Context, req: contract.ResetBySms) -> contract.PasswordReset:
    password_reset.spend_limit(context)
    lookup = recipient.from_phone(context, req.phone)
    otp, password = require_parameter("otp", req.otp), require_parameter("password", req.password)
    return _response(
        context,
        password_reset.reset_by_code(context, lookup, recovery_sending.SMS, otp, password, req),
        FactorKind.SMS,
        suppress_webhook=req.suppress_webhook,
    )


@contract.reset_by_answer.implements
def reset_by_answer(context: Context, req: contract.ResetByAnswer) -> contract.PasswordReset:
    password_reset.require_answers(context, req.security_answer)
    password = require_parameter("password", req.password)
    password_reset.spend_limit(context)
    require_captcha(context, req, "forgot_password")
    account = password_reset.verify_answers(context, _read_identifier(context, req), req.security_answer or {})
    password_hash = new_password.check_and_hash(context, account, password)
    locked = new_password.lock_account(context, account)
    changed = password_reset.set_password(
        context,
        locked,
        password_hash,
        suppress_webhook=req.suppress_webhook,
        template=req.reset_password_email_template,
    )
    return _response(context, changed, FactorKind.QUESTIONS, suppress_webhook=req.suppress_webhook)


def _by_link(context: Context, req: contract.Reset) -> contract.PasswordReset:
    if not req.reset_token and not req.password:
        raise e.BadParameter("The password and resettoken are required parameters.")
    token, password = require_parameter("resettoken", req.reset_token), require_parameter("password", req.password)
    changed, _ = password_reset.reset_with_link(
        context, token, password, suppress_webhook=req.suppress_webhook, template=req.reset_password_email_template
    )
    return _response(context, changed, suppress_webhook=req.suppress_webhook)


def _read_code_request(req: contract.Reset) -> tuple[str, str, str]:
    """Return the identifier, the code and the password of a reset by code.

    Raises:
        EmailOrPhoneMissing, EmailMissing, UsernameMissing, BadParameter.
    """
    if req.email is None and req.username is None:
        raise e.EmailOrPhoneMissing
    if req.email is not None and req.username is not None:
        raise e.BadParameter("The username must not stand beside email: exactly one identifier is expected.")
    if req.email is not None and not req.email.strip():
        raise e.EmailMissing
    if req.username is not None and not req.username.strip():
        raise e.UsernameMissing
    return (
        req.email or req.username or "",
        require_parameter("otp", req.otp),
        require_parameter("password", req.password),
    )


def _read_identifier(context: Context, req: contract.ResetByAnswer) -> AccountLookup:
    kinds = [kind for kind in ("email", "username", "phone") if getattr(req, kind)]
    if len(kinds) != 1:
        raise e.BadParameter.names("email") if not kinds else e.BadParameter("Exactly one identifier is expected.")
    if req.email and not accounts.is_email(req.email):
        raise e.MalformedEmail
    return recipient.find(context, kinds[0], getattr(req, kinds[0]))


def _response(
    context: Context, account: Account, channel: FactorKind = FactorKind.EMAIL, *, suppress_webhook: bool
) -> contract.PasswordReset:
    """Sign in if the tenant configured that and a single factor suffices; every other requirement of a sign-in applies."""
    is_enabled = context.tenant.settings.login_on_password_reset
    authentication = Authentication(("otp",), channel=channel, suppress_webhook=suppress_webhook)
    if not is_enabled or not completion.try_single_factor(context, account, authentication):
        return contract.PasswordReset()
    return contract.PasswordReset(
        data=completion.to_login(completion.begin_checked_session(context, account, authentication))
    )
