"""A new account, made by the tenant's servers (interface account.md row A01)."""

from __future__ import annotations

from typing import Any

from app.contract import errors as e
from app.contract.accounts import CreateAccount
from app.contract.profile import Write
from app.identity.accounts import editing, store
from app.identity.accounts.account import Account
from app.identity.accounts.identifiers import EMAIL, PHONE, USERNAME
from app.identity.call import Call
from app.identity.management import registration
from app.identity.management.refusals import refuse_policy_version, refuse_questions, taken
from app.identity.management.registration import Emails
from app.identity.passwords import answers, setting
from app.identity.passwords.setting import WORDS
from app.identity.tasks import events
from app.kit import randomness

WRITERS = frozenset({Write.ANYONE, Write.REGISTRATION})


def create(call: Call, req: CreateAccount) -> Account:
    """Create an account with everything that the request says of it. No mail is sent.

    Everything is checked, and the password hashed, before the first write.

    Raises:
        PasswordMissing: the registration model needs one.
        MalformedEmail: neither an email nor a username nor a phone is given, or the email is none.
        EmailRegistered, UsernameTaken, PhoneTaken, UidTaken: another account of the tenant has it.
        BadParameter and the refusals of `registration`, `editing`, `passwords.policy`: malformed members.
    """
    settings = call.tenant.settings
    addresses = registration.emails(req.email or ())
    username = registration.username(req.user_name) if req.user_name else None
    phone = registration.phone(req.phone_id) if req.phone_id else None
    if not (addresses.forms or username or phone):
        raise e.MalformedEmail
    edits = editing.read(req.free, WRITERS, clears=False, custom_fields=settings.custom_fields, today=call.now.date())
    uid = registration.uid(settings, req.uid)
    refuse_policy_version(req.privacy_policy)
    refuse_questions(settings, req.security_question_answer)
    if not req.password:
        raise e.PasswordMissing
    if settings.custom_uid and store.is_previous_uid(call, uid):
        raise e.UidTaken
    profile = edits.apply({"RegistrationSource": req.registration_source or "API"})
    known = [*addresses.forms, username, phone, *(profile.get(name) for name in WORDS)]
    row = _row(call, req, uid, addresses, username, phone)
    row["password_hash"] = setting.hashed(call, req.password, known)
    row["profile"] = profile
    row["private"] = _private(call, req, uid)
    account = _add(call, row, addresses, username, phone)
    events.emit(call, "CreateTraditionalAccount", account, req.is_silent)
    return account


def _row(
    call: Call, req: CreateAccount, uid: str, addresses: Emails, username: str | None, phone: str | None
) -> dict[str, Any]:
    return {
        "uid": uid,
        "profile_id": randomness.uid(),
        "email": addresses.primary,
        "emails": addresses.shown,
        "username": username,
        "phone": phone,
        "email_verified": bool(req.email_verified and addresses.forms),
        "phone_verified": bool(req.phone_id_verified and phone),
        "login_disabled": bool(req.disable_login),
        "password_changed_at": call.now,
        "created_at": call.now,
        "modified_at": call.now,
        "profile_modified_at": call.now,
    }


def _private(call: Call, req: CreateAccount, uid: str) -> dict[str, Any]:
    kept: dict[str, Any] = {"is_secure_password": call.tenant.settings.password_policy.common_check}
    if uid == req.uid:
        kept["is_custom_uid"] = True
    if req.security_question_answer:
        kept["security_answers"] = answers.hashed(call, req.security_question_answer)
    return kept


def _add(call: Call, row: dict[str, Any], addresses: Emails, username: str | None, phone: str | None) -> Account:
    held = [(EMAIL, form, bool(row["email_verified"])) for form in addresses.forms]
    held += [(USERNAME, username, True)] if username else []
    held += [(PHONE, phone, bool(row["phone_verified"]))] if phone else []
    try:
        return store.add(call, row, held)
    except store.Taken as conflict:
        raise taken(conflict) from None
