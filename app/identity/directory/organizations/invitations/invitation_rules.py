"""The rules that invitations by email and by link share: locks, roles, inviters, seats."""

from __future__ import annotations

from collections.abc import Collection

from app.contract import errors as e
from app.identity.directory.accounts import store as account_store
from app.identity.directory.accounts.account import Account
from app.identity.directory.organizations import names
from app.identity.directory.organizations.invitations.invitation import AnyInvitation
from app.identity.directory.organizations.invitations.invitation_link import InvitationLinkRecord
from app.identity.directory.organizations.memberships import managed_organization
from app.identity.directory.organizations.memberships import service as memberships
from app.identity.directory.organizations.memberships import store as member_store
from app.identity.directory.organizations.organization import OrganizationRecord
from app.identity.directory.organizations.roles import store as role_store
from app.identity.platform.context import Context


def require_inviter(context: Context, organization: OrganizationRecord, uid: str) -> Account:
    """Return the member who invites. Raises WrongInviter."""
    account = inviter(context, uid)
    if account is None or not member_store.of_account(context, account.uid, organization.org_id):
        raise e.WrongInviter
    return account


def inviter(context: Context, uid: str) -> Account | None:
    """Return the account that invited, also under an id that it had; None if it is gone."""
    if not uid.strip() or len(uid) > 64:
        return None
    account = account_store.by_uid(context, uid)
    if account is None and (current := account_store.current_uid(context, uid)):
        account = account_store.by_uid(context, current)
    return account if account is not None and not account.is_deleted else None


def inviter_can_grant(context: Context, organization: OrganizationRecord, invitation: AnyInvitation) -> bool:
    """Return whether the member who invited on the account pages may still give these roles; True for those of servers.

    Otherwise a manager who lost the role could return by an invitation made before, and one whose account was blocked could go on
    letting people in. A link gives no role that became one of owners.
    """
    if not invitation.is_managed:
        return True
    account = inviter(context, invitation.inviter_uid)
    if account is None or not account.is_active or account.login_disabled:
        return False
    try:
        scope = managed_organization.load(context, account, organization.org_id)
    except e.UnknownOrganization:
        return False
    role_ids = remaining_roles(context, organization, invitation.role_ids)
    if isinstance(invitation, InvitationLinkRecord):
        return all(managed_organization.can_share_role(context, scope, role_id) for role_id in role_ids)
    return managed_organization.can_give_roles(context, scope, role_ids)


def require_inviter_rights(context: Context, organization: OrganizationRecord, invitation: AnyInvitation) -> None:
    """Raise ClosedInvitation if the member who invited may no longer give these roles."""
    if not inviter_can_grant(context, organization, invitation):
        raise e.ClosedInvitation


def validated_roles(context: Context, organization: OrganizationRecord, role_ids: Collection[str]) -> list[str]:
    """Return the roles without repetitions. Raises MalformedRoleId, UnknownOrganizationRole, BadParameter."""
    requested = list(dict.fromkeys(role_ids))
    if not all(names.is_id(names.ROLE, role_id) for role_id in requested):
        raise e.MalformedRoleId
    if not requested and not memberships.default_role_ids(context, organization):
        raise e.BadParameter("The roleIds is a required parameter: the organization has no role of new members.")
    if requested and len(remaining_roles(context, organization, requested)) < len(requested):
        raise e.UnknownOrganizationRole
    return requested


def remaining_roles(context: Context, organization: OrganizationRecord, role_ids: Collection[str]) -> list[str]:
    """Return those of the roles that still exist and fit the organization; the role of new members for none."""
    found = {role.role_id for role in role_store.by_ids(context, set(role_ids)) if role.fits(organization.org_id)}
    remaining = [role_id for role_id in role_ids if role_id in found]
    return remaining if role_ids else memberships.default_role_ids(context, organization)


def join(context: Context, account: Account, organization: OrganizationRecord, role_ids: Collection[str]) -> None:
    """Make the account a member. Raises NoSeatLeft, and ClosedInvitation if a role was deleted in the meantime."""
    try:
        memberships.join(context, account, organization, role_ids)
    except e.MalformedRoleId:
        raise e.ClosedInvitation from None
