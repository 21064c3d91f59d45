"""An account as it lay in the store when it was read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from app.identity.directory.accounts import identifiers

IDENTITIES = "identities"
"""Under this name `private` keeps what other providers say of the person (accounts/linked.py)."""
TENANTS_LIMIT, UNLIMITED = 0, -1
"""What the column `session_limit` says where it is no number of sessions: the tenant's limit holds, or none at all."""


@dataclass(frozen=True)
class Account:
    """A person within a tenant. `profile` holds the free fields that are set, spelt as the interface spells them."""

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
    session_limit: int  # of the account alone, as the column has it
    roles: list[str] | None
    emails: list[dict[str, Any]]
    profile: dict[str, Any]
    private: dict[str, Any]
    created_at: datetime
    modified_at: datetime
    profile_modified_at: datetime | None
    last_login_at: datetime | None
    password_changed_at: datetime | None
    leaves_at: datetime | None  # its owner deleted it; until then it can be kept
    read_at: datetime  # when it was read: ages and locks are answered as of then
    password_expires_at: datetime | None  # by the tenant's policy
    sessions_allowed: int  # at once, by the account's own limit or else the tenant's; 0: any number

    @property
    def security_answers(self) -> dict[str, str]:
        """Hashed answers by question id."""
        return self.private.get("security_answers") or {}

    @property
    def pin(self) -> dict[str, Any]:
        """What is kept of the PIN (identity/pins): `sealed` where there is one, and when it was set or skipped."""
        return self.private.get("pin") or {}

    @property
    def has_pin(self) -> bool:
        return bool(self.pin.get("sealed"))

    @property
    def password_history(self) -> list[str]:
        """Hashes of earlier passwords, the newest first."""
        return self.private.get("password_history") or []

    @property
    def is_locked_now(self) -> bool:
        """Whether a lock holds; a suspension ends by itself."""
        return self.is_locked and not (self.locked_until is not None and self.locked_until <= self.read_at)


def limit_column(stated: int | None) -> int:
    """Return what is kept of a limit of sessions: 0 lifts the tenant's for this account, None leaves it to the tenant."""
    return TENANTS_LIMIT if stated is None else stated or UNLIMITED


def sessions_allowed(column: int, tenants_limit: int) -> int:
    """Return the limit that is enforced (interface limits.md section 6: the account's wins); 0: none."""
    return tenants_limit if column == TENANTS_LIMIT else max(column, 0)


def full_name(account: Account) -> str | None:
    """Return first and last name, as far as they are known."""
    return name_in(account.profile)


def name_in(profile: Mapping[str, Any]) -> str | None:
    """Return the name that a profile says."""
    return " ".join(name for name in (profile.get("FirstName"), profile.get("LastName")) if name) or None


def is_verified(account: Account, email: str) -> bool:
    """Return whether the account's address, in any spelling, is verified: as it is kept with the address, never inferred."""
    form = identifiers.normalize_email(email)
    held = next((one for one in account.emails if identifiers.normalize_email(one["Value"]) == form), None)
    if held is None or held.get("pending"):
        return False
    if form == identifiers.normalize_email(account.email or ""):
        return account.email_verified
    return held.get("verified") is True
