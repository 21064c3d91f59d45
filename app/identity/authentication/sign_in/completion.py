"""The end of every sign-in of the interface: a session, or a challenge where a second factor is wanted.

Whoever proved a first factor comes through here, whichever it was.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from app.contract import errors as e
from app.contract.groups import SmsSent
from app.contract.profile import Profile
from app.contract.second_factors.challenge import (
    NO_EXPIRY,
    NO_SESSION,
    Challenge,
    EmailSent,
    FactorKind,
    FactorLogin,
)
from app.contract.sign_in import Login
from app.identity.authentication.sign_in import risks, second_factor, service, tenant_requirements
from app.identity.authentication.sign_in.second_factor import Authentication
from app.identity.authentication.sign_in.tenant_requirements import Requirement
from app.identity.credentials.authenticators.protocol import ChallengeOptions
from app.identity.credentials.authenticators.registry import AUTHENTICATORS
from app.identity.credentials.pins import session_tokens as pin_sessions
from app.identity.credentials.second_factors import service as second_factors
from app.identity.credentials.second_factors import views
from app.identity.credentials.second_factors.service import RequiredFactor
from app.identity.directory.accounts import service as accounts
from app.identity.directory.accounts.account import Account
from app.identity.messaging import service as messaging
from app.identity.platform.context import Context
from app.kit.clock import iso

DEFAULT_OPTIONS: Final = ChallengeOptions()
_IDENTIFIER_KINDS: Final = ("email", "username", "phone")
"""Any other kind of a way in is the provider that somebody came by."""


def complete(
    context: Context,
    account: Account,
    authentication: Authentication,
    *,
    fields: str | None = None,
    options: ChallengeOptions = DEFAULT_OPTIONS,
) -> FactorLogin:
    """Sign in somebody who passed one factor that is no password, and answer; call it before anything else is written
    that a refusal should undo.

    `way.methods` that hold `mfa` count as two factors: a passkey that verified its user.

    Raises AccountBlocked, LoginDisabled, EmailUnverified, PhoneUnverified, PrivacyPolicyOutdated, TooManySessions; TwoFactorOn
    where the only second factor is what was proved just now.
    """
    required = (
        None
        if second_factor.MFA in authentication.methods
        else risks.required_factor(context, account, authentication.channel)
    )
    if required is not None:
        return challenge(context, required, authentication, options)
    service.complete_sign_in(context, account, authentication.kind, suppress_webhook=authentication.suppress_webhook)
    return begin_session(context, account, authentication, fields)


def try_single_factor(context: Context, account: Account, authentication: Authentication) -> bool:
    """Record a sign-in by one factor that is no password, where that is enough; False where the account may not, needs another,
    or must accept or agree to something first."""
    try:
        is_enough = risks.required_factor(
            context, account, authentication.channel
        ) is None and tenant_requirements.are_met(context, account)
    except e.TwoFactorOn:
        return False
    return is_enough and service.try_complete_sign_in(
        context, account, authentication.kind, suppress_webhook=authentication.suppress_webhook
    )


def challenge(
    context: Context,
    required: RequiredFactor,
    authentication: Authentication,
    options: ChallengeOptions = DEFAULT_OPTIONS,
) -> FactorLogin:
    """Answer with what the second factor takes; what must be sent for it is sent (interface mfa.md section 1)."""
    pending = second_factor.begin(context, required, authentication)
    required = replace(required, person=pending.person)
    second_factor.prompt_device(context, pending, required.kinds)
    told = views.challenge_members(context, required, options) | send_code(context, required, options)
    asked = Challenge(
        second_factor_authentication_token=pending.token.text, expire_in=iso(pending.token.expires_at) or "", **told
    )
    return FactorLogin(second_factor_authentication=asked, access_token=NO_SESSION, expires_in=NO_EXPIRY)


def send_code(context: Context, required: RequiredFactor, options: ChallengeOptions) -> dict[str, Any]:
    """Text or mail a code where that is the factor, and return the members that say so.

    Raises why nothing could be texted where there is no other way: 1071, 1123, 1149, 1281.
    """
    kinds = tuple(kind for kind in required.kinds if kind not in second_factors.SUPPLEMENTARY)
    kind = kinds[0] if kinds else None
    is_email = kinds == (FactorKind.EMAIL,)
    if kind is None or not (kind is FactorKind.SMS or is_email):
        return {}
    try:
        shown = AUTHENTICATORS[kind].challenge(context, required.person, options)
    except second_factor.SEND_ERRORS as reason:
        if len(required.kinds) == 1 and not is_email:
            raise
        context.audit.record("second_factor.not_sent", uid=required.person.account.uid, reason=type(reason).__name__)
        return {}
    if shown.sent_to is None:
        return {}
    if is_email:
        return {"email_otp_status": EmailSent(email=shown.sent_to)}
    return {"otp_status": SmsSent(account_sid=messaging.account_sid(context), sid=shown.sid or "")}


def begin_session(
    context: Context,
    account: Account,
    authentication: Authentication,
    fields: str | None = None,
    *,
    after: Requirement | None = None,
) -> FactorLogin:
    """Begin a session of the interface for somebody whose sign-in is whole and recorded; raises what a gate demands,
    one beyond that which was just passed.
    """
    tenant_requirements.refuse_unmet(context, account, authentication, after)
    by_provider = {} if authentication.kind in _IDENTIFIER_KINDS else {"provider": authentication.kind}
    issued = service.issue_tokens(context, account, authentication.methods, **by_provider)
    before = account if after is None else replace(account, logins=account.logins - 1)  # who passed a gate is counted
    profile = accounts.signed_in_profile(context, before)
    return FactorLogin(
        profile=Profile.of(accounts.project(profile, fields)),
        access_token=issued.access_token,
        refresh_token=issued.refresh_token,
        expires_in=iso(issued.access_expires_at) or "",
        **pin_sessions.issue_session(context, account.uid, authentication.kind),
    )


def to_login(login: FactorLogin) -> Login:
    """Return a session without the member that only logins that know of second factors have."""
    return Login.model_construct(
        profile=login.profile,
        access_token=login.access_token,
        refresh_token=login.refresh_token,
        expires_in=login.expires_in,
        session_token=login.session_token,
        session_expires_in=login.session_expires_in,
    )
