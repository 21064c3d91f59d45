"""Changes of an account by the tenant's servers (interface account.md row A05)."""

from __future__ import annotations

from typing import Any

from app.contract.accounts import AccountChanges, Names
from app.identity.accounts import identifiers, policies, store
from app.identity.accounts.account import Account, limit_column
from app.identity.accounts.identifiers import EMAIL, PHONE
from app.identity.accounts.refusals import refuse_policy_version
from app.identity.call import Call
from app.identity.recovery import renewal
from app.identity.registration.drafting import WRITERS
from app.identity.self_service import changing
from app.identity.self_service.changing import Changed, Columns
from app.identity.sign_in import sessions
from app.identity.tasks import events
from app.identity.tokens import service as tokens
from app.identity.verification import notices

UNLOCKED: dict[str, Any] = {"is_locked": False, "lock_type": "None", "locked_until": None, "failed_attempts": 0}
LOCKED: dict[str, Any] = {"is_locked": True, "lock_type": "Block", "locked_until": None}


def change(call: Call, account: Account, req: AccountChanges, names: Names | None) -> Account:
    """Change an account and return it as it is then.

    An account that is closed, or gets another password, loses its sessions and tokens.

    Raises UnknownPolicyVersion, and what `changing` refuses.
    """
    refuse_policy_version(call.tenant.settings, req.privacy_policy)
    drops = bool(names and "user_name" in names.model_fields_set and names.user_name is None and req.null_support)
    wanted = changing.read(call, account, req, names, writers=WRITERS, clears=req.null_support, drops_username=drops)

    def more(fresh: Account, values: Columns) -> Columns:
        _verify(call, req, fresh, values)
        return {**_switches(req), **_source(call, req, fresh, values), **_policy(call, req, fresh, values)}

    changed = changing.write(call, account.uid, wanted, more)
    _end_sessions(call, changed)
    notices.tell_changes(call, changed.before, changed.after)
    if changed.has_new_password:
        renewal.follow(call, changed.after, "UpdateProfile")
    events.emit(call, "UpdateProfile", changed.after, req.is_silent)
    if changed.before.is_active and not changed.after.is_active:
        events.emit(call, "BlockAccount", changed.after, req.is_silent)
    return changed.after


def _switches(req: AccountChanges) -> Columns:
    stated = {
        "is_active": req.is_active,
        "is_deleted": req.is_deleted,
        "email_verified": req.email_verified,
        "phone_verified": req.phone_id_verified,
        "login_disabled": req.disable_login,
    }
    values: Columns = {name: value for name, value in stated.items() if value is not None}
    if req.is_deleted is False:
        values["leaves_at"] = None
    if req.session_limit is not None or ("session_limit" in req.model_fields_set and req.null_support):
        values["session_limit"] = limit_column(req.session_limit)
    if req.is_login_locked is not None:
        values.update(LOCKED if req.is_login_locked else UNLOCKED)
    return values


def _source(call: Call, req: AccountChanges, fresh: Account, values: Columns) -> Columns:
    profile = values.get("profile", fresh.profile)
    if not req.registration_source or profile.get("RegistrationSource") == req.registration_source:
        return {}
    return {"profile": {**profile, "RegistrationSource": req.registration_source}, "profile_modified_at": call.now}


def _policy(call: Call, req: AccountChanges, fresh: Account, values: Columns) -> Columns:
    version = req.privacy_policy.version if req.privacy_policy else None
    if not version or policies.accepted(fresh) == version:
        return {}
    accepted = policies.acceptance(fresh, version, "API", call.now)
    return {"private": {**accepted, **values.get("private", {}), **_only_policy(accepted)}}


def _only_policy(private: dict[str, Any]) -> dict[str, Any]:
    return {name: held for name, held in private.items() if name.startswith("privacy_policy")}


def _verify(call: Call, req: AccountChanges, fresh: Account, values: Columns) -> None:
    email, phone = values.get("email", fresh.email), values.get("phone", fresh.phone)
    if req.email_verified is not None and email:
        store.verify(call, fresh.uid, EMAIL, identifiers.normal_email(email), req.email_verified)
    if req.phone_id_verified is not None and phone:
        store.verify(call, fresh.uid, PHONE, phone, req.phone_id_verified)


def _end_sessions(call: Call, changed: Changed) -> None:
    before, after = changed.before, changed.after
    is_closed = not after.is_active or after.is_deleted or after.login_disabled
    was_closed = not before.is_active or before.is_deleted or before.login_disabled
    if (is_closed and not was_closed) or changed.has_new_password:
        sessions.end_all(call, after.uid)
        tokens.revoke_all(call, after.uid)
        call.ledger.record("sessions.ended", uid=after.uid, reason="closed" if is_closed else "password")
