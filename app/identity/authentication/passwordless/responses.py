"""Responses that the passwordless operations share."""

from __future__ import annotations

from app.contract.groups import CaptchaQuery, PostedSms, SmsSent
from app.contract.passwordless import SignInParameters
from app.contract.second_factors.challenge import FactorLogin
from app.identity.authentication.sign_in import completion
from app.identity.authentication.sign_in.second_factor import Authentication
from app.identity.credentials.authenticators.protocol import ChallengeOptions
from app.identity.credentials.captcha import service as captcha
from app.identity.directory.accounts.account_lookup import AccountLookup
from app.identity.directory.accounts.service import Account
from app.identity.messaging import service as messaging
from app.identity.platform.context import Context
from app.kit import randomness
from app.kit.errors import ApiError


def sms_response(context: Context, sid: str) -> PostedSms:
    """Return the same response whether a message was sent or not."""
    return PostedSms(data=SmsSent(account_sid=messaging.account_sid(context), sid=sid or f"SM{randomness.uid()}"))


def raise_unless_hidden(context: Context, lookup: AccountLookup, reason: ApiError) -> None:
    """Raise why nothing was sent, unless accounts are hidden: a limit would reveal an earlier message."""
    if not lookup.is_hidden:
        raise reason
    context.work.rollback()
    uid = lookup.account.uid if lookup.account else None
    context.audit.record("passwordless.not_sent", uid=uid, reason=type(reason).__name__)


def check_captcha(context: Context, req: CaptchaQuery) -> None:
    """Verify a captcha that is presented; raises 982, 1218."""
    if not (shown := captcha.from_parameters(req)).is_empty:
        captcha.require_solved(context, shown)


def complete(context: Context, account: Account, authentication: Authentication, req: SignInParameters) -> FactorLogin:
    """Begin a session, or answer with a challenge, for the account of a redeemed one-time token.

    Where the account may not sign in, the token stays unused; where a policy or a consent is required first, the token is used up
    for the continuation token. Raises as `completion.complete` does.
    """
    options = ChallengeOptions(req.sms_template_2fa, req.email_template_2fa, req.is_voice_otp, req.duo_redirect_uri)
    return completion.complete(context, account, authentication, fields=req.fields_, options=options)
