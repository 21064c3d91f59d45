"""The current version of a tenant's privacy policy, and the versions that an account accepted."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from app.contract import errors
from app.contract.accounts.self_service_operations import AcceptedPolicy, PolicyHistory
from app.contract.tenants.settings import PrivacyPolicy, TenantSettings
from app.identity.directory.accounts import account_store
from app.identity.directory.accounts.account import Account
from app.identity.platform import events
from app.identity.platform.context import Context
from app.kit.clock import iso

_MAX_HISTORY = 50


def current_version(policy: PrivacyPolicy, now: datetime) -> str | None:
    """Return the name of the version that started last; None if the tenant has none."""
    current = policy.current(now)
    return current.version if current else None


def accepted_version(account: Account) -> str | None:
    """Return the last version that the account accepted."""
    return (account.private.get("privacy_policy") or {}).get("Version")


def is_strict(settings: TenantSettings) -> bool:
    """Return whether accounts must accept the policy before anything else."""
    return settings.privacy_policy.mode == "strict" and bool(settings.privacy_policy.versions)


def must_accept(policy: PrivacyPolicy, account: Account, now: datetime) -> bool:
    """Return whether the account must accept the current version first."""
    version = current_version(policy, now) if policy.mode == "strict" else None
    return version is not None and accepted_version(account) != version


def acceptance(account: Account, version: str, source: str, now: datetime) -> dict[str, Any]:
    """Return the account's `private` document after accepting a version."""
    entry = _entry(version, source, now)
    history = [entry, *history_of(account)][:_MAX_HISTORY]
    return {**account.private, "privacy_policy": entry, "privacy_policy_history": history}


def first_acceptance(policy: PrivacyPolicy, source: str, now: datetime) -> dict[str, Any]:
    """Return the `private` members of a new account that accepted the current version, if there is one."""
    version = current_version(policy, now)
    if version is None:
        return {}
    entry = _entry(version, source, now)
    return {"privacy_policy": entry, "privacy_policy_history": [entry]}


def _entry(version: str, source: str, now: datetime) -> dict[str, str | None]:
    return {"Version": version, "AcceptSource": source, "AcceptDateTime": iso(now)}


def history_of(account: Account) -> list[dict[str, str]]:
    """Return every acceptance, newest first."""
    return list(account.private.get("privacy_policy_history") or ())


def accept(context: Context, account: Account) -> Account:
    """Record the acceptance of the current version, with source and time.

    Raises NoPrivacyPolicy, PolicyAcceptedAlready.
    """
    version = current_version(context.tenant.settings.privacy_policy, context.now)
    if version is None:
        raise errors.NoPrivacyPolicy
    fresh = account_store.lock(context, account.uid)
    if fresh is None:
        raise errors.NotAuthenticated
    if accepted_version(fresh) == version:
        raise errors.PolicyAcceptedAlready
    source = f"{context.issuer}/privacy-policy" if context.visit else "API"
    private = acceptance(fresh, version, source, context.now)
    after = account_store.change(context, fresh.uid, {"private": private}) or fresh
    context.audit.record("privacy_policy.accepted", uid=after.uid, version=version)
    events.emit(context, "UpdateProfile", after)
    return after


def history(context: Context, account: Account) -> PolicyHistory:
    """Return the accepted versions, the newest first. Raises NoPrivacyPolicy where the tenant has none."""
    if not context.tenant.settings.privacy_policy.versions:
        raise errors.NoPrivacyPolicy
    accepted = [AcceptedPolicy.model_validate(entry) for entry in history_of(account)]
    return PolicyHistory(uid=account.uid, current=accepted[0] if accepted else None, history=accepted)
