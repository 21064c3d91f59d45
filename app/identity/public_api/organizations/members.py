"""The operations of the roles that accounts have in organizations."""

from __future__ import annotations

from collections.abc import Callable

from app.contract import errors as e
from app.contract.organizations import members as contract
from app.contract.shared_responses import Deleted
from app.identity.directory.accounts.account import Account
from app.identity.directory.organizations import powers as organization_powers
from app.identity.directory.organizations import service as organizations
from app.identity.directory.organizations.membership_changes import departures
from app.identity.directory.organizations.memberships import service as memberships
from app.identity.directory.organizations.memberships import store as member_store
from app.identity.directory.organizations.organization import OrganizationRecord
from app.identity.platform.context import Context
from app.identity.platform.powers import require as require_powers
from app.identity.public_api.organizations import views
from app.identity.public_api.organizations.feature import requires_organizations


@contract.list_of_account.implements
@requires_organizations
def list_of_account(context: Context, req: contract.ListMemberRoles) -> contract.UserRoles:
    account = memberships.require_account(context, req.uid)
    return views.member_roles(member_store.of_account(context, account.uid, None, req.window))


@contract.leave_all.implements
@requires_organizations
def leave_all(context: Context, req: contract.MemberAccount) -> Deleted:
    account = memberships.require_removable(context, req.uid)
    require_powers(context, organization_powers.of_member(context, account.uid))
    return Deleted(is_deleted=departures.leave_all(context, account))


@contract.list_in_organization.implements
@requires_organizations
def list_in_organization(context: Context, req: contract.MemberOfOrganization) -> contract.UserRoles:
    account, organization = _member(context, req)
    found = member_store.of_account(context, account.uid, organization.org_id)
    if not found:
        raise e.NotAMember
    return views.member_roles(found)


@contract.leave.implements
@requires_organizations
def leave(context: Context, req: contract.MemberOfOrganization) -> Deleted:
    account, organization = _member(context, req, memberships.require_removable)
    require_powers(context, organization_powers.of_member(context, account.uid, organization.org_id))
    departures.leave(context, account, organization)
    return Deleted()


@contract.assign.implements
@requires_organizations
def assign(context: Context, req: contract.RolesInOrganization) -> contract.UserRoles:
    account, organization = _member(context, req)
    require_powers(context, organization_powers.of_invitation(context, organization.org_id, req.role_ids))
    memberships.add(context, account, organization, req.role_ids)
    return views.member_roles(member_store.of_account(context, account.uid, organization.org_id))


@contract.unassign.implements
@requires_organizations
def unassign(context: Context, req: contract.RolesInOrganization) -> Deleted:
    account, organization = _member(context, req, memberships.require_removable)
    require_powers(context, organization_powers.of_roles(context, req.role_ids))
    return Deleted(is_deleted=departures.remove(context, account, organization, req.role_ids))


@contract.assign_everywhere.implements
@requires_organizations
def assign_everywhere(context: Context, req: contract.RolesEverywhere) -> contract.UserRoles:
    account = memberships.require_account(context, req.uid)
    require_powers(context, organization_powers.of_roles(context, req.role_ids))
    memberships.add_everywhere(context, account, req.role_ids)
    return views.member_roles(member_store.of_account(context, account.uid))


@contract.list_of_organization.implements
@requires_organizations
def list_of_organization(context: Context, req: contract.ListMembers) -> contract.UserRoles:
    org_id = organizations.require(context, req.org_id).org_id
    found = member_store.of_organization(context, org_id, req.window, role_id=req.role_id, email=req.email)
    return views.member_roles(found)


def _member(
    context: Context,
    req: contract.MemberOfOrganization,
    require: Callable[[Context, str], Account] = memberships.require_account,
) -> tuple[Account, OrganizationRecord]:
    """Return account and organization. Raises for the account's id first, as the interface orders its errors."""
    if not req.uid.strip():
        raise e.UserIdMissing
    organization = organizations.require_active(context, req.org_id)
    return require(context, req.uid), organization
