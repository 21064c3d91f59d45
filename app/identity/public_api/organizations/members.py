"""The operations of the roles that accounts have in organizations."""

from __future__ import annotations

from collections.abc import Callable

from app.contract import errors
from app.contract.organizations import member_operations
from app.contract.shared_responses import Deleted
from app.identity.directory.accounts.account import Account
from app.identity.directory.organizations import organization_powers, organizations
from app.identity.directory.organizations.membership_changes import departures
from app.identity.directory.organizations.memberships import membership_store, memberships
from app.identity.directory.organizations.organization import OrganizationRecord
from app.identity.platform.context import Context
from app.identity.platform.powers import require_powers
from app.identity.public_api.organizations import organization_views
from app.identity.public_api.organizations.feature import requires_organizations


@member_operations.list_of_account.implements
@requires_organizations
def list_of_account(context: Context, req: member_operations.ListMemberRoles) -> member_operations.UserRoles:
    account = memberships.require_account(context, req.uid)
    return organization_views.member_roles(membership_store.of_account(context, account.uid, None, req.window))


@member_operations.leave_all.implements
@requires_organizations
def leave_all(context: Context, req: member_operations.MemberAccount) -> Deleted:
    account = memberships.require_removable(context, req.uid)
    require_powers(context, organization_powers.of_member(context, account.uid))
    return Deleted(is_deleted=departures.leave_all(context, account))


@member_operations.list_in_organization.implements
@requires_organizations
def list_in_organization(context: Context, req: member_operations.MemberOfOrganization) -> member_operations.UserRoles:
    account, organization = _member(context, req)
    found = membership_store.of_account(context, account.uid, organization.org_id)
    if not found:
        raise errors.NotAMember
    return organization_views.member_roles(found)


@member_operations.leave.implements
@requires_organizations
def leave(context: Context, req: member_operations.MemberOfOrganization) -> Deleted:
    account, organization = _member(context, req, memberships.require_removable)
    require_powers(context, organization_powers.of_member(context, account.uid, organization.org_id))
    departures.leave(context, account, organization)
    return Deleted()


@member_operations.assign.implements
@requires_organizations
def assign(context: Context, req: member_operations.RolesInOrganization) -> member_operations.UserRoles:
    account, organization = _member(context, req)
    require_powers(context, organization_powers.of_invitation(context, organization.org_id, req.role_ids))
    memberships.add(context, account, organization, req.role_ids)
    return organization_views.member_roles(membership_store.of_account(context, account.uid, organization.org_id))


@member_operations.unassign.implements
@requires_organizations
def unassign(context: Context, req: member_operations.RolesInOrganization) -> Deleted:
    account, organization = _member(context, req, memberships.require_removable)
    require_powers(context, organization_powers.of_roles(context, req.role_ids))
    return Deleted(is_deleted=departures.remove(context, account, organization, req.role_ids))


@member_operations.assign_everywhere.implements
@requires_organizations
def assign_everywhere(context: Context, req: member_operations.RolesEverywhere) -> member_operations.UserRoles:
    account = memberships.require_account(context, req.uid)
    require_powers(context, organization_powers.of_roles(context, req.role_ids))
    memberships.add_everywhere(context, account, req.role_ids)
    return organization_views.member_roles(membership_store.of_account(context, account.uid))


@member_operations.list_of_organization.implements
@requires_organizations
def list_of_organization(context: Context, req: member_operations.ListMembers) -> member_operations.UserRoles:
    org_id = organizations.require(context, req.org_id).org_id
    found = membership_store.of_organization(context, org_id, req.window, role_id=req.role_id, email=req.email)
    return organization_views.member_roles(found)


def _member(
    context: Context,
    req: member_operations.MemberOfOrganization,
    require: Callable[[Context, str], Account] = memberships.require_account,
) -> tuple[Account, OrganizationRecord]:
    """Return account and organization. Raises for the account's id first, as the interface orders its errors."""
    if not req.uid.strip():
        raise errors.UserIdMissing
    organization = organizations.require_active(context, req.org_id)
    return require(context, req.uid), organization
