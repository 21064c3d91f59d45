"""How long whoever had a mail or a message sent waits before the next: the same on every page that offers one."""

from __future__ import annotations

from collections.abc import Collection
from datetime import timedelta
from typing import Final

from app.identity.call import Call
from app.identity.proofs import store

SECONDS: Final = 30  # interface limits.md section 4


def seconds_left(call: Call, sent_at: float) -> int:
    """Return for how long the next one has to wait after one that went out then (seconds since 1970)."""
    return max(0, int(sent_at) + SECONDS - int(call.now.timestamp()))


def of_account(call: Call, kinds: Collection[str], uid: str) -> dict[str, int]:
    """Return for how long the next one to an address or a number has to wait, of those that an account has to wait for."""
    sent = store.not_over(call, kinds, uid, call.now - timedelta(seconds=SECONDS))
    return {str(one.facts.get("phone") or one.subject): seconds_left(call, one.created_at.timestamp()) for one in sent}
