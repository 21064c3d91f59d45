"""Changes of an account by the tenant's servers (interface account.md row A05)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from app.contract import errors as e
from app.contract.accounts import AccountChanges, Names
from app.identity.accounts import editing, identifiers, naming, store
from app.identity.accounts.account import Account
from app.identity.accounts.identifiers import EMAIL, PHONE, USERNAME
from app.identity.accounts.naming import Emails
from app.identity.accounts.refusals import refuse_policy_version, refuse_questions, taken
from app.identity.call import Call
from app.identity.passwords import answers, setting
from app.identity.passwords.setting import WORDS
from app.identity.registration.drafting import WRITERS
from app.identity.sign_in import sessions
from app.identity.tasks import events
from app.identity.tokens import service as tokens

UNLOCKED: dict[str, Any] = {"is_locked": False, "lock_type": "None", "locked_until": None, "failed_attempts": 0}
LOCKED: dict[str, Any] = {"is_locked": True, "lock_type": "Block", "locked_until": None}


@dataclass(frozen=True)
class Wanted:
    """What a request asks, checked; nothing of it needs the store any more."""

    edits: editing.Edits
    addresses: Emails | None
    username: str | None
    drops_username: bool
    phone: str | None
    password_hash: str | None
    answers: dict[str, str]


def change(call: Call, account: Account, req: AccountChanges, names: Names | None) -> Account:
    """Change an account and return it as it is then.

    The row is locked before it is read again, so that two changes at once lose nothing of one another. An account that
    is closed, or gets another password, loses its sessions and tokens.

    Raises:
        EmailUpdateRefused: other addresses than it has; those have operations of their own.
        UnknownUid: it was deleted meanwhile.
        UsernameTaken, EmailRegistered, PhoneTaken: another account of the tenant has it.
        BadParameter and the refusals of `naming`, `editing`, `passwords.policy`: malformed members.
    """
    wanted = _wanted(call, account, req, names)
    fresh = store.change(call, account.uid, {})
    if fresh is None:
        raise e.UnknownUid
    values = _switches(req)
    values.update(_free(call, req, wanted, fresh))
    values.update(_secrets(call, wanted, fresh))
    try:
        values.update(_identifiers(call, wanted, fresh))
    except store.Taken as conflict:
        raise taken(conflict) from None
    _verify(call, req, fresh, values)
    after = store.change(call, account.uid, values)
    if after is None:
        raise e.UnknownUid
    _end_sessions(call, fresh, after)
    events.emit(call, "UpdateProfile", after, req.is_silent)
    if fresh.is_active and not after.is_active:
        events.emit(call, "BlockAccount", after, req.is_silent)
    return after


def _wanted(call: Call, account: Account, req: AccountChanges, names: Names | None) -> Wanted:
    settings = call.tenant.settings
    today = call.now.date()
    edits = editing.read(req.free, WRITERS, clears=req.null_support, custom_fields=settings.custom_fields, today=today)
    addresses = naming.emails(names.email) if names and names.email else None
    username = naming.username(names.user_name) if names and names.user_name else None
    drops = bool(names and "user_name" in names.model_fields_set and names.user_name is None and req.null_support)
    phone = naming.phone(req.phone_id) if req.phone_id else None
    refuse_policy_version(req.privacy_policy)
    refuse_questions(settings, req.security_question_answer)
    password_hash = None
    if req.password:
        profile = edits.apply(account.profile)
        words = [account.email, username or account.username, phone or account.phone, *map(profile.get, WORDS)]
        earlier = [account.password_hash or "", *account.password_history]
        password_hash = setting.hashed(call, req.password, words, earlier)
    call.work.pause()
    kept = answers.hashed(call, req.security_question_answer or {})
    return Wanted(edits, addresses, username, drops, phone, password_hash, kept)


def _switches(req: AccountChanges) -> dict[str, Any]:
    stated = {
        "is_active": req.is_active,
        "is_deleted": req.is_deleted,
        "email_verified": req.email_verified,
        "phone_verified": req.phone_id_verified,
        "login_disabled": req.disable_login,
    }
    values = {name: value for name, value in stated.items() if value is not None}
    if req.is_login_locked is not None:
        values.update(LOCKED if req.is_login_locked else UNLOCKED)
    return values


def _free(call: Call, req: AccountChanges, wanted: Wanted, fresh: Account) -> dict[str, Any]:
    profile = wanted.edits.apply(fresh.profile)
    if req.registration_source:
        profile["RegistrationSource"] = req.registration_source
    return {"profile": profile, "profile_modified_at": call.now} if profile != fresh.profile else {}


def _secrets(call: Call, wanted: Wanted, fresh: Account) -> dict[str, Any]:
    private = dict(fresh.private)
    values: dict[str, Any] = {}
    if wanted.answers:
        private["security_answers"] = {**fresh.security_answers, **wanted.answers}
    if wanted.password_hash:
        policy = call.tenant.settings.password_policy
        earlier = [fresh.password_hash, *fresh.password_history] if fresh.password_hash else fresh.password_history
        private["password_history"] = earlier[: max(0, policy.history - 1)]
        private["is_secure_password"] = policy.common_check
        values = {"password_hash": wanted.password_hash, "password_changed_at": call.now}
    return {**values, "private": private} if private != fresh.private or values else {}


def _identifiers(call: Call, wanted: Wanted, fresh: Account) -> dict[str, Any]:
    """Take and let go identifiers; return the columns that show them. Raises store.Taken, 1174."""
    values: dict[str, Any] = {}
    taken_now = []
    if wanted.addresses is not None:
        held = {identifiers.normal_email(entry["Value"]) for entry in fresh.emails}
        if fresh.emails and held != set(wanted.addresses.forms):
            raise e.EmailUpdateRefused
        if not fresh.emails:
            values.update(email=wanted.addresses.primary, emails=wanted.addresses.shown)
            taken_now += [(EMAIL, form, False) for form in wanted.addresses.forms]
    if wanted.phone is not None and fresh.phone is None:
        values["phone"] = wanted.phone
        taken_now.append((PHONE, wanted.phone, False))
    if wanted.drops_username or (wanted.username is not None and wanted.username != fresh.username):
        store.let_go(call, fresh.uid, USERNAME)
        values["username"] = wanted.username
        taken_now += [(USERNAME, wanted.username, True)] if wanted.username else []
    store.hold(call, fresh.uid, taken_now)
    return values


def _verify(call: Call, req: AccountChanges, fresh: Account, values: dict[str, Any]) -> None:
    email, phone = values.get("email", fresh.email), values.get("phone", fresh.phone)
    if req.email_verified is not None and email:
        store.verify(call, fresh.uid, EMAIL, identifiers.normal_email(email), req.email_verified)
    if req.phone_id_verified is not None and phone:
        store.verify(call, fresh.uid, PHONE, phone, req.phone_id_verified)


def _end_sessions(call: Call, before: Account, after: Account) -> None:
    is_closed = not after.is_active or after.is_deleted or after.login_disabled
    was_closed = not before.is_active or before.is_deleted or before.login_disabled
    if (is_closed and not was_closed) or after.password_hash != before.password_hash:
        sessions.end_all(call, after.uid)
        tokens.revoke_all(call, after.uid)
        call.ledger.record("sessions.ended", uid=after.uid, reason="closed" if is_closed else "password")
