"""People accept the tenant's privacy policy, version by version (interface user.md rows U27, U28)."""

from __future__ import annotations

from app.contract import errors as e
from app.contract.self_service import AcceptedPolicy, PolicyHistory
from app.identity.accounts import policies, store
from app.identity.accounts.service import Account
from app.identity.call import Call
from app.identity.tasks import events


def accept(call: Call, account: Account) -> Account:
    """Keep that the present version was accepted, from where and when.

    Raises NoPrivacyPolicy, PolicyAcceptedAlready.
    """
    version = policies.present(call.tenant.settings.privacy_policy, call.now)
    if version is None:
        raise e.NoPrivacyPolicy
    fresh = store.change(call, account.uid, {})
    if fresh is None:
        raise e.NotAuthenticated
    if policies.accepted(fresh) == version:
        raise e.PolicyAcceptedAlready
    source = f"{call.issuer}/privacy-policy" if call.visit else "API"
    private = policies.acceptance(fresh, version, source, call.now)
    after = store.change(call, fresh.uid, {"private": private}) or fresh
    call.ledger.record("privacy_policy.accepted", uid=after.uid, version=version)
    events.emit(call, "UpdateProfile", after, False)
    return after


def history(call: Call, account: Account) -> PolicyHistory:
    """Return what the account accepted. Raises NoPrivacyPolicy where the tenant has none."""
    if not call.tenant.settings.privacy_policy.versions:
        raise e.NoPrivacyPolicy
    held = [AcceptedPolicy.model_validate(entry) for entry in policies.history_of(account)]
    return PolicyHistory(uid=account.uid, current=held[0] if held else None, history=held)
