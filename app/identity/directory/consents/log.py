"""An entry of the consent log: what was answered, from where, and what stood after it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from app.identity.directory.accounts import consents
from app.identity.platform.context import Context
from app.kit import randomness
from app.kit.clock import iso

DEFAULT, EDITOR, MIGRATION = "Default", "ConsentEditor", "FormMigration"
_SUBSCRIBED: Final = {(False, True): "Subscribe", (True, True): "Subscribe", (True, False): "Unsubscribe"}


def differences(kept: consents.StoredConsents, choices: Mapping[str, bool]) -> list[dict[str, str]]:
    """Return what each choice was: agreed to, taken back, or left out."""
    before = consents.accepted_options(kept)
    return [
        {"ConsentId": option, "Event": _SUBSCRIBED.get((option in before, yes), "NotOpted")}
        for option, yes in sorted(choices.items())
    ]


def entry(context: Context, after: consents.StoredConsents, kind: str, answers: list[dict[str, str]]) -> dict[str, Any]:
    """Return the entry as the interface shows it."""
    return {
        "Id": randomness.uid(),
        "UpdateType": kind,
        "CurrentConsentFormsVersions": consents.versions(after),
        "LoggedOnDate": iso(context.now),
        "UserAgent": context.agent,
        "IP": context.address,
        "Host": (context.visit.host if context.visit else context.raw.host)[:300],
        "ConsentLogs": answers,
    }
