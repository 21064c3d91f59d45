"""Trusted browsers: a sign-in from one skips the second factor, for as many days as the tenant sets."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from app.identity.directory.accounts.account import Account
from app.identity.platform import continuation_tokens
from app.identity.platform.context import Context
from app.identity.platform.continuation_tokens import ContinuationPurpose, ContinuationToken
from app.kit.clock import iso

_ID_LENGTH: Final = 16


def trust(context: Context, account: Account) -> tuple[str, int] | None:
    """Trust this browser. Return its cookie value and lifetime in seconds; None if the tenant disables trusted browsers."""
    days = context.tenant.settings.second_factors.trusted_browser_days
    if not days or context.visit is None:
        return None
    facts = {"agent": context.agent, "address": context.ip_address[:64]}
    facts["password_changed_at"] = iso(account.password_changed_at) or ""
    trusted = continuation_tokens.issue(
        context, ContinuationPurpose.TRUSTED_BROWSER, account.uid, lifetime=timedelta(days=days), facts=facts
    )
    context.audit.record("browser.trusted", uid=account.uid)
    return trusted.text, days * 86_400


def is_trusted(context: Context, account: Account) -> bool:
    """Return whether the account trusts this browser and the tenant still allows that."""
    cookie = context.visit.trusted if context.visit else None
    if not cookie or not context.tenant.settings.second_factors.trusted_browser_days:
        return False
    token = continuation_tokens.find(context, ContinuationPurpose.TRUSTED_BROWSER, cookie)
    if token is None or token.uid != account.uid or token.is_expired(context.now):
        return False
    return _is_of_current_password(token, account)


@dataclass(frozen=True)
class TrustedBrowser:
    """A browser that skips the second factor."""

    browser_id: str
    agent: str
    address: str
    trusted_at: datetime
    ends_at: datetime


def by_account(context: Context, account: Account) -> list[TrustedBrowser]:
    """Return the trusted browsers of an account, the newest first; none if the tenant disables them."""
    if not context.tenant.settings.second_factors.trusted_browser_days:
        return []
    tokens = continuation_tokens.of_account(context, ContinuationPurpose.TRUSTED_BROWSER, account.uid)
    return [
        TrustedBrowser(
            _browser_id(token),
            str(token.facts["agent"]),
            str(token.facts["address"]),
            token.created_at,
            token.expires_at,
        )
        for token in tokens
    ]


def revoke(context: Context, uid: str, browser_id: str) -> None:
    """Stop trusting one browser."""
    for token in continuation_tokens.of_account(context, ContinuationPurpose.TRUSTED_BROWSER, uid):
        if _browser_id(token) == browser_id:
            continuation_tokens.spend(context, token)
            context.audit.record("browser.forgotten", uid=uid)


def revoke_all(context: Context, uid: str) -> None:
    """Stop trusting all browsers of an account."""
    continuation_tokens.revoke_all(context, uid, ContinuationPurpose.TRUSTED_BROWSER)


def _is_of_current_password(token: ContinuationToken, account: Account) -> bool:
    """Return whether the password is still the one at the time of trust; a new one ends the trust."""
    return token.facts.get("password_changed_at") == (iso(account.password_changed_at) or "")


def _browser_id(token: ContinuationToken) -> str:
    """Return the id of a browser in lists: part of a digest, useless as a cookie."""
    return token.token_hash[:_ID_LENGTH]
