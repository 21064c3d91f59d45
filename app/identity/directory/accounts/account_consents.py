"""The consents stored in an account's `private` document."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from app.identity.directory.accounts.account import Account
from app.kit.clock import iso

KEY = "consents"
StoredConsents = Mapping[str, Any]
"""`forms`: [{Event, Version, IsCustom, At}]; `options`: accepted ones, [{ConsentOptionId, AcceptOnDate}]; `first`: the log entry of
the registration; `owes`: whether the registration form is still unanswered."""


def of_account(account: Account) -> StoredConsents:
    """Return the account's consents."""
    stored: StoredConsents = account.private.get(KEY) or {}
    return stored


def profile(stored: StoredConsents) -> dict[str, Any] | None:
    """Return the interface's ConsentProfile; None before the first answer."""
    if not stored.get("forms"):
        return None
    return {"AcceptedConsentVersions": versions(stored), "Consents": list(stored.get("options") or ())}


def versions(stored: StoredConsents) -> list[dict[str, Any]]:
    """Return the answered forms with their versions."""
    return [{name: form[name] for name in ("Event", "Version", "IsCustom")} for form in stored.get("forms") or ()]


def answer_to(stored: StoredConsents, event: str) -> dict[str, Any] | None:
    """Return the last answer to a form: its version and `At`."""
    return next((form for form in stored.get("forms") or () if form["Event"] == event), None)


def accepted_options(stored: StoredConsents) -> set[str]:
    """Return the ids of the accepted options."""
    return {option["ConsentOptionId"] for option in stored.get("options") or ()}


def with_answers(
    stored: StoredConsents, forms: Iterable[Mapping[str, Any]], choices: Mapping[str, bool], now: datetime
) -> dict[str, Any]:
    """Return the consents after answering forms ({Event, Version, IsCustom}) with choices by option id."""
    at = iso(now)
    new = [{**form, "At": at} for form in forms]
    others = [item for item in stored.get("forms") or () if item["Event"] not in {form["Event"] for form in new}]
    old = {
        option["ConsentOptionId"]: option
        for option in stored.get("options") or ()
        if choices.get(option["ConsentOptionId"], True)
    }
    chosen = {
        option: {"ConsentOptionId": option, "AcceptOnDate": at}
        for option, is_accepted in choices.items()
        if is_accepted
    }
    return {**stored, "forms": [*others, *new], "options": [*{**chosen, **old}.values()]}


def reset(private: dict[str, Any]) -> None:
    """Clear the consents except the first log entry, so that the owner is asked again."""
    if stored := private.get(KEY):
        private[KEY] = {name: value for name, value in stored.items() if name == "first"} | {"owes": True}
