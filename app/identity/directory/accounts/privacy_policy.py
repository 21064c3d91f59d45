"""Which version of the tenant's privacy policy holds, and which an account accepted."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from app.contract.configuration import PrivacyPolicy, TenantSettings
from app.identity.directory.accounts.account import Account
from app.kit.clock import iso

_MOST_KEPT = 50


def current_version(policy: PrivacyPolicy, now: datetime) -> str | None:
    """Return the version that holds now: the one that began last; None where the tenant has none."""
    begun = [held for held in policy.versions if held.starts_at <= now]
    return max(begun, key=lambda held: held.starts_at).version if begun else None


def accepted_version(account: Account) -> str | None:
    """Return the version that the account accepted last."""
    return (account.private.get("privacy_policy") or {}).get("Version")


def is_strict(settings: TenantSettings) -> bool:
    """Return whether nobody goes on without having accepted the policy."""
    return settings.privacy_policy.mode == "strict" and bool(settings.privacy_policy.versions)


def must_accept(policy: PrivacyPolicy, account: Account, now: datetime) -> bool:
    """Return whether the account goes no further before it accepts the present version."""
    version = current_version(policy, now) if policy.mode == "strict" else None
    return version is not None and accepted_version(account) != version


def acceptance(account: Account, version: str, source: str, now: datetime) -> dict[str, Any]:
    """Return what the account keeps privately once it accepted a version."""
    entry = _entry(version, source, now)
    history = [entry, *history_of(account)][:_MOST_KEPT]
    return {**account.private, "privacy_policy": entry, "privacy_policy_history": history}


def first_acceptance(policy: PrivacyPolicy, source: str, now: datetime) -> dict[str, Any]:
    """Return what a new account keeps privately where its owner accepted the present version, if there is one."""
    version = current_version(policy, now)
    if version is None:
        return {}
    entry = _entry(version, source, now)
    return {"privacy_policy": entry, "privacy_policy_history": [entry]}


def _entry(version: str, source: str, now: datetime) -> dict[str, str | None]:
    return {"Version": version, "AcceptSource": source, "AcceptDateTime": iso(now)}


def history_of(account: Account) -> list[dict[str, str]]:
    """Return every acceptance, the newest first."""
    return list(account.private.get("privacy_policy_history") or ())
