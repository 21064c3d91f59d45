"""What a program gets after the first factor: a session, or a challenge where a second factor is required.

The counterpart for our pages is `pages_api/interactions/page_sign_in.py`.
"""

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
from app.identity.authentication.sign_in import allowed_methods, password_sign_in, pending_sign_in, tenant_requirements
from app.identity.authentication.sign_in.authentication import Authentication
from app.identity.authentication.sign_in.pending_sign_in import PendingSignIn
from app.identity.authentication.sign_in.tenant_requirements import Requirement
from app.identity.credentials.pins import pin_tokens
from app.identity.credentials.second_factors import factor_views, second_factors
from app.identity.credentials.second_factors.authenticators.authenticator import ChallengeOptions
from app.identity.credentials.second_factors.authenticators.registry import AUTHENTICATORS
from app.identity.credentials.second_factors.second_factors import RequiredFactor
from app.identity.directory.accounts import accounts
from app.identity.directory.accounts.account import Account
from app.identity.messaging import messaging
from app.identity.platform.context import Context
from app.kit.clock import iso

DEFAULT_OPTIONS: Final = ChallengeOptions()
_IDENTIFIER_KINDS: Final = ("email", "username", "phone")
"""The kinds of sign-in that name no provider."""


def after_first_factor(
    context: Context,
    account: Account,
    authentication: Authentication,
    *,
    fields: str | None = None,
    options: ChallengeOptions = DEFAULT_OPTIONS,
) -> FactorLogin:
    """Sign in an account that passed one factor other than a password. Call it before any write that a refusal must undo.

    `authentication.methods` with `mfa` count as two factors, such as a passkey that verified its user.

    Raises:
        AccountBlocked, LoginDisabled, EmailUnverified, PhoneUnverified, PrivacyPolicyOutdated, TooManySessions.
        LoginNotAllowed: an organization of the account requires another method.
        TwoFactorOn: the only second factor was just used as the first.
    """
    allowed_methods.refuse(context, account, authentication.methods)
    required = pending_sign_in.required_factor(context, account, authentication)
    if required is not None:
        return challenge(context, required, authentication, options)
    password_sign_in.record_sign_in(
        context, account, authentication.kind, suppress_webhook=authentication.suppress_webhook
    )
    return issue_session(context, account, authentication, fields)


def try_record_single_factor(context: Context, account: Account, authentication: Authentication) -> bool:
    """Record a sign-in by one factor other than a password, where one factor is enough. Then call `issue_session`.

    Returns False where the account may not sign in by it, needs a second factor, or must first accept a policy or consent.
    """
    try:
        allowed_methods.refuse(context, account, authentication.methods)
        is_sufficient = pending_sign_in.required_factor(
            context, account, authentication
        ) is None and tenant_requirements.are_met(context, account)
    except (errors.TwoFactorOn, errors.LoginNotAllowed):
        return False
    return is_sufficient and password_sign_in.try_record_sign_in(
        context, account, authentication.kind, suppress_webhook=authentication.suppress_webhook
    )


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
    if is_email:
        return {"email_otp_status": EmailSent(email=sent.sent_to)}
    return {"otp_status": SmsSent(account_sid=messaging.account_sid(context), sid=sent.sid or "")}


def complete(context: Context, pending: PendingSignIn, fields: str | None = None) -> FactorLogin:
    """Record a sign-in whose second factor is verified, and issue its session.

    Raises the errors of `pending_sign_in.finish` and `issue_session`, and LoginNotAllowed where a policy changed since the first factor.
    """
    account = pending_sign_in.finish(context, pending)
    allowed_methods.refuse(context, account, pending.authentication.methods, is_again=True)
    return issue_session(context, account, pending.authentication, fields)


def issue_session(
    context: Context,
    account: Account,
    authentication: Authentication,
    fields: str | None = None,
    *,
    after: Requirement | None = None,
) -> FactorLogin:
    """Issue the session of a complete, recorded sign-in, whose method this request has checked.

    Raises the first unmet requirement after `after`.
    """
    tenant_requirements.refuse_unmet(context, account, authentication, after)
    provider = "Email" if authentication.kind in _IDENTIFIER_KINDS else authentication.kind
    issued = password_sign_in.issue_tokens(context, account, authentication.methods, provider=provider)
    displayed = account if after is None else replace(account, logins=account.logins - 1)  # already counted
    profile = accounts.signed_in_profile(context, displayed)
    return FactorLogin(
        profile=Profile.of(accounts.project(profile, fields)),
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
