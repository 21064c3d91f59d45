"""Operations of smart login and of one-touch login."""

from __future__ import annotations

from app.contract import errors
from app.contract.captcha.models import CaptchaUse
from app.contract.passwordless import smart_login_operations
from app.contract.second_factors.challenge import FactorKind, FactorLogin
from app.contract.shared_responses import PostedSms
from app.identity.authentication.passwordless import passwordless_sending, redemption, smart_login
from app.identity.authentication.passwordless.passwordless_sending import ONE_TOUCH, SMART_LOGIN, SendOptions
from app.identity.authentication.passwordless.smart_login import State
from app.identity.authentication.recovery import recipient
from app.identity.authentication.sign_in import sign_in_identifiers
from app.identity.authentication.sign_in.authentication import Authentication
from app.identity.authentication.verification import email_verification
from app.identity.credentials import reset_messages
from app.identity.credentials.captcha import answers, captcha_verification
from app.identity.credentials.one_time_tokens import one_time_tokens
from app.identity.credentials.one_time_tokens.codes import SMS_CODE
from app.identity.credentials.one_time_tokens.one_time_token_store import Purpose
from app.identity.credentials.one_time_tokens.one_time_tokens import OneTimeToken
from app.identity.credentials.reset_messages import MAIL, SMS
from app.identity.directory.accounts import accounts, identifiers
from app.identity.directory.accounts.login_attempts import account_lookup
from app.identity.directory.accounts.login_attempts.account_lookup import AccountLookup, TypedIdentifier
from app.identity.messaging import messaging
from app.identity.platform import continuation_tokens
from app.identity.platform.context import NO_ACCOUNT, Context
from app.identity.platform.continuation_tokens import ContinuationPurpose, ContinuationToken
from app.identity.public_api.passwordless import messages
from app.kit.text.code_normalization import is_code


@smart_login_operations.begin.implements
def begin(context: Context, req: smart_login_operations.StartSmartLogin) -> smart_login_operations.LoginRequested:
    if not context.tenant.settings.smart_login:
        raise errors.SmartLoginOff
    passwordless_sending.count_request(context)
    lookup, channel = _read_recipient(context, req)
    email_verification.refuse_url(context, req.redirect_url)
    account = recipient.reachable_account(lookup, channel)
    if account is not None and channel == SMS and not account.phone_verified:
        raise errors.PhoneUnverified
    options = SendOptions(req.redirect_url, req.smart_login_email_template, req.welcome_email_template)
    device, number = smart_login.begin_for_program(context, req.client_guid, account, welcome=options.welcome_template)
    try:
        if channel == SMS:
            passwordless_sending.send_sms(context, account, lookup.identifier.value, req, device_hash=device.token_hash)
        else:
            passwordless_sending.send_mail(
                context, SMART_LOGIN, account, lookup.identifier.value, options, device_hash=device.token_hash
            )
    except (errors.MailLimitReached, errors.SmsLimitReached) as reason:
        passwordless_sending.raise_unless_hidden(context, lookup, reason)
        _, number = smart_login.begin_for_program(context, req.client_guid, account)
    return smart_login_operations.LoginRequested(number=number)


@smart_login_operations.poll.implements
def poll(context: Context, req: smart_login_operations.PollLogin) -> FactorLogin:
    device = continuation_tokens.find(context, ContinuationPurpose.SMART_LOGIN, req.client_guid)
    if (
        device is None
        or device.is_expired(context.now)
        or smart_login.is_page_device(device)
        or device.state == State.DENIED
    ):
        raise errors.WrongClientGuid
    if device.state == State.USED:
        raise errors.UsedSmartLink
    if device.state != State.APPROVED:
        raise errors.SmartLinkWaits
    by_phone = bool(device.facts.get("phone"))
    authentication = (
        Authentication(("sms",), "phone", FactorKind.SMS)
        if by_phone
        else Authentication(("otp",), channel=FactorKind.EMAIL)
    )
    if device.facts.get("is_silent"):  # a request that began or approved the sign-in said so
        context = context.without_webhooks()
    return messages.complete(context, smart_login.redeem(context, device), authentication, req)


@smart_login_operations.approve.implements
def approve(context: Context, req: smart_login_operations.ApproveByLink) -> smart_login_operations.LoginApproved:
    """Approve a link of a smart-login mail, or of a one-touch mail, because clients of the interface send both here."""
    settings = context.tenant.settings
    if not settings.smart_login and not settings.one_touch:
        raise errors.SmartLoginOff
    token = _read_token(context, req)
    if not one_time_tokens.has_link_form(token):
        return _approve(context, req, _by_code(context, req, token))
    kind = next((purpose for purpose in smart_login.KINDS if one_time_tokens.find_link(context, purpose, token)), None)
    if kind is Purpose.ONE_TOUCH:
        return one_touch_link(context, req)
    if not settings.smart_login:
        raise errors.SmartLoginOff
    return _by_link(context, req, Purpose.SMART_LOGIN, token)


@smart_login_operations.touch_mail.implements
def one_touch_mail(
    context: Context, req: smart_login_operations.StartOneTouchByEmail
) -> smart_login_operations.LoginRequested:
    _require_one_touch(context)
    passwordless_sending.count_request(context)
    if not req.email or not accounts.is_email(req.email):
        raise errors.MalformedEmail
    email_verification.refuse_url(context, req.redirect_url)
    captcha_verification.require_solved(context, CaptchaUse.REGISTER, answers.from_parameters(req))
    lookup = account_lookup.find(
        context, TypedIdentifier("email", req.email), is_hidden=recipient.hides_accounts(context)
    )
    is_allowed = _can_sign_in_or_register(context, lookup, email=req.email)
    options = SendOptions(
        req.redirect_url, req.one_touch_login_email_template, req.welcome_email_template, registers=is_allowed,
        name=req.name or "",
    )  # fmt: skip
    facts = {**options.facts, "is_silent": context.suppresses_webhooks}
    device, number = smart_login.begin_for_program(context, req.client_guid, None, **facts)
    try:
        passwordless_sending.send_mail(context, ONE_TOUCH, None, req.email, options, device_hash=device.token_hash)
    except errors.MailLimitReached as reason:
        passwordless_sending.raise_unless_hidden(context, lookup, reason)
        _, number = smart_login.begin_for_program(context, req.client_guid, None, **facts)
    return smart_login_operations.LoginRequested(number=number)


@smart_login_operations.touch_sms.implements
def one_touch_sms(context: Context, req: smart_login_operations.StartOneTouchBySms) -> PostedSms:
    _require_one_touch(context)
    passwordless_sending.count_request(context)
    phone = _parse_phone(context, req.phone)
    captcha_verification.require_solved(context, CaptchaUse.REGISTER, answers.from_parameters(req))
    lookup = account_lookup.find(context, TypedIdentifier("phone", phone), is_hidden=recipient.hides_accounts(context))
    sid, is_allowed = "", _can_sign_in_or_register(context, lookup)
    sending_context = context if is_allowed else context.without_sending()
    try:
        sid = passwordless_sending.send_one_touch_sms(
            sending_context, Purpose.ONE_TOUCH, phone, req, name=req.name or ""
        )
    except errors.SmsLimitReached as reason:
        passwordless_sending.raise_unless_hidden(context, lookup, reason)
    return messaging.posted_sms(context, sid)


@smart_login_operations.touch_code.implements
def one_touch_code(context: Context, req: smart_login_operations.OneTouchByCode) -> FactorLogin:
    _require_one_touch(context)
    passwordless_sending.count_attempt(context)
    phone = _parse_phone(context, req.phone)
    if not req.otp:
        raise errors.BadParameter.names("otp")
    name, subject = TypedIdentifier("phone", phone), reset_messages.unknown_subject(phone)
    one_time_token = one_time_tokens.spend_code(
        context, Purpose.ONE_TOUCH, NO_ACCOUNT, req.otp, subject=subject, errors=SMS_CODE, identifier=name
    )
    account = redemption.redeem(context, one_time_token, errors.ClosedSmsCode)
    return messages.complete(context, account, Authentication(("sms",), "phone", FactorKind.SMS), req)


@smart_login_operations.touch_link.implements
def one_touch_link(context: Context, req: smart_login_operations.ApproveByLink) -> smart_login_operations.LoginApproved:
    _require_one_touch(context)
    token = _read_token(context, req)
    if not one_time_tokens.has_link_form(token):
        return _approve(context, req, _by_code(context, req, token))
    return _by_link(context, req, Purpose.ONE_TOUCH, token)


def _by_link(
    context: Context, req: smart_login_operations.ApproveByLink, kind: Purpose, token: str
) -> smart_login_operations.LoginApproved:
    """Approve by a link, unless the request is HEAD; a program cannot approve a link of our own page."""
    link = one_time_tokens.find_link(context, kind, token)
    device = smart_login.find_device(context, link) if link is not None else None
    if link is None or (device is not None and smart_login.is_page_device(device)):
        raise errors.UnknownLink
    if context.raw.method == "HEAD":
        one_time_tokens.peek_link(context, kind, token)
        return smart_login_operations.LoginApproved()
    if device is not None:
        smart_login.require_number(context, device, req.number)
    return _approve(context, req, smart_login.spend_link(context, kind, token))


def _approve(
    context: Context, req: smart_login_operations.ApproveByLink, one_time_token: OneTimeToken
) -> smart_login_operations.LoginApproved:
    device: ContinuationToken = smart_login.approve(context, one_time_token)
    if req.welcome_email_template or context.suppresses_webhooks:
        continuation_tokens.add_facts(
            context,
            _reload(context, device),
            welcome=req.welcome_email_template or device.facts.get("welcome"),
            is_silent=context.suppresses_webhooks or bool(device.facts.get("is_silent")),
        )
    return smart_login_operations.LoginApproved()


def _reload(context: Context, device: ContinuationToken) -> ContinuationToken:
    return continuation_tokens.by_hash(context, ContinuationPurpose.SMART_LOGIN, device.token_hash) or device


def _by_code(context: Context, req: smart_login_operations.ApproveByLink, code: str) -> OneTimeToken:
    """Use the code of a mail or an SMS whose template has no link.

    Another device of the same account may have a code too: the number identifies the device.

    Raises:
        EmailMissing: neither email nor phone is given.
        UnknownLink: the text is not a code, so it was meant as a token.
    """
    passwordless_sending.count_attempt(context)
    if req.phone:
        lookup, channel = recipient.from_phone(context, req.phone), SMS
    elif req.email and accounts.is_email(req.email):
        lookup, channel = recipient.find(context, "email", req.email), MAIL
    else:
        raise errors.EmailMissing if is_code(code) else errors.UnknownLink
    one_time_token = smart_login.spend_code(context, lookup, channel, code)
    device = smart_login.find_device(context, one_time_token)
    if device is not None and smart_login.is_page_device(device):
        raise errors.ClosedMailCode if channel == MAIL else errors.ClosedSmsCode
    if device is not None:
        smart_login.require_number(context, device, req.number)
    return one_time_token


def _read_token(context: Context, req: smart_login_operations.ApproveByLink) -> str:
    passwordless_sending.count_attempt(context)
    if not req.shown:
        raise errors.BadParameter.names("verificationtoken")
    return req.shown


def _read_recipient(context: Context, req: smart_login_operations.StartSmartLogin) -> tuple[AccountLookup, str]:
    kinds = [kind for kind in ("email", "username", "phone") if getattr(req, kind)]
    if len(kinds) != 1:
        raise (
            errors.BadParameter.names("email")
            if not kinds
            else errors.BadParameter("Exactly one identifier is expected.")
        )
    sign_in_identifiers.refuse_disabled_kind(context.tenant.settings, kinds[0])
    if kinds == ["phone"]:
        return recipient.from_phone(context, req.phone), SMS
    return recipient.from_email_or_username(context, req.email, req.username), MAIL


def _can_sign_in_or_register(context: Context, lookup: AccountLookup, *, email: str = "") -> bool:
    """Return whether the identifier may sign in or register; raises AccountBlocked, RegistrationOff unless accounts are hidden."""
    if lookup.holder is not None:
        if not lookup.is_hidden:
            recipient.refuse_closed(lookup.holder)
        return not recipient.is_closed(lookup.holder)
    try:
        redemption.refuse_registration(context, email=email)
    except (errors.RegistrationOff, errors.EmailRefused, errors.EmailDomainRefused):
        if not lookup.is_hidden:
            raise
        return False
    return True


def _parse_phone(context: Context, phone: str | None) -> str:
    if not context.tenant.settings.phone_login:
        raise errors.PhoneLoginOff
    if not phone:
        raise errors.PhoneMissing
    if (normalized := identifiers.normalize_phone(phone)) is None:
        raise errors.MalformedPhone
    return normalized


def _require_one_touch(context: Context) -> None:
    if not context.tenant.settings.one_touch:
        raise errors.OneTouchOff
