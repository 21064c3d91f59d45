"""Checks the identifiers of the registration model (interface user.md section 1.1); needs no store."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from app.contract import errors as e
from app.contract.accounts import EmailEntry, PolicyVersion
from app.contract.configuration import TenantSettings
from app.contract.errors.federation import IdentityTaken
from app.contract.operations import taken_uids
from app.identity.directory.accounts import confusables, identifiers
from app.identity.directory.accounts.store import IdentifierTaken
from app.kit import randomness
from app.kit.errors import ApiError

PRIMARY = "primary"
MOST_EMAILS = 10
"""How many addresses an account may have, those included that it did not prove yet."""


@dataclass(frozen=True)
class Emails:
    """An account's addresses: `shown` in the order that the profile has, `forms` as they are compared."""

    shown: list[dict[str, str]] = field(default_factory=list)
    forms: tuple[str, ...] = ()

    @property
    def first_held(self) -> list[dict[str, Any]]:
        """The addresses as somebody's own account keeps them: all but the primary one wait until they are proved."""
        return [*self.shown[:1], *self.waiting[1:]]

    @property
    def waiting(self) -> list[dict[str, Any]]:
        """The addresses as they are kept while none of them is proved, nor was there when the account began."""
        return [{**entry, "pending": True} for entry in self.shown]

    @property
    def primary(self) -> str | None:
        return self.shown[0]["Value"] if self.shown else None


def emails(given: Sequence[EmailEntry]) -> Emails:
    """Return the addresses, the primary one first.

    Raises 1201 no type, 1038 no address, 1202 one address twice, 1203 more than one Primary.
    """
    if any(not (entry.type or "").strip() for entry in given):
        raise e.EmailTypeMissing
    ordered = sorted(given, key=lambda entry: not _is_primary(entry))
    forms = tuple(identifiers.normalize_email(entry.value or "") or "" for entry in ordered)
    if "" in forms or any(confusables.has_invisible_character(form) for form in forms):
        raise e.MalformedEmail
    if len(set(forms)) < len(forms):
        raise e.EmailTwice
    if sum(_is_primary(entry) for entry in ordered) > 1:
        raise e.PrimaryEmailTwice
    shown = [
        {"Type": (entry.type or "").strip(), "Value": identifiers.display_email(entry.value or "")} for entry in ordered
    ]
    return Emails(shown, forms)


def username(settings: TenantSettings, text: str, held: str | None = None) -> str:
    """Return the username's form; raises 1204 for its length or a space, 1024 for letters that are not allowed.

    Where numbers sign in, what our pages would read as one is no username: it could not sign in there.

    Args:
        held: the one that the account has: it may stay, whatever it is made of.
    """
    if not identifiers.is_username_length(text):
        raise e.MalformedUsername
    form = identifiers.normalize_username(text)
    if form is None:
        raise e.UsernameFormatRefused if identifiers.is_username_length(text.casefold()) else e.MalformedUsername
    is_number = settings.phone_login and identifiers.looks_like_phone(form)
    if form != held and (
        is_number or confusables.has_invisible_character(text) or not confusables.is_single_script(form)
    ):
        raise e.UsernameFormatRefused
    return form


def phone(text: str) -> str:
    """Return the phone number as E.164; raises 1096."""
    form = identifiers.normalize_phone(text)
    if form is None:
        raise e.MalformedPhone
    return form


def uid(settings: TenantSettings, wished: str | None) -> str:
    """Return the new account's id: the wished one where the tenant allows that; raises 1200."""
    if not wished or not settings.custom_uid:
        return randomness.uid()
    if not identifiers.is_allowed_uid(wished) or wished.lower() in taken_uids():
        raise e.MalformedUid
    return wished


def _is_primary(entry: EmailEntry) -> bool:
    return (entry.type or "").strip().lower() == PRIMARY


_TAKEN: dict[str, type[ApiError]] = {
    "email": e.EmailRegistered,
    "username": e.UsernameTaken,
    "phone": e.PhoneTaken,
    "uid": e.UidTaken,
    "identity": IdentityTaken,
}


def taken(conflict: IdentifierTaken) -> ApiError:
    """Return the interface's error for an identifier of another account."""
    return _TAKEN[conflict.kind]()


def refuse_policy_version(settings: TenantSettings, accepted: PolicyVersion | None) -> None:
    """Raise 1197 for a version of the privacy policy that the tenant does not have."""
    known = [held.version for held in settings.privacy_policy.versions]
    if accepted is not None and accepted.version and accepted.version not in known:
        raise e.UnknownPolicyVersion


def refuse_questions(settings: TenantSettings, asked: Iterable[str] | None) -> None:
    """Raise 1091 for a security question that the tenant did not configure, 1095 where it asks none."""
    if asked and not settings.security_questions:
        raise e.SecurityQuestionsOff
    if any(question not in settings.security_questions for question in asked or ()):
        raise e.UnknownSecurityQuestion
