"""Refusals that creating and changing an account share."""

from __future__ import annotations

from collections.abc import Iterable

from app.contract import errors as e
from app.contract.accounts import PolicyVersion
from app.contract.configuration import TenantSettings
from app.contract.errors.federation import IdentityTaken
from app.identity.directory.accounts.store import IdentifierTaken
from app.kit.errors import ApiError

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
