"""Validates account data of requests: required parameters, identifiers, policy version, security questions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from app.contract import errors
from app.contract.accounts.account_operations import EmailEntry, PolicyVersion
from app.contract.catalogue import taken_uids
from app.contract.federation.errors import IdentityTaken
from app.contract.tenants.settings import TenantSettings
from app.identity.directory.accounts import confusables, identifiers
from app.identity.directory.accounts.account_store import IdentifierTaken
from app.identity.directory.accounts.email_list import PRIMARY, EmailAddress, EmailList
from app.kit import randomness
from app.kit.operations.errors import ApiError


def require_parameter(name: str, value: str | None) -> str:
    """Return a required parameter; raises BadParameter where it is absent or empty."""
    if not value:
        raise errors.BadParameter.names(name)
    return value


def emails(entries_sent: Sequence[EmailEntry]) -> EmailList:
    """Validate the addresses and return them, the primary one first.

    Raises EmailTypeMissing, MalformedEmail, EmailTwice for a duplicate address, PrimaryEmailTwice for more than one Primary.
    """
    if any(not (entry.type or "").strip() for entry in entries_sent):
        raise errors.EmailTypeMissing
    ordered = sorted(entries_sent, key=lambda entry: not _is_primary(entry))
    forms = [identifiers.normalize_email(entry.value or "") or "" for entry in ordered]
    if "" in forms or any(confusables.has_invisible_character(normalized) for normalized in forms):
        raise errors.MalformedEmail
    if len(set(forms)) < len(forms):
        raise errors.EmailTwice
    if sum(_is_primary(entry) for entry in ordered) > 1:
        raise errors.PrimaryEmailTwice
    addresses = tuple(
        EmailAddress(identifiers.display_email(entry.value or ""), (entry.type or "").strip()) for entry in ordered
    )
    return EmailList(addresses, addresses[0].value if addresses else None)


def username(settings: TenantSettings, text: str, current: str | None = None) -> str:
    """Return the normalized username.

    Raises MalformedUsername for its length or a space, UsernameFormatRefused for characters that are not allowed.

    If phone numbers can sign in, a username that looks like one is rejected, because the login page would misread it.

    Args:
        current: the account's current username, which is always allowed.
    """
    if not identifiers.is_username_length(text):
        raise errors.MalformedUsername
    normalized = identifiers.normalize_username(text)
    if normalized is None:
        raise (
            errors.UsernameFormatRefused
            if identifiers.is_username_length(text.casefold())
            else errors.MalformedUsername
        )
    is_number = settings.phone_login and identifiers.looks_like_phone(normalized)
    if normalized != current and (
        is_number or confusables.has_invisible_character(text) or not confusables.is_single_script(normalized)
    ):
        raise errors.UsernameFormatRefused
    return normalized


def phone(text: str) -> str:
    """Return the phone number as E.164; raises MalformedPhone."""
    normalized = identifiers.normalize_phone(text)
    if normalized is None:
        raise errors.MalformedPhone
    return normalized


def uid(settings: TenantSettings, requested: str | None) -> str:
    """Return the id of a new account: the requested one if the tenant allows custom ids. Raises MalformedUid."""
    if not requested or not settings.custom_uid:
        return randomness.uid()
    if not identifiers.is_allowed_uid(requested) or requested.lower() in taken_uids():
        raise errors.MalformedUid
    return requested


def _is_primary(entry: EmailEntry) -> bool:
    return (entry.type or "").strip().lower() == PRIMARY


_TAKEN: dict[str, type[ApiError]] = {
    "email": errors.EmailRegistered,
    "username": errors.UsernameTaken,
    "phone": errors.PhoneTaken,
    "uid": errors.UidTaken,
    "identity": IdentityTaken,
}


def taken(conflict: IdentifierTaken) -> ApiError:
    """Return the interface's error for an identifier that another account has."""
    return _TAKEN[conflict.kind]()


def refuse_policy_version(settings: TenantSettings, accepted: PolicyVersion | None) -> None:
    """Raise UnknownPolicyVersion for an unknown version of the privacy policy."""
    versions = [version.version for version in settings.privacy_policy.versions]
    if accepted is not None and accepted.version and accepted.version not in versions:
        raise errors.UnknownPolicyVersion


def refuse_questions(settings: TenantSettings, questions: Iterable[str] | None) -> None:
    """Raise UnknownSecurityQuestion for a question that the tenant did not configure, SecurityQuestionsOff if it has none."""
    if questions and not settings.security_questions:
        raise errors.SecurityQuestionsOff
    if any(question not in settings.security_questions for question in questions or ()):
        raise errors.UnknownSecurityQuestion


def refuse_own_answers(settings: TenantSettings, stored: Mapping[str, str], answers: Mapping[str, str] | None) -> None:
    """Refuse answers by the account's owner, who may replace those that the account has, or give the first ones.

    Raises SecurityQuestionsOff, UnknownSecurityQuestion, BadParameter.
    """
    if not answers:
        return
    if not settings.security_questions:
        raise errors.SecurityQuestionsOff
    if stored and any(question not in stored for question in answers):
        raise errors.UnknownSecurityQuestion
    if any(not text.strip() for text in answers.values()):
        raise errors.BadParameter("The SecurityQuestionAnswer must not be empty.")
