"""Drafts of new accounts: read and validated, then hashed, then added. Registration and account creation share these
steps.

Everything that the store is not needed for is refused first; the password is hashed before the first write.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from app.contract import errors as e
from app.contract.accounts import EmailEntry, PinInfo
from app.contract.profile import Write
from app.identity.credentials.passwords import new_password
from app.identity.credentials.passwords import security_answers as answers
from app.identity.credentials.passwords.new_password import PROFILE_FIELDS
from app.identity.credentials.pins import service as pins
from app.identity.directory.accounts import input_checks, pending_accounts, profile_edits, store
from app.identity.directory.accounts.account import Account
from app.identity.directory.accounts.identifiers import EMAIL, PHONE, USERNAME
from app.identity.directory.accounts.input_checks import Emails, refuse_questions, taken
from app.identity.platform.context import Context
from app.kit import randomness

WRITERS = frozenset({Write.ANYONE, Write.REGISTRATION})
"""The writers of profile members at registration."""


class ProfileInput(Protocol):
    """The profile members of a request."""

    email: list[EmailEntry] | None
    user_name: str | None
    phone_id: str | None
    password: str | None
    security_question_answer: dict[str, str] | None
    pin_info: PinInfo | None

    @property
    def free(self) -> dict[str, Any]: ...


class RegistrationInput(ProfileInput, Protocol):
    """The members of a registration model."""

    uid: str | None


@dataclass(frozen=True)
class Draft:
    """A validated account that only conflicts with other accounts can still refuse."""

    uid: str
    addresses: Emails
    username: str | None
    phone: str | None
    profile: dict[str, Any]
    password: str = field(repr=False)
    security_answers: Mapping[str, str] = field(repr=False)
    has_own_uid: bool = False
    pin_info: PinInfo | None = field(default=None, repr=False)

    @property
    def words(self) -> list[str | None]:
        """The account's personal words, which must not be in the password."""
        return [*self.addresses.forms, self.username, self.phone, *map(self.profile.get, PROFILE_FIELDS)]


def read(context: Context, given: RegistrationInput, source: str, *, needs_password: bool = True) -> Draft:
    """Return the draft of a request. Reads the store only where the tenant allows custom ids.

    Raises:
        PasswordMissing: the registration model requires one.
        MalformedEmail: neither email nor username nor phone is given, or the email is malformed.
        UidTaken: the requested id belonged to an account that has another now.
        BadParameter and the refusals of `identifier_checks` and `profile_edits`: malformed members.
    """
    settings = context.tenant.settings
    addresses = input_checks.emails(given.email or ())
    username = input_checks.username(settings, given.user_name) if given.user_name else None
    phone = input_checks.phone(given.phone_id) if given.phone_id else None
    if not (addresses.forms or username or phone):
        raise e.MalformedEmail
    today = context.now.date()
    edits = profile_edits.read(given.free, WRITERS, clears=False, custom_fields=settings.custom_fields, today=today)
    uid = input_checks.uid(settings, given.uid)
    refuse_questions(settings, given.security_question_answer)
    if not given.password and needs_password:
        raise e.PasswordMissing
    if settings.custom_uid and store.is_previous_uid(context, uid):
        raise e.UidTaken
    profile = edits.apply({"RegistrationSource": source})
    kept = given.security_question_answer or {}
    return Draft(uid, addresses, username, phone, profile, given.password or "", kept, uid == given.uid, given.pin_info)


def to_columns(context: Context, draft: Draft, **more: Any) -> dict[str, Any]:
    """Return the account's columns, the password hashed, if there is one: a hash, one more for each security answer and for the PIN.

    Args:
        more: columns that stand otherwise than in a fresh account; `private` is added to what is kept there.

    Raises FieldsRefused, WeakPassword and what else `passwords.setting` refuses.
    """
    password_hash = new_password.hash_if_allowed(context, draft.password, draft.words) if draft.password else None
    kept: dict[str, Any] = (
        {"is_secure_password": context.tenant.settings.password_policy.common_check} if password_hash else {}
    )
    if draft.has_own_uid:
        kept["is_custom_uid"] = True
    if draft.security_answers:
        kept["security_answers"] = answers.hash_answers(context, draft.security_answers)
    kept |= pins.private_entry(context, draft.uid, {}, draft.pin_info, pins.hash_from_profile(context, draft.pin_info))
    emails: list[dict[str, Any]] = draft.addresses.entries
    if more.get("email_verified"):
        emails = [{**entry, "verified": True} for entry in emails]
    return {
        "uid": draft.uid,
        "profile_id": randomness.uid(),
        "email": draft.addresses.primary,
        "emails": emails,
        "username": draft.username,
        "phone": draft.phone,
        "email_verified": False,
        "phone_verified": False,
        "password_hash": password_hash,
        "profile": draft.profile,
        **dict.fromkeys(("created_at", "modified_at", "profile_modified_at"), context.now),
        "password_changed_at": context.now if password_hash else None,
        **more,
        "private": {**kept, **more.get("private", {})},
    }


def add(context: Context, draft: Draft, columns: dict[str, Any]) -> Account:
    """Add the account. Raises EmailRegistered, UsernameTaken, PhoneTaken, UidTaken: another account of the tenant has
    it.
    """
    named = list(zip(draft.addresses.forms, columns["emails"], strict=True))
    held = [(EMAIL, form, bool(columns["email_verified"])) for form, entry in named if not entry.get("pending")]
    held += [(USERNAME, draft.username, True)] if draft.username else []
    held += (
        [(PHONE, draft.phone, bool(columns["phone_verified"]))]
        if draft.phone and _holds_phone(context, draft, columns)
        else []
    )
    if any(entry.get("pending") and store.by_identifier(context, EMAIL, form) for form, entry in named):
        raise e.EmailRegistered
    try:
        return store.add(context, columns, held)
    except store.IdentifierTaken as conflict:
        raise taken(conflict) from None


def _holds_phone(context: Context, draft: Draft, columns: dict[str, Any]) -> bool:
    """Return whether the account holds its number from the beginning.

    A self-registered account with another identifier holds a number that another account states only when it verifies
    it.
    """
    is_own = bool(columns["private"].get(pending_accounts.SELF_REGISTERED))
    is_named = bool(draft.addresses.forms or draft.username)
    return not (is_own and is_named and draft.phone and pending_accounts.is_phone_claimable(context, draft.phone))
