"""Remembers the language before a change, so that a thief cannot have alarms sent in a language the owner cannot read."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from app.identity.directory.accounts.account import Account

_FORMER, _MEMBER = "former_language", "LocalLanguage"
_RETENTION = timedelta(days=7)  # as long as an alarm can be acted on


def remember(account: Account, profile: Mapping[str, Any], now: datetime) -> dict[str, Any]:
    """Return the `private` members to add before this profile is stored; the first of several changes counts."""
    former = account.profile.get(_MEMBER) or ""
    if former == (profile.get(_MEMBER) or "") or previous(account, now) is not None:
        return {}
    return {_FORMER: {"tag": str(former), "until": (now + _RETENTION).isoformat()}}


def previous(account: Account, now: datetime) -> str | None:
    """Return the language before a recent change, an empty string if it had none; None without a change."""
    held = account.private.get(_FORMER)
    if not held or datetime.fromisoformat(held["until"]) <= now:
        return None
    return str(held["tag"])
