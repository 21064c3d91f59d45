"""Ends the membership of an account, and changes and removes members for a manager."""

from __future__ import annotations

from collections.abc import Collection

from app.contract import errors
from app.identity.directory.accounts.account import Account
from app.identity.directory.organizations.membership_changes import departures
from app.identity.directory.organizations.memberships import managed_organization, membership_store, memberships
from app.identity.directory.organizations.memberships.managed_organization import (
    ManagedOrganization,
    owners_in,
    permissions_of_roles,
    require_membership,
)
from app.identity.directory.organizations.organization import OWN, OrganizationRecord
from app.identity.directory.organizations.roles import organization_roles
from app.identity.platform.context import Context


def leave(context: Context, account: Account, org_id: str) -> OrganizationRecord:
    """End the account's own membership, and return the organization.

    Raises UnknownOrganization where it has none, LastOwner.
    """
    found = require_membership(context, account, org_id, for_change=True)
    if owners_in(context, org_id).is_last(account.uid):
        raise errors.LastOwner
    departures.leave(context, account, found.organization)
    return found.organization


def remove(context: Context, actor: Account, org_id: str, uid: str) -> None:
    """Remove a member. Raises UnknownOrganization, NotAMember, OwnersOnly, LastOwner."""
    scope, account = _member(context, actor, org_id, uid)
    if scope.is_last_owner(uid):
        raise errors.LastOwner
    departures.leave(context, account, scope.organization)
    context.audit.record("organization.member_removed", uid=uid, org_id=org_id, by=actor.uid)


def set_roles(context: Context, actor: Account, org_id: str, uid: str, role_ids: Collection[str]) -> None:
    """Replace the roles of a member.

    Raises UnknownOrganization, NotAMember, LastOwner, MalformedRoleId for an unknown role, RoleOfOtherOrganization, and OwnersOnly,
    also if a manager gives a permission that the manager lacks.
    """
    scope, account = _member(context, actor, org_id, uid)
    requested = {role.role_id for role in organization_roles.for_members(context, org_id, role_ids)}
    stored = {member.role_id for member in membership_store.of_account(context, uid, org_id)}
    added, taken = requested - stored, stored - requested
    permissions = permissions_of_roles(context, requested)
    if not all(scope.can_give(permissions[role_id]) for role_id in added):
        raise errors.OwnersOnly
    if scope.is_last_owner(uid) and not any(OWN in permission for permission in permissions.values()):
        raise errors.LastOwner
    if added and account.is_deleted:
        raise errors.NotAMember
    if added:
        memberships.add(context, account, scope.organization, sorted(added))
    if taken:
        departures.remove(context, account, scope.organization, sorted(taken))
    context.audit.record(
        "organization.member_changed", uid=uid, org_id=org_id, by=actor.uid, role_ids=sorted(requested)
    )


def _member(context: Context, actor: Account, org_id: str, uid: str) -> tuple[ManagedOrganization, Account]:
    """Return the organization, locked, and the account of a member that the actor may change."""
    scope = managed_organization.load(context, actor, org_id, for_change=True)
    if not membership_store.of_account(context, uid, org_id):
        raise errors.NotAMember
    if not scope.can_change(uid):
        raise errors.OwnersOnly
    try:
        return scope, memberships.require_removable(context, uid)
    except errors.UnknownMember:
        raise errors.NotAMember from None
