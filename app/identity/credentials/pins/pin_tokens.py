"""Continuation tokens of PINs: the sign-in that waits for a PIN to be set, and the session that a PIN signs in to again."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Final

from app.contract import errors
from app.identity.directory.accounts import account_store
from app.identity.directory.accounts.account import Account
from app.identity.platform import continuation_tokens
from app.identity.platform.context import Context
from app.identity.platform.continuation_tokens import ContinuationPurpose, ContinuationToken
from app.kit.clock import iso

SETTING_LIFETIME: Final = timedelta(minutes=10)


def pin_required_error(context: Context, account: Account, authentication: Mapping[str, Any]) -> errors.PinRequired:
    """Return the error of a complete sign-in that needs a PIN first.

    Its token continues the sign-in once. `authentication` describes that sign-in.
    """
    token = continuation_tokens.issue(
        context,
        ContinuationPurpose.PIN_SETTING,
        account.uid,
        lifetime=SETTING_LIFETIME,
        facts={"way": dict(authentication)},
    )
    context.audit.record("pin.asked", uid=account.uid)
    return errors.PinRequired(data={"PINAuthToken": token.text}, commit_on_raise=True)


def find_setting_token(context: Context, text: str | None) -> tuple[ContinuationToken, Account]:
    """Return the token of `pin_required_error` and its account, without using the token.

    Raises:
        UnknownPinToken: it is unknown or used, or the account was deleted, got a PIN or changed its password since.
        ExpiredPinToken: it is expired.
    """
    token = continuation_tokens.find(context, ContinuationPurpose.PIN_SETTING, text)
    if token is None:
        raise errors.UnknownPinToken
    if token.is_expired(context.now):
        raise errors.ExpiredPinToken
    account = account_store.by_uid(context, token.uid)
    is_over = account is None or (account.password_changed_at and account.password_changed_at > token.created_at)
    if account is None or is_over or account.has_pin:
        raise errors.UnknownPinToken
    return token, account


def issue_session(context: Context, uid: str, kind: str) -> dict[str, Any]:
    """Return `session_token` and its expiry for a login response; empty if the tenant has no PIN login.

    `kind`: the kind of the sign-in, kept for the next one.
    """
    rules = context.tenant.settings.pin
    if not (rules.is_on and rules.login):
        return {}
    lifetime = timedelta(minutes=rules.session_minutes)
    session = continuation_tokens.issue(
        context, ContinuationPurpose.PIN_SESSION, uid, lifetime=lifetime, facts={"kind": kind}
    )
    return {"session_token": session.text, "session_expires_in": iso(session.expires_at)}


def find_session(context: Context, text: str | None) -> ContinuationToken:
    """Return the session of a `session_token`. Raises BadParameter if it is missing, UnknownSessionToken, ExpiredSessionToken."""
    if not text:
        raise errors.BadParameter.names("session_token")
    session = continuation_tokens.find(context, ContinuationPurpose.PIN_SESSION, text)
    if session is None:
        raise errors.UnknownSessionToken
    if session.is_expired(context.now):
        raise errors.ExpiredSessionToken
    return session


def spend_session(context: Context, session: ContinuationToken) -> None:
    """Use a session. Only one of several concurrent calls succeeds. Raises UnknownSessionToken."""
    if not continuation_tokens.spend(context, session):
        raise errors.UnknownSessionToken
