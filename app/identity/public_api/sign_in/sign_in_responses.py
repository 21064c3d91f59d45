"""Shows a program the outcome of a sign-in: a session, the challenge of a second factor, or a refusal."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from app.contract import errors
from app.contract.profile import Profile
from app.contract.second_factors.challenge import (
    NO_EXPIRY,
    NO_SESSION,
    Challenge,
    EmailSent,
    FactorKind,
    FactorLogin,
)
from app.contract.shared_responses import SmsSent
from app.contract.sign_in.sign_in_operations import Login
from app.identity.authentication.sign_in import api_tokens, pending_sign_in
from app.identity.authentication.sign_in.authentication import Authentication
from app.identity.authentication.sign_in.completion import ActionRequired, Complete, FactorRequired, Outcome, Refused
from app.identity.credentials import account_locks
from app.identity.credentials.pins import pin_tokens
from app.identity.credentials.second_factors import factor_views, second_factors
from app.identity.credentials.second_factors.authenticators import email
from app.identity.credentials.second_factors.authenticators.authenticator import ChallengeOptions
from app.identity.credentials.second_factors.authenticators.registry import AUTHENTICATORS
from app.identity.credentials.second_factors.second_factors import RequiredFactor
from app.identity.directory.accounts import accounts
from app.identity.directory.accounts.identifiers import mask_email
from app.identity.directory.accounts.profile import selected_fields
from app.identity.messaging import messaging
from app.identity.platform.context import Context
from app.kit.clock import iso
from app.kit.operations.errors import ApiError

DEFAULT_OPTIONS: Final = ChallengeOptions()
_IDENTIFIER_KINDS: Final = ("email", "username", "phone")
"""The kinds of sign-in that name no provider."""


def present(
    context: Context, outcome: Outcome, *, fields: str | None = None, options: ChallengeOptions = DEFAULT_OPTIONS
) -> FactorLogin:
    """Return the session of a complete sign-in, or the challenge of the second factor that it needs.

    Raises:
        PrivacyPolicyOutdated, ConsentNeeded, PinRequired: the token in `Data` continues the sign-in.
        AccountBlocked, LoginDisabled, EmailUnverified, PhoneUnverified, TooManySessions and the errors of locks.
        LoginNotAllowed: an organization of the account requires another method.
        TwoFactorOn: the only second factor was just used as the first.
    """
    match outcome:
        case FactorRequired():
            return challenge(context, outcome.required, outcome.authentication, options)
        case ActionRequired():
            raise outcome.refusal(context)
        case Refused():
            raise error_of(context, outcome)
        case Complete():
            return session(context, outcome, fields)


def error_of(context: Context, refused: Refused) -> ApiError:
    """Return the error of a refusal. Raises those of locks."""
    if refused.error is None:
        account_locks.refuse_locked(context, refused.account)
    return refused.error or errors.AccountBlocked()


def challenge(
    context: Context,
    required: RequiredFactor,
    authentication: Authentication,
    options: ChallengeOptions = DEFAULT_OPTIONS,
) -> FactorLogin:
    """Return the challenge of the second factor, and send the code that it needs."""
    pending = pending_sign_in.begin(context, required, authentication)
    required = replace(required, factors=pending.factors)
    pending_sign_in.prompt_device(context, pending, required.kinds)
    members = factor_views.challenge_members(context, required, options) | send_code(context, required, options)
    response = Challenge(
        second_factor_authentication_token=pending.token.text, expire_in=iso(pending.token.expires_at) or "", **members
    )
    return FactorLogin(second_factor_authentication=response, access_token=NO_SESSION, expires_in=NO_EXPIRY)


def send_code(context: Context, required: RequiredFactor, options: ChallengeOptions) -> dict[str, Any]:
    """Send a code by SMS or mail where that is the factor, and return the response members that report it.

    Raises:
        NoSmsConfiguration, VoiceOtpOff, SmsLimitReached, SharedSmsLimitReached: the account has no other factor.
    """
    kinds = tuple(kind for kind in required.kinds if kind not in second_factors.SUPPLEMENTARY)
    kind = kinds[0] if kinds else None
    is_email = kinds == (FactorKind.EMAIL,)
    if kind is None or not (kind is FactorKind.SMS or is_email):
        return {}
    try:
        sent = AUTHENTICATORS[kind].challenge(context, required.factors, options)
    except pending_sign_in.SEND_ERRORS as reason:
        if len(required.kinds) == 1 and not is_email:
            raise
        context.audit.record("second_factor.not_sent", uid=required.factors.account.uid, reason=type(reason).__name__)
        return {}
    if sent.sent_to is None:
        return {}
    if is_email and (to := email.recipient(required.factors.account, options.email)):
        return {"email_otp_status": EmailSent(email=mask_email(to))}
    return {"otp_status": SmsSent(account_sid=messaging.account_sid(context), sid=sent.sid or "")}


def session(context: Context, complete: Complete, fields: str | None = None) -> FactorLogin:
    """Return the session of a complete sign-in."""
    account, authentication = complete.account, complete.authentication
    provider = "Email" if authentication.kind in _IDENTIFIER_KINDS else authentication.kind
    issued = api_tokens.issue(context, account, authentication.methods, provider=provider, run=authentication.workflow)
    profile = accounts.signed_in_profile(context, account)
    return FactorLogin(
        profile=Profile.of(selected_fields.project(profile, fields)),
        access_token=issued.access_token,
        refresh_token=issued.refresh_token,
        expires_in=iso(issued.access_expires_at) or "",
        **pin_tokens.issue_session(context, account.uid, authentication.kind),
    )


def to_login(login: FactorLogin) -> Login:
    """Return a session without the member that only logins with second factors have."""
    return Login.model_construct(
        profile=login.profile,
        access_token=login.access_token,
        refresh_token=login.refresh_token,
        expires_in=login.expires_in,
        session_token=login.session_token,
        session_expires_in=login.session_expires_in,
    )
