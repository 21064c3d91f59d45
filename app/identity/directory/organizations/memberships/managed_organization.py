"""Authorizes managers of organizations: the organizations, members and roles that an account may manage."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Final

from app.contract import errors
from app.identity.directory.accounts.account import Account
from app.identity.directory.organizations import organization_names, organization_store
from app.identity.directory.organizations.memberships import membership_store, memberships
from app.identity.directory.organizations.organization import (
    OWN,
    MemberRecord,
    Membership,
    OrganizationRecord,
    Owners,
    RoleRecord,
)
from app.identity.directory.organizations.roles import organization_role_store
from app.identity.platform.context import Context
from app.identity.platform.extension_points import ExtensionPoint


@dataclass(frozen=True)
class ManagedOrganization:
    """An organization that an account manages, and its owners."""

    organization: OrganizationRecord
    actor: Membership
    owners: Owners

    @property
    def is_owner(self) -> bool:
        """Whether the account that manages it is an owner."""
        return OWN in self.actor.permissions

    def can_change(self, uid: str) -> bool:
        """Return whether the account may change this member."""
        return self.is_owner or uid not in self.owners.uids

    def can_give(self, permissions: Collection[str]) -> bool:
        """Return whether the account may give a role with these permissions: owners any, others only permissions of their own."""
        return self.is_owner or self.actor.permissions.issuperset(permissions)

    def is_last_owner(self, uid: str) -> bool:
        """Return whether no other owner can sign in."""
        return self.owners.is_last(uid)


@dataclass(frozen=True)
class OfferedRole:
    """A role that members can have, and the names of its permissions."""

    role: RoleRecord
    permissions: frozenset[str]


access_checks: Final = ExtensionPoint[Callable[[Context, Account, str], None]]()
"""Called with the account and the organization that it manages; each raises UnknownOrganization where the session may not."""


def load(context: Context, account: Account, org_id: str, *, for_change: bool = False) -> ManagedOrganization:
    """Return an organization that the account manages; `for_change` lets no other change of its owners happen meanwhile.

    Raises UnknownOrganization, also where it exists and the account does not manage it, or does not from this session.
    """
    found = require_membership(context, account, org_id, for_change=for_change)
    if not found.is_administrator:
        raise errors.UnknownOrganization
    for check in access_checks:
        check(context, account, org_id)
    return ManagedOrganization(found.organization, found, owners_in(context, org_id))


def page(context: Context, org_id: str, search: str, limit: int, offset: int) -> list[MemberRecord]:
    """Return members, the oldest first; `search` is a part of the name, email, username or phone."""
    return membership_store.people(context, org_id, search, limit, offset)


def count(context: Context, org_id: str, search: str) -> int:
    """Return how many members `page` finds."""
    return membership_store.count_found(context, org_id, search)


def offered_roles(context: Context, org_id: str) -> list[OfferedRole]:
    """Return the roles that members of the organization can have: its own and those of the tenant, by name."""
    offered = sorted(
        organization_role_store.roles(context, ["", org_id]),
        key=lambda role: (organization_names.key_of(role.name), role.role_id),
    )
    permissions = permissions_of_roles(context, [role.role_id for role in offered])
    return [OfferedRole(role, permissions[role.role_id]) for role in offered]


def can_give_roles(context: Context, scope: ManagedOrganization, role_ids: Collection[str]) -> bool:
    """Return whether the account may give each of these roles."""
    permissions = permissions_of_roles(context, role_ids)
    return all(scope.can_give(permissions[role_id]) for role_id in role_ids)


def can_give_role(context: Context, scope: ManagedOrganization, role_id: str) -> bool:
    """Return whether the account may give a role."""
    return can_give_roles(context, scope, [role_id])


def can_share_role(context: Context, scope: ManagedOrganization, role_id: str) -> bool:
    """Return whether the account may give a role to everyone who has a link: not one of owners."""
    permissions = permissions_of_roles(context, [role_id])[role_id]
    return scope.can_give(permissions) and OWN not in permissions


def owners_of(context: Context, org_ids: Collection[str]) -> dict[str, Owners]:
    """Return the owners of each organization, in one statement."""
    return membership_store.owners(context, org_ids)


def require_membership(context: Context, account: Account, org_id: str, *, for_change: bool) -> Membership:
    if not organization_names.is_id(organization_names.ORGANIZATION, org_id):
        raise errors.UnknownOrganization
    if for_change:  # before the membership is read: two owners who leave at once would each see the other
        organization_store.locked(context, org_id, is_alone=True)
    found = memberships.of_uid(context, account.uid, org_id)
    if found is None:
        raise errors.UnknownOrganization
    return found


def owners_in(context: Context, org_id: str) -> Owners:
    return membership_store.owners(context, [org_id])[org_id]


def permissions_of_roles(context: Context, role_ids: Collection[str]) -> dict[str, frozenset[str]]:
    """Return the names of the permissions of each role."""
    found = organization_role_store.permissions_of(context, role_ids) if role_ids else {}
    return {role_id: frozenset(permission.name for permission in permissions) for role_id, permissions in found.items()}
