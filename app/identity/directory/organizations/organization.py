"""Organizations, roles and memberships as immutable values read from the store."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any, Final

from app.contract.organizations.models import Policies

MANAGE: Final = "org:manage"
"""The permission of those who administer their own organization."""
OWN: Final = "org:own"
"""The permission of the owners of an organization."""


@dataclass(frozen=True)
class OrganizationRecord:
    """A company among the tenant's customers."""

    org_id: str
    name: str
    display: dict[str, Any]  # by the interface's names
    metadata: dict[str, Any]
    policies: dict[str, Any]  # by the interface's names; only the policies that are set
    is_active: bool
    created_at: datetime
    modified_at: datetime

    @cached_property
    def policy(self) -> Policies:
        return Policies.model_validate(self.policies)

    @property
    def display_name(self) -> str:
        return str(self.display.get("Name") or self.name)

    @property
    def public_name(self) -> str:
        """The name that anyone may see (decision 0196); empty for an organization whose name only its members know."""
        return str(self.display.get("Name") or (self.name if self.display else ""))

    @property
    def logo_url(self) -> str | None:
        return self.display.get("LogoURL")

    @property
    def color(self) -> str | None:
        return self.display.get("Color")

    @property
    def theme_name(self) -> str:
        """The name of the theme of its pages; empty for none."""
        return str(self.display.get("ThemeName") or "")

    @property
    def default_role_id(self) -> str | None:
        """The role of new members by the organization's policy; None: the tenant's default role."""
        return self.policy.member_policy.default_member_role

    @property
    def seats(self) -> int | None:
        """The most members; None: no limit."""
        return self.policy.member_policy.seats


@dataclass(frozen=True)
class PermissionRecord:
    """What a role may do, for example `read:users`."""

    permission_id: str
    name: str
    original_name: str
    description: str
    created_at: datetime
    modified_at: datetime


@dataclass(frozen=True)
class RoleRecord:
    """An organization role: of the tenant, for all organizations, or of one organization."""

    role_id: str
    org_id: str  # empty for a role of the tenant
    name: str
    original_name: str
    description: str
    is_default: bool  # of the tenant
    created_at: datetime
    modified_at: datetime

    @property
    def is_of_tenant(self) -> bool:
        return not self.org_id

    def fits(self, org_id: str) -> bool:
        """Return whether members of an organization can have the role."""
        return self.org_id in ("", org_id)


@dataclass(frozen=True)
class MemberRole:
    """A role of a membership, by id and name."""

    role_id: str
    name: str


@dataclass(frozen=True)
class Membership:
    """An account in an organization."""

    organization: OrganizationRecord
    roles: tuple[MemberRole, ...]  # by name
    permissions: frozenset[str]  # names, of all roles

    @property
    def is_administrator(self) -> bool:
        """Whether the account may administer the organization."""
        return bool(self.permissions & {MANAGE, OWN})


@dataclass(frozen=True)
class Owners:
    """The owners of an organization. `able`: those who can sign in."""

    uids: frozenset[str]
    able: frozenset[str]

    def is_last(self, uid: str) -> bool:
        """Return whether the organization would have no owner who can sign in without this one."""
        return uid in self.uids and self.able <= {uid}


@dataclass(frozen=True)
class MemberRecord:
    """An account in an organization, as those who manage the organization see it."""

    uid: str
    name: str  # first and last name; empty if unknown
    label: str  # email, username or phone
    since: datetime
    roles: tuple[MemberRole, ...]


@dataclass(frozen=True)
class AccountRoleRecord:
    """A role of an account in an organization."""

    user_role_id: str
    uid: str
    org_id: str
    role_id: str
    email: str | None
    created_at: datetime
