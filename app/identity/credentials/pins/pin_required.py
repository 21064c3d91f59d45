"""A sign-in that waits for a PIN to be set: the refusal that says so, and the token with which it goes on (row U68)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Final

from app.contract import errors as e
from app.identity.directory.accounts import service as accounts
from app.identity.directory.accounts.account import Account
from app.identity.platform import continuation_tokens
from app.identity.platform.context import Context
from app.identity.platform.continuation_tokens import ContinuationPurpose, ContinuationToken

SETTING_LIFETIME: Final = timedelta(minutes=10)


def pin_required_error(context: Context, account: Account, way: Mapping[str, Any]) -> e.PinRequired:
    """Return the refusal of a sign-in that is whole and recorded; its token goes on once, in the `way` that it began."""
    ticket = continuation_tokens.issue(
        context, ContinuationPurpose.PIN_SETTING, account.uid, lifetime=SETTING_LIFETIME, facts={"way": dict(way)}
    )
    context.audit.record("pin.asked", uid=account.uid)
    return e.PinRequired(data={"PINAuthToken": ticket.text}, commit_on_raise=True)


def find_setting_token(context: Context, token: str | None) -> tuple[ContinuationToken, Account]:
    """Return whose sign-in a token goes on with; it uses nothing up.

    Raises:
        UnknownPinToken: nobody made it, it is used, the account is gone, got another password since, or has a PIN by now.
        ExpiredPinToken: it is over.
    """
    ticket = continuation_tokens.find(context, ContinuationPurpose.PIN_SETTING, token)
    if ticket is None:
        raise e.UnknownPinToken
    if ticket.is_expired(context.now):
        raise e.ExpiredPinToken
    account = accounts.by_uid(context, ticket.uid)
    is_over = account is None or (account.password_changed_at and account.password_changed_at > ticket.created_at)
    if account is None or is_over or account.has_pin:
        raise e.UnknownPinToken
    return ticket, account
