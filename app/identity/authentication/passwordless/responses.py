"""What the rows that send something share: their answers, and their silence."""

from __future__ import annotations

from app.contract.groups import CaptchaQuery, PostedSms, SmsSent
from app.identity.credentials.captcha import service as captcha
from app.identity.directory.accounts.account_lookup import AccountLookup
from app.identity.messaging import service as messaging
from app.identity.platform.context import Context
from app.kit import randomness
from app.kit.errors import ApiError


def sms_response(context: Context, sid: str) -> PostedSms:
    """Return what every row answers that sends a message; where none was sent the answer is the same."""
    return PostedSms(data=SmsSent(account_sid=messaging.account_sid(context), sid=sid or f"SM{randomness.uid()}"))


def raise_unless_hidden(context: Context, lookup: AccountLookup, reason: ApiError) -> None:
    """Raise why nothing was sent, unless it would tell that somebody was written to before: who has an account is."""
    if not lookup.is_hidden:
        raise reason
    context.work.rollback()
    uid = lookup.account.uid if lookup.account else None
    context.audit.record("passwordless.not_sent", uid=uid, reason=type(reason).__name__)


def check_captcha(context: Context, req: CaptchaQuery) -> None:
    """A captcha that is shown must be solved; raises 982, 1218."""
    if not (shown := captcha.from_parameters(req)).is_empty:
        captcha.require_solved(context, shown)
