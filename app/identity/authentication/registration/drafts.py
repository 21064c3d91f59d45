"""Drafts of new accounts, for registration and account creation: read and validated, then hashed, then added.

Checks without the store come first; the password is hashed before the first write.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from app.contract import errors
from app.contract.accounts.account_operations import EmailEntry, PinInfo
from app.contract.profile import Write
from app.identity.credentials.passwords import new_password_hash, security_answers
from app.identity.credentials.passwords.new_password_hash import PROFILE_FIELDS
from app.identity.credentials.pins import pins
from app.identity.directory.accounts import account_store, input_checks, pin_hash
from app.identity.directory.accounts.account import Account
from app.identity.directory.accounts.email_list import EmailList
from app.identity.directory.accounts.identifiers import EMAIL, PHONE, USERNAME
from app.identity.directory.accounts.input_checks import refuse_questions, taken
from app.identity.directory.accounts.profile import profile_edits
from app.identity.directory.accounts.unverified import pending_accounts
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
class AccountDraft:
    """A validated account, which may still conflict with other accounts."""

    uid: str
    addresses: EmailList
    username: str | None
    phone: str | None
    profile: dict[str, Any]
    password: str = field(repr=False)
    security_answers: Mapping[str, str] = field(repr=False)
    has_own_uid: bool = False
    pin_info: PinInfo | None = field(default=None, repr=False)

    @property
    def words(self) -> list[str | None]:
        """The account's personal words, which the password must not contain."""
        return [*self.addresses.forms, self.username, self.phone, *map(self.profile.get, PROFILE_FIELDS)]


def read(
    context: Context,
    request: RegistrationInput,
    source: str,
    *,
    needs_password: bool = True,
    needs_identifier: bool = True,
) -> AccountDraft:
    """Return the draft of a request. Reads the store only if the tenant allows custom ids.

    Args:
        needs_identifier: whether it must have an email, a username or a phone; otherwise a provider's identity replaces them.

    Raises:
        PasswordMissing: the registration model requires a password.
        MalformedEmail: neither email nor username nor phone is given, or the email is malformed.
        UidTaken: the requested id belonged to an account that has another id now.
        BadParameter and the refusals of `input_checks` and `profile_edits`: malformed members.
    """
    settings = context.tenant.settings
    addresses = input_checks.emails(request.email or ())
    username = input_checks.username(settings, request.user_name) if request.user_name else None
    phone = input_checks.phone(request.phone_id) if request.phone_id else None
    if needs_identifier and not (addresses.forms or username or phone):
        raise errors.MalformedEmail
    today = context.now.date()
    edits = profile_edits.read(request.free, WRITERS, clears=False, custom_fields=settings.custom_fields, today=today)
    uid = input_checks.uid(settings, request.uid)
    refuse_questions(settings, request.security_question_answer)
    if not request.password and needs_password:
        raise errors.PasswordMissing
    if settings.custom_uid and account_store.current_uid(context, uid) is not None:
        raise errors.UidTaken
    profile = edits.apply({"RegistrationSource": source})
    answers_by_question = request.security_question_answer or {}
    has_own_uid = uid == request.uid
    password = request.password or ""
    return AccountDraft(
        uid, addresses, username, phone, profile, password, answers_by_question, has_own_uid, request.pin_info
    )


def to_columns(context: Context, draft: AccountDraft, **overrides: Any) -> dict[str, Any]:
    """Return the account's columns; hashes the password, each security answer and the PIN.

    Args:
        overrides: columns that differ from a new account's; `private` is merged.

    Raises:
        FieldsRefused, WeakPassword, and other refusals of `new_password`.
    """
    password_hash = new_password_hash.hash_if_allowed(context, draft.password, draft.words) if draft.password else None
    private: dict[str, Any] = (
        {"is_secure_password": context.tenant.settings.password_policy.common_check} if password_hash else {}
    )
    if draft.has_own_uid:
        private["is_custom_uid"] = True
    if draft.security_answers:
        private["security_answers"] = security_answers.hash_answers(context, draft.security_answers)
    private |= pin_hash.private_entry(
        context, draft.uid, {}, draft.pin_info, pins.hash_from_profile(context, draft.pin_info)
    )
    emails = draft.addresses.all_verified() if overrides.get("email_verified") else draft.addresses
    return {
        "uid": draft.uid,
        "profile_id": randomness.uid(),
        **emails.columns(),
        "username": draft.username,
        "phone": draft.phone,
        "phone_verified": False,
        "password_hash": password_hash,
        "profile": draft.profile,
        **dict.fromkeys(("created_at", "modified_at", "profile_modified_at"), context.now),
        "password_changed_at": context.now if password_hash else None,
        **overrides,
        "private": {**private, **overrides.get("private", {})},
    }


def add(context: Context, draft: AccountDraft, columns: dict[str, Any]) -> Account:
    """Add the account; raises EmailRegistered, UsernameTaken, PhoneTaken or UidTaken for a conflict with another account."""
    emails = EmailList.read(columns["emails"], columns["email"], email_verified=columns["email_verified"])
    identifiers = emails.identifiers()
    identifiers += [(USERNAME, draft.username, True)] if draft.username else []
    identifiers += (
        [(PHONE, draft.phone, bool(columns["phone_verified"]))]
        if draft.phone and _holds_phone(context, draft, columns)
        else []
    )
    if any(account_store.by_identifier(context, EMAIL, item.normalized) for item in emails.pending):
        raise errors.EmailRegistered
    try:
        return account_store.add(context, columns, identifiers)
    except account_store.IdentifierTaken as conflict:
        raise taken(conflict) from None


def _holds_phone(context: Context, draft: AccountDraft, columns: dict[str, Any]) -> bool:
    """Return whether the new account gets its number at once.

    A self-registered account with another identifier gets a number that another account has unverified only when it
    verifies the number itself.
    """
    is_self_registered = bool(columns["private"].get(pending_accounts.SELF_REGISTERED))
    has_other_identifier = bool(draft.addresses.forms or draft.username)
    return not (
        is_self_registered
        and has_other_identifier
        and draft.phone
        and pending_accounts.is_phone_claimable(context, draft.phone)
    )
