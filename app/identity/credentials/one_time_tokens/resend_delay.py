"""How long whoever had a mail or a message sent waits before the next: the same on every page that offers one."""

from __future__ import annotations

from collections.abc import Collection
from datetime import timedelta
from typing import Final

from app.identity.credentials.one_time_tokens import store
from app.identity.platform.context import Context

SECONDS: Final = 30  # interface limits.md section 4


def seconds_left(context: Context, sent_at: float) -> int:
    """Return for how long the next one has to wait after one that went out then (seconds since 1970)."""
    return max(0, int(sent_at) + SECONDS - int(context.now.timestamp()))


def of_account(context: Context, kinds: Collection[str], uid: str) -> dict[str, int]:
    """Return for how long the next one to an address or a number has to wait, of those that an account has to wait for."""
    sent = store.sent_since(context, kinds, uid, context.now - timedelta(seconds=SECONDS))
    return {
        str(one.facts.get("phone") or one.subject): seconds_left(context, one.created_at.timestamp()) for one in sent
    }
