"""Computes how long a visitor waits before the next email or text message, on every page that can resend."""

from __future__ import annotations

from collections.abc import Collection
from datetime import timedelta
from typing import Final

from app.identity.credentials.one_time_tokens import one_time_token_store
from app.identity.platform.context import Context

SECONDS: Final = 30


def seconds_left(context: Context, sent_at: float) -> int:
    """Return the seconds until the next message after a message of `sent_at` (seconds since 1970)."""
    return max(0, int(sent_at) + SECONDS - int(context.now.timestamp()))


def of_account(context: Context, kinds: Collection[str], uid: str) -> dict[str, int]:
    """Return the seconds left by address or number, for those to which the account was sent a message lately."""
    sent = one_time_token_store.sent_since(context, kinds, uid, context.now - timedelta(seconds=SECONDS))
    return {
        str(item.facts.get("phone") or item.subject): seconds_left(context, item.created_at.timestamp())
        for item in sent
    }
