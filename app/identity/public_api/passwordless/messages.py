"""Operations of sign-in by mail and by SMS."""

from __future__ import annotations

from app.contract import errors
from app.contract.passwordless import passwordless_operations
from app.contract.passwordless.passwordless_operations import SignInParameters
from app.contract.second_factors.challenge import NO_EXPIRY, NO_SESSION, FactorKind, FactorLogin
from app.contract.shared_responses import Posted, PostedSms
from app.identity.authentication.passwordless import passwordless_sending, redemption
from app.identity.authentication.passwordless.passwordless_sending import SIGN_IN, SendOptions
from app.identity.authentication.recovery import recipient
from app.identity.authentication.sign_in import completion, locks, sign_in_identifiers
from app.identity.authentication.sign_in.authentication import Authentication
from app.identity.authentication.verification import email_verification
from app.identity.credentials.captcha import answers
from app.identity.credentials.one_time_tokens import one_time_tokens
from app.identity.credentials.one_time_tokens.one_time_token_store import Purpose
from app.identity.credentials.reset_messages import MAIL, SMS
from app.identity.credentials.second_factors.authenticators.authenticator import ChallengeOptions
from app.identity.directory.accounts.account import Account
from app.identity.directory.accounts.login_attempts.account_lookup import AccountLookup
from app.identity.messaging import messaging
from app.identity.platform.context import Context
from app.identity.public_api.sign_in import sign_in_responses

_LoginByCode = (
    passwordless_operations.LoginByEmailCode
    | passwordless_operations.LoginByUsernameCode
    | passwordless_operations.LoginBySmsCode
)


@passwordless_operations.send_mail.implements
def send_mail(context: Context, req: passwordless_operations.SendLoginEmail) -> Posted:
    _require_email_enabled(context)
    passwordless_sending.count_request(context)
    lookup = recipient.from_email_or_username(context, req.email, req.username)
    sign_in_identifiers.refuse_disabled_kind(context.tenant.settings, lookup.identifier.kind)
    email_verification.refuse_url(context, req.verification_url)
    options = SendOptions(url=req.verification_url, template=req.passwordless_login_template)
    account = recipient.reachable_account(lookup, MAIL)
    try:
        passwordless_sending.send_mail(context, SIGN_IN, account, lookup.identifier.value, options)
    except errors.MailLimitReached as reason:
        passwordless_sending.raise_unless_hidden(context, lookup, reason)
    return Posted()


@passwordless_operations.by_link.implements
def by_link(context: Context, req: passwordless_operations.LoginByLink) -> FactorLogin:
    """Leave the link unused on a HEAD request, which mail scanners send."""
    _require_email_enabled(context)
    passwordless_sending.count_attempt(context)
    token = req.verification_token
    if not token:
        raise errors.BadParameter.names("verificationtoken")
    if not one_time_tokens.has_link_form(token):
        raise errors.WrongVerificationLink
    try:
        if context.raw.method == "HEAD":
            one_time_tokens.peek_link(context, Purpose.SIGN_IN, token)
            return FactorLogin(access_token=NO_SESSION, expires_in=NO_EXPIRY)
        one_time_token = one_time_tokens.spend_link(context, Purpose.SIGN_IN, token)
    except errors.UsedLink:
        raise errors.UsedPasswordlessLink from None
    template = req.welcome_email_template
    account = redemption.redeem(context, one_time_token, errors.ExpiredLink, template=template)
    return complete(context, account, Authentication(("otp",), channel=FactorKind.EMAIL), req)


@passwordless_operations.by_email_code.implements
def by_email_code(context: Context, req: passwordless_operations.LoginByEmailCode) -> FactorLogin:
    _require_email_enabled(context)
    sign_in_identifiers.refuse_disabled_kind(context.tenant.settings, "email")
    if not req.email:
        raise errors.MalformedEmail
    return _by_code(
        context, recipient.from_email_or_username(context, req.email, None), MAIL, req, req.welcome_email_template
    )


@passwordless_operations.by_username_code.implements
def by_username_code(context: Context, req: passwordless_operations.LoginByUsernameCode) -> FactorLogin:
    _require_email_enabled(context)
    sign_in_identifiers.refuse_disabled_kind(context.tenant.settings, "username")
    if not req.username:
        raise errors.UsernameMissing
    return _by_code(
        context, recipient.from_email_or_username(context, None, req.username), MAIL, req, req.welcome_email_template
    )


@passwordless_operations.send_sms.implements
def send_sms(context: Context, req: passwordless_operations.SendLoginSms) -> PostedSms:
    _require_sms_enabled(context)
    passwordless_sending.count_request(context)
    lookup = recipient.from_phone(context, req.phone)
    sign_in_identifiers.refuse_disabled_kind(context.tenant.settings, "phone")
    account = recipient.reachable_account(lookup, SMS)
    if account is not None and not account.phone_verified:
        raise errors.PhoneUnverified
    sid = ""
    try:
        sid = passwordless_sending.send_sms(context, account, lookup.identifier.value, req)
    except errors.SmsLimitReached as reason:
        passwordless_sending.raise_unless_hidden(context, lookup, reason)
    return messaging.posted_sms(context, sid)


@passwordless_operations.by_sms_code.implements
def by_sms_code(context: Context, req: passwordless_operations.LoginBySmsCode) -> FactorLogin:
    _require_sms_enabled(context)
    lookup = recipient.from_phone(context, req.phone)
    sign_in_identifiers.refuse_disabled_kind(context.tenant.settings, "phone")
    return _by_code(context, lookup, SMS, req, None)


def _by_code(
    context: Context, lookup: AccountLookup, channel: str, req: _LoginByCode, template: str | None
) -> FactorLogin:
    passwordless_sending.count_attempt(context)
    if not req.otp:
        raise errors.BadParameter.names("otp")
    solution = locks.LockSolution(req.security_answer, answers.from_parameters(req))
    account = redemption.redeem_code(context, lookup, channel, req.otp, solution, template=template)
    authentication = (
        Authentication(("otp",), "email", FactorKind.EMAIL)
        if channel == MAIL
        else Authentication(("sms",), "phone", FactorKind.SMS)
    )
    return complete(context, account, authentication, req)


def _require_email_enabled(context: Context) -> None:
    if not context.tenant.settings.passwordless_email:
        raise errors.PasswordlessOff


def _require_sms_enabled(context: Context) -> None:
    if not context.tenant.settings.passwordless_sms:
        raise errors.PasswordlessOff


def complete(context: Context, account: Account, authentication: Authentication, req: SignInParameters) -> FactorLogin:
    """Begin a session, or answer with a challenge, for the account of a redeemed one-time token.

    If the account may not sign in, the token stays unused; if a policy or a consent is required first, the continuation token
    replaces it. Raises the errors of `sign_in_responses.present`.
    """
    options = ChallengeOptions(req.sms_template_2fa, req.email_template_2fa, req.is_voice_otp, req.duo_redirect_uri)
    outcome = completion.after_first_factor(context, account, authentication)
    return sign_in_responses.present(context, outcome, fields=req.fields_, options=options)
