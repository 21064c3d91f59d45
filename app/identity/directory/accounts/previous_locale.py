"""What an account spoke before its language was changed: a thief would have warnings sent in one that the owner cannot read."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from app.identity.directory.accounts.account import Account

_FORMER, _MEMBER = "former_language", "LocalLanguage"
_KEPT = timedelta(days=7)  # as long as an alarm works


def remember(account: Account, profile: Mapping[str, Any], now: datetime) -> dict[str, Any]:
    """Return what is kept in private of an account whose profile is about to be this: the first of several changes counts."""
    former = account.profile.get(_MEMBER) or ""
    if former == (profile.get(_MEMBER) or "") or previous(account, now) is not None:
        return {}
    return {_FORMER: {"tag": str(former), "until": (now + _KEPT).isoformat()}}


def previous(account: Account, now: datetime) -> str | None:
    """Return what it spoke before a change of the last days, empty where it said nothing; None without a change."""
    held = account.private.get(_FORMER)
    if not held or datetime.fromisoformat(held["until"]) <= now:
        return None
    return str(held["tag"])
