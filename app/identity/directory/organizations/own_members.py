"""The rules by which members leave their organizations, and manage the members of those where they have the permission."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from app.contract import errors as e
from app.identity.directory.accounts.account import Account
from app.identity.directory.organizations import member_store, memberships, names, role_store, roles, store
from app.identity.directory.organizations.organization import (
    OWN,
    MemberRecord,
    Membership,
    OrganizationRecord,
    Owners,
    RoleRecord,
)
from app.identity.platform.context import Context


@dataclass(frozen=True)
class ManagedMember:
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
        """Return whether the account may give a role with these permissions: owners any, others only what they have themselves."""
        return self.is_owner or self.actor.permissions.issuperset(permissions)

    def is_last_owner(self, uid: str) -> bool:
        """Return whether no other owner can sign in."""
        return self.owners.is_last(uid)


@dataclass(frozen=True)
class OfferedRole:
    """A role that members can have, and the names of its permissions."""

    role: RoleRecord
    permissions: frozenset[str]


def managed(context: Context, account: Account, org_id: str, *, for_change: bool = False) -> ManagedMember:
    """Return an organization that the account manages; `for_change` lets no other change of its owners happen meanwhile.

    Raises UnknownOrganization, also where it exists and the account does not manage it.
    """
    found = _membership(context, account, org_id, for_change=for_change)
    if not found.is_administrator:
        raise e.UnknownOrganization
    return ManagedMember(found.organization, found, _owners(context, org_id))


def page(context: Context, org_id: str, search: str, limit: int, offset: int) -> list[MemberRecord]:
    """Return members, the oldest first; `search` is a part of the email, username or phone."""
    return member_store.people(context, org_id, search.strip(), limit, offset)


def offered_roles(context: Context, org_id: str) -> list[OfferedRole]:
    """Return the roles that members of the organization can have: its own and those of the tenant, by name."""
    found = sorted(role_store.roles(context, ["", org_id]), key=lambda role: (names.key_of(role.name), role.role_id))
    permissions = _permissions_of(context, [role.role_id for role in found])
    return [OfferedRole(role, permissions[role.role_id]) for role in found]


def can_give_roles(context: Context, scope: ManagedMember, role_ids: Collection[str]) -> bool:
    """Return whether the account may give each of these roles."""
    permissions = _permissions_of(context, role_ids)
    return all(scope.can_give(permissions[role_id]) for role_id in role_ids)


def can_give_role(context: Context, scope: ManagedMember, role_id: str) -> bool:
    """Return whether the account may give a role."""
    return can_give_roles(context, scope, [role_id])


def can_share_role(context: Context, scope: ManagedMember, role_id: str) -> bool:
    """Return whether the account may give a role to everyone who has a link: not one of owners."""
    permissions = _permissions_of(context, [role_id])[role_id]
    return scope.can_give(permissions) and OWN not in permissions


def leave(context: Context, account: Account, org_id: str) -> OrganizationRecord:
    """End the account's own membership, and return the organization.

    Raises UnknownOrganization where it has none, LastOwner.
    """
    found = _membership(context, account, org_id, for_change=True)
    if _owners(context, org_id).is_last(account.uid):
        raise e.LastOwner
    memberships.leave(context, account, found.organization)
    return found.organization


def remove(context: Context, actor: Account, org_id: str, uid: str) -> None:
    """Remove a member. Raises UnknownOrganization, NotAMember, OwnersOnly, LastOwner."""
    scope, account = _member(context, actor, org_id, uid)
    if scope.is_last_owner(uid):
        raise e.LastOwner
    memberships.leave(context, account, scope.organization)
    context.audit.record("organization.member_removed", uid=uid, org_id=org_id, by=actor.uid)


def set_roles(context: Context, actor: Account, org_id: str, uid: str, role_ids: Collection[str]) -> None:
    """Replace the roles of a member.

    Raises UnknownOrganization, NotAMember, LastOwner, MalformedRoleId for an unknown role, RoleOfOtherOrganization, and OwnersOnly,
    also if a manager gives a permission that the manager lacks.
    """
    scope, account = _member(context, actor, org_id, uid)
    requested = {role.role_id for role in roles.for_members(context, org_id, role_ids)}
    stored = {member.role_id for member in member_store.of_account(context, uid, org_id)}
    added, taken = requested - stored, stored - requested
    permissions = _permissions_of(context, requested)
    if not all(scope.can_give(permissions[role_id]) for role_id in added):
        raise e.OwnersOnly
    if scope.is_last_owner(uid) and not any(OWN in permission for permission in permissions.values()):
        raise e.LastOwner
    if added and account.is_deleted:
        raise e.NotAMember
    if added:
        memberships.add(context, account, scope.organization, sorted(added))
    if taken:
        memberships.remove(context, account, scope.organization, sorted(taken))
    context.audit.record(
        "organization.member_changed", uid=uid, org_id=org_id, by=actor.uid, role_ids=sorted(requested)
    )


def owners_of(context: Context, org_ids: Collection[str]) -> dict[str, Owners]:
    """Return the owners of each organization, in one statement."""
    return member_store.owners(context, org_ids)


def _member(context: Context, actor: Account, org_id: str, uid: str) -> tuple[ManagedMember, Account]:
    """Return the organization, locked, and the account of a member that the actor may change."""
    scope = managed(context, actor, org_id, for_change=True)
    if not member_store.of_account(context, uid, org_id):
        raise e.NotAMember
    if not scope.can_change(uid):
        raise e.OwnersOnly
    try:
        return scope, memberships.require_removable(context, uid)
    except e.UnknownMember:
        raise e.NotAMember from None


def _membership(context: Context, account: Account, org_id: str, *, for_change: bool) -> Membership:
    if not names.is_id(names.ORGANIZATION, org_id):
        raise e.UnknownOrganization
    if for_change:  # before the membership is read: two owners who leave at once would each see the other
        store.locked(context, org_id, is_alone=True)
    found = memberships.of_uid(context, account.uid, org_id)
    if found is None:
        raise e.UnknownOrganization
    return found


def _owners(context: Context, org_id: str) -> Owners:
    return member_store.owners(context, [org_id])[org_id]


def _permissions_of(context: Context, role_ids: Collection[str]) -> dict[str, frozenset[str]]:
    """Return the names of the permissions of each role."""
    found = role_store.permissions_of(context, role_ids) if role_ids else {}
    return {role_id: frozenset(permission.name for permission in permissions) for role_id, permissions in found.items()}
