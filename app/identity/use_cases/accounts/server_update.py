"""Changes of an account by the tenant's servers."""

from __future__ import annotations

from typing import Any

from app.contract.accounts.account_operations import AccountIdentifiers, AccountUpdateFields
from app.identity.authentication.recovery import new_password
from app.identity.authentication.registration.drafts import WRITERS
from app.identity.authentication.sign_in.sessions import sessions
from app.identity.authentication.sign_in.sessions.revocation import end_sessions_and_tokens
from app.identity.credentials import notifications
from app.identity.credentials.tokens import tokens
from app.identity.directory.accounts import account_store, identifiers, privacy_policy, provider_tokens
from app.identity.directory.accounts.account import Account, can_sign_in, limit_column
from app.identity.directory.accounts.changes.checked_update import ChangedAccount, Columns
from app.identity.directory.accounts.identifiers import EMAIL, PHONE
from app.identity.directory.accounts.input_checks import refuse_policy_version
from app.identity.directory.accounts.login_attempts import login_records
from app.identity.directory.accounts.login_attempts.login_records import LockKind
from app.identity.directory.provisioning import provisioned_user_store
from app.identity.platform import continuation_tokens, events
from app.identity.platform.context import Context
from app.identity.platform.continuation_tokens import ContinuationPurpose
from app.identity.use_cases.accounts import account_update

LOCKED: dict[str, Any] = {"is_locked": True, "lock_type": LockKind.BLOCK, "locked_until": None}


def change(context: Context, account: Account, req: AccountUpdateFields, names: AccountIdentifiers | None) -> Account:
    """Change an account and return the changed account.

    An account that is closed, or gets another password, loses its sessions and tokens.

    Raises UnknownPolicyVersion, and the refusals of `account_update`.
    """
    refuse_policy_version(context.tenant.settings, req.privacy_policy)
    drops = bool(names and "user_name" in names.model_fields_set and names.user_name is None and req.null_support)
    requested = account_update.read(
        context, account, req, names, writers=WRITERS, clears=req.null_support, drops_username=drops
    )

    def more(fresh: Account, values: Columns) -> Columns:
        _verify(context, req, fresh, values)
        return {**_switches(req), **_source(context, req, fresh, values), **_policy(context, req, fresh, values)}

    changed = account_update.write(context, account.uid, requested, more)
    if req.is_active is not None:  # whoever decides now is not overruled by an identity provider that decided before
        provisioned_user_store.forget_blocks(context, account.uid)
    _end_sessions(context, changed)
    if changed.after.is_deleted:
        provider_tokens.delete_all(context, changed.after)
    notifications.notify_profile_changes(context, changed.before, changed.after)
    if changed.has_new_password:
        new_password.after_change(context, changed.after, "UpdateProfile")
        new_password.emit_first_password(context, changed.before, changed.after)
    events.emit(context, "UpdateProfile", changed.after)
    if changed.before.is_active and not changed.after.is_active:
        events.emit(context, "BlockAccount", changed.after)
    return changed.after


def _switches(req: AccountUpdateFields) -> Columns:
    switches = {
        "is_active": req.is_active,
        "is_deleted": req.is_deleted,
        "email_verified": req.email_verified,
        "phone_verified": req.phone_id_verified,
        "login_disabled": req.disable_login,
    }
    values: Columns = {name: value for name, value in switches.items() if value is not None}
    if req.is_deleted is False:
        values["leaves_at"] = None
    if req.session_limit is not None or ("session_limit" in req.model_fields_set and req.null_support):
        values["session_limit"] = limit_column(req.session_limit)
    if req.is_login_locked is not None:
        values.update(LOCKED if req.is_login_locked else login_records.UNLOCKED)
    return values


def _source(context: Context, req: AccountUpdateFields, fresh: Account, values: Columns) -> Columns:
    profile = values.get("profile", fresh.profile)
    if not req.registration_source or profile.get("RegistrationSource") == req.registration_source:
        return {}
    return {"profile": {**profile, "RegistrationSource": req.registration_source}, "profile_modified_at": context.now}


def _policy(context: Context, req: AccountUpdateFields, fresh: Account, values: Columns) -> Columns:
    version = req.privacy_policy.version if req.privacy_policy else None
    if not version or privacy_policy.accepted_version(fresh) == version:
        return {}
    accepted = privacy_policy.acceptance(fresh, version, "API", context.now)
    return {"private": {**accepted, **values.get("private", {}), **_only_policy(accepted)}}


def _only_policy(private: dict[str, Any]) -> dict[str, Any]:
    return {name: item for name, item in private.items() if name.startswith("privacy_policy")}


def _verify(context: Context, req: AccountUpdateFields, fresh: Account, values: Columns) -> None:
    email, phone = values.get("email", fresh.email), values.get("phone", fresh.phone)
    if req.email_verified is not None and email:
        account_store.set_verified(context, fresh.uid, EMAIL, identifiers.normalize_email(email), req.email_verified)
    if req.phone_id_verified is not None and phone:
        account_store.set_verified(context, fresh.uid, PHONE, phone, req.phone_id_verified)


def _end_sessions(context: Context, changed: ChangedAccount) -> None:
    before, after = changed.before, changed.after
    is_closed = not can_sign_in(after)
    was_closed = not can_sign_in(before)
    if changed.has_new_password:
        end_sessions_and_tokens(context, after, reason="closed" if is_closed else "password")
    elif is_closed and not was_closed:  # other sign-ins that have begun are refused with the state of the account
        sessions.end_all(context, after.uid, reason="account_delete")
        tokens.revoke_all(context, after.uid)
        continuation_tokens.revoke_all(context, after.uid, ContinuationPurpose.SMART_LOGIN)
        context.audit.record("sessions.ended", uid=after.uid, reason="closed")
