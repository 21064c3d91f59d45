"""What an account answered to the tenant's consent forms: kept with it, so that it is read and changed with it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from app.identity.directory.accounts.account import Account
from app.kit.clock import iso

KEY = "consents"
StoredConsents = Mapping[str, Any]
"""`forms`: [{Event, Version, IsCustom, At}]; `options`: [{ConsentOptionId, AcceptOnDate}], the accepted ones; `first`: the entry of
the log that the registration made; `owes`: whether the form of the registration is still to be answered."""


def of_account(account: Account) -> StoredConsents:
    """Return what the account keeps."""
    kept: StoredConsents = account.private.get(KEY) or {}
    return kept


def profile(kept: StoredConsents) -> dict[str, Any] | None:
    """Return the interface's ConsentProfile; None until something is answered."""
    if not kept.get("forms"):
        return None
    return {"AcceptedConsentVersions": versions(kept), "Consents": list(kept.get("options") or ())}


def versions(kept: StoredConsents) -> list[dict[str, Any]]:
    """Return which forms are answered, each in which version."""
    return [{name: one[name] for name in ("Event", "Version", "IsCustom")} for one in kept.get("forms") or ()]


def answer_to(kept: StoredConsents, event: str) -> dict[str, Any] | None:
    """Return how a form was answered last: its version, and `At`."""
    return next((one for one in kept.get("forms") or () if one["Event"] == event), None)


def accepted_options(kept: StoredConsents) -> set[str]:
    """Return the ids of the options that are agreed to."""
    return {one["ConsentOptionId"] for one in kept.get("options") or ()}


def with_answers(
    kept: StoredConsents, forms: Iterable[Mapping[str, Any]], choices: Mapping[str, bool], now: datetime
) -> dict[str, Any]:
    """Return what is kept once these forms ({Event, Version, IsCustom}) are answered with these choices, by option id."""
    at = iso(now)
    new = [{**form, "At": at} for form in forms]
    others = [one for one in kept.get("forms") or () if one["Event"] not in {form["Event"] for form in new}]
    old = {
        one["ConsentOptionId"]: one for one in kept.get("options") or () if choices.get(one["ConsentOptionId"], True)
    }
    chosen = {option: {"ConsentOptionId": option, "AcceptOnDate": at} for option, yes in choices.items() if yes}
    return {**kept, "forms": [*others, *new], "options": [*{**chosen, **old}.values()]}


def reset(private: dict[str, Any]) -> None:
    """Forget what was agreed to, but not that it was once said so, and let the owner be asked."""
    if kept := private.get(KEY):
        private[KEY] = {name: value for name, value in kept.items() if name == "first"} | {"owes": True}
