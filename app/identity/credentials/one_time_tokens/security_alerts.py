"""Links with which the owner of an address reports a change as not theirs: "this was not me" (decisions/0061)."""

from __future__ import annotations

from app.identity.credentials.one_time_tokens import service as one_time_tokens
from app.identity.credentials.one_time_tokens.service import OneTimeToken, Purpose
from app.identity.directory.accounts import identifiers
from app.identity.directory.accounts.service import Account
from app.identity.platform.context import Context
from app.kit import randomness
from app.kit.clock import iso

MINUTES = 7 * 24 * 60
"""The lifetime of a link. It outlives the removal of its address from the account."""
_MAX_LENGTH = 250


def create_link(context: Context, account: Account, to: str) -> tuple[str, str]:
    """Return the URL and the token of a link that reserves the account for the mailbox `to`.

    Each change has its own link. The earliest link restores the state before all later changes and ends their links.
    """
    subject = f"{_normal_address(to)} {iso(context.now)} {randomness.token(6)}"
    facts = {"email": to}
    token = one_time_tokens.new_link(context, Purpose.ALARM, account.uid, subject=subject, minutes=MINUTES, facts=facts)
    return f"{context.issuer}/not-me?vtoken={token}", token


def close(context: Context, uid: str, to: str) -> None:
    """Close the alert links of an account that were sent to an address."""
    one_time_tokens.close_addressed(context, uid, Purpose.ALARM, _normal_address(to))


def close_until(context: Context, alert: OneTimeToken) -> None:
    """Close an alert link and the earlier ones that were sent to the same address."""
    one_time_tokens.close_addressed(
        context, alert.uid, Purpose.ALARM, _normal_address(str(alert.facts["email"])), alert.expires_at
    )


def _normal_address(to: str) -> str:
    return (identifiers.normalize_email(to) or to)[:_MAX_LENGTH]
