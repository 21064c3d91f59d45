"""The account as an immutable value read from the store."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Any, Final, NamedTuple

from app.identity.directory.accounts import identifiers
from app.identity.directory.accounts.email_list import EmailList

BLOCK: Final = "Block"
"""The `lock_type` of a lock that only an administrator opens."""
IDENTITIES = "identities"
"""The key in `private` of linked identities (linked_identities.py)."""
TENANT_LIMIT, UNLIMITED = 0, -1
"""Special values of the column `session_limit`: use the tenant's limit, or no limit."""


class ProfileOrganizations(NamedTuple):
    """What a profile shows of the account's organizations."""

    entries: list[dict[str, Any]]
    """Of the member Organizations."""
    password_days: int | None = None
    """The shortest expiry of passwords by their policies; None: by the tenant's alone."""


def no_organizations() -> ProfileOrganizations:
    return ProfileOrganizations([])


@dataclass(frozen=True)
class Account:
    """A person within a tenant. `profile` contains the free fields that are set, with their names in the interface."""

    uid: str
    profile_id: str
    password_hash: str | None
    email: str | None
    username: str | None
    phone: str | None
    email_verified: bool
    phone_verified: bool
    is_active: bool
    is_deleted: bool
    login_disabled: bool
    failed_attempts: int
    lock_type: str
    locked_until: datetime | None
    is_locked: bool
    logins: int
    session_limit: int  # the column of the account
    roles: list[str] | None  # names, sorted, without those of its role contexts
    emails: list[dict[str, Any]]  # the column, which `email_list` decodes
    profile: dict[str, Any]
    private: dict[str, Any]
    created_at: datetime
    modified_at: datetime
    profile_modified_at: datetime | None
    last_login_at: datetime | None
    password_changed_at: datetime | None
    leaves_at: datetime | None  # the owner deleted it; it can be restored until then
    read_at: datetime  # ages and locks are relative to this time
    password_expires_at: datetime | None  # by the tenant's policy
    sessions_allowed: int  # concurrent sessions, by the account's or the tenant's limit; 0: unlimited
    has_organizations: bool | None = None
    organizations: Callable[[], ProfileOrganizations] = field(default=no_organizations, compare=False)
    """Reads the organizations of a profile; makes a query only for an account that joined one."""

    @cached_property
    def email_list(self) -> EmailList:
        """The addresses, pending ones included."""
        return EmailList.read(self.emails, self.email, email_verified=self.email_verified)

    @property
    def has_verified_email(self) -> bool:
        return self.email_verified or bool(self.email_list.verified)

    @property
    def security_answers(self) -> dict[str, str]:
        """Hashed answers by question id."""
        return self.private.get("security_answers") or {}

    @property
    def pin(self) -> dict[str, Any]:
        """The PIN entry (pin_hash.py): `sealed` if a PIN is set, and when it was set or skipped."""
        return self.private.get("pin") or {}

    @property
    def has_pin(self) -> bool:
        return bool(self.pin.get("sealed"))

    @property
    def password_history(self) -> list[str]:
        """Hashes of earlier passwords, newest first."""
        return self.private.get("password_history") or []

    @property
    def is_locked_now(self) -> bool:
        """Whether the account is locked; a suspension expires."""
        return self.is_locked and not (self.locked_until is not None and self.locked_until <= self.read_at)

    @property
    def is_blocked(self) -> bool:
        """Whether only an administrator lets the account sign in again: it is inactive, or has a lock of the type Block."""
        return not self.is_active or (self.is_locked_now and self.lock_type == BLOCK)


def limit_column(limit: int | None) -> int:
    """Return the column value of a session limit: 0 means unlimited, None means the tenant's limit."""
    return TENANT_LIMIT if limit is None else limit or UNLIMITED


def full_name(account: Account) -> str | None:
    """Return first and last name, as far as known."""
    return name_in(account.profile)


def name_in(profile: Mapping[str, Any]) -> str | None:
    """Return the name in a profile."""
    return " ".join(name for name in (profile.get("FirstName"), profile.get("LastName")) if name) or None


def verified_email(account: Account) -> str | None:
    """Return the primary address if it is verified: where emails to the account go."""
    return account.email if account.email and is_verified(account, account.email) else None


def can_sign_in(account: Account) -> bool:
    """Return whether the account is neither blocked, nor disabled, nor being deleted."""
    return account.is_active and not account.login_disabled and not account.is_deleted


def can_sign_in_now(account: Account) -> bool:
    """Return whether the account can sign in, and is not locked either."""
    return can_sign_in(account) and not account.is_locked_now


def is_verified(account: Account, email: str) -> bool:
    """Return whether this address of the account, in any spelling, is verified."""
    return account.email_list.is_verified(identifiers.normalize_email(email))
