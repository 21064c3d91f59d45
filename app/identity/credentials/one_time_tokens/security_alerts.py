"""Links by which the mailbox of an account objects to a change: "this was not me" (decisions/0061)."""

from __future__ import annotations

from app.identity.credentials.one_time_tokens import service as one_time_tokens
from app.identity.credentials.one_time_tokens.service import OneTimeToken, Purpose
from app.identity.directory.accounts import identifiers
from app.identity.directory.accounts.service import Account
from app.identity.platform.context import Context
from app.kit import randomness
from app.kit.clock import iso

MINUTES = 7 * 24 * 60
"""How long one works, whatever becomes of the address that it was mailed to."""
_MAX_LENGTH = 250


def create_link(context: Context, account: Account, to: str) -> tuple[str, str]:
    """Return the address of the page that closes the account to everybody but the mailbox `to`, and its token.

    Each change has a link of its own: the earliest gives the account to who held it first, and ends the later ones.
    """
    subject = f"{_normal_address(to)} {iso(context.now)} {randomness.token(6)}"
    facts = {"email": to}
    token = one_time_tokens.new_link(context, Purpose.ALARM, account.uid, subject=subject, minutes=MINUTES, facts=facts)
    return f"{context.issuer}/not-me?vtoken={token}", token


def close(context: Context, uid: str, to: str) -> None:
    """End the alarms of an account that went to an address."""
    one_time_tokens.close_addressed(context, uid, Purpose.ALARM, _normal_address(to))


def close_until(context: Context, alarm: OneTimeToken) -> None:
    """End an alarm and those before it that went to the same address."""
    one_time_tokens.close_addressed(
        context, alarm.uid, Purpose.ALARM, _normal_address(str(alarm.facts["email"])), alarm.expires_at
    )


def _normal_address(to: str) -> str:
    return (identifiers.normalize_email(to) or to)[:_MAX_LENGTH]
