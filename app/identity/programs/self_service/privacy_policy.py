"""Acceptance of the tenant's privacy policy, by version (interface user.md operations U27, U28)."""

from __future__ import annotations

from app.contract import errors as e
from app.contract.self_service import AcceptedPolicy, PolicyHistory
from app.identity.directory.accounts import privacy_policy, store
from app.identity.directory.accounts.service import Account
from app.identity.platform import events
from app.identity.platform.context import Context


def accept(context: Context, account: Account) -> Account:
    """Record the acceptance of the current version, with source and time.

    Raises NoPrivacyPolicy, PolicyAcceptedAlready.
    """
    version = privacy_policy.current_version(context.tenant.settings.privacy_policy, context.now)
    if version is None:
        raise e.NoPrivacyPolicy
    fresh = store.change(context, account.uid, {})
    if fresh is None:
        raise e.NotAuthenticated
    if privacy_policy.accepted_version(fresh) == version:
        raise e.PolicyAcceptedAlready
    source = f"{context.issuer}/privacy-policy" if context.visit else "API"
    private = privacy_policy.acceptance(fresh, version, source, context.now)
    after = store.change(context, fresh.uid, {"private": private}) or fresh
    context.audit.record("privacy_policy.accepted", uid=after.uid, version=version)
    events.emit(context, "UpdateProfile", after, False)
    return after


def history(context: Context, account: Account) -> PolicyHistory:
    """Return the accepted versions, the newest first. Raises NoPrivacyPolicy where the tenant has none."""
    if not context.tenant.settings.privacy_policy.versions:
        raise e.NoPrivacyPolicy
    accepted = [AcceptedPolicy.model_validate(entry) for entry in privacy_policy.history_of(account)]
    return PolicyHistory(uid=account.uid, current=accepted[0] if accepted else None, history=accepted)
