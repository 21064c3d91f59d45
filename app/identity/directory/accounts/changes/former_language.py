"""The language of an account before a recent change of it, in which notices are still sent."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Final

from app.contract.messages.short_link_paths import ALERT_LINK_DAYS
from app.identity.directory.accounts.account import Account

_KEY: Final = "former_language"
"""The key in `private` of the language before a change."""
_LANGUAGE: Final = "LocalLanguage"
_RETENTION: Final = timedelta(days=ALERT_LINK_DAYS)


def remember(account: Account, profile: Mapping[str, Any], now: datetime) -> dict[str, Any]:
    """Return the `private` members to add before this profile is stored, so that notices are still in the former language.

    Of several changes the first counts: an attacker must not have notices sent in a language that the owner cannot read.
    """
    former = account.profile.get(_LANGUAGE) or ""
    if former == (profile.get(_LANGUAGE) or "") or of(account, now) is not None:
        return {}
    return {_KEY: {"tag": str(former), "until": (now + _RETENTION).isoformat()}}


def of(account: Account, now: datetime) -> str | None:
    """Return the language before a recent change, an empty string if it had none; None without a change."""
    entry = account.private.get(_KEY)
    if not entry or datetime.fromisoformat(entry["until"]) <= now:
        return None
    return str(entry["tag"])
