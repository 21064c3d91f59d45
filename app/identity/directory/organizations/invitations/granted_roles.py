"""The roles that an invitation gives: whether its inviter may give them, and which of them are left."""

from __future__ import annotations

from collections.abc import Collection

from app.contract import errors
from app.identity.directory.accounts import account_store
from app.identity.directory.accounts.account import Account
from app.identity.directory.organizations import organization_names
from app.identity.directory.organizations.invitations.invitation import AnyInvitation
from app.identity.directory.organizations.memberships import managed_organization, membership_store, memberships
from app.identity.directory.organizations.organization import OrganizationRecord
from app.identity.directory.organizations.roles import organization_role_store
from app.identity.platform.context import Context


def require_inviter(context: Context, organization: OrganizationRecord, uid: str) -> Account:
    """Return the member who invites. Raises WrongInviter."""
    account = inviter(context, uid)
    if account is None or not membership_store.of_account(context, account.uid, organization.org_id):
        raise errors.WrongInviter
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
    letting people in. A shared invitation gives no role that became one of owners.
    """
    if not invitation.is_managed:
        return True
    account = inviter(context, invitation.inviter_uid)
    if account is None or not account.is_active or account.login_disabled:
        return False
    try:
        scope = managed_organization.load(context, account, organization.org_id)
    except errors.UnknownOrganization:
        return False
    role_ids = remaining_roles(context, organization, invitation.role_ids)
    if invitation.is_shared:
        return all(managed_organization.can_share_role(context, scope, role_id) for role_id in role_ids)
    return managed_organization.can_give_roles(context, scope, role_ids)


def validated_roles(context: Context, organization: OrganizationRecord, role_ids: Collection[str]) -> list[str]:
    """Return the roles without repetitions. Raises MalformedRoleId, UnknownOrganizationRole, BadParameter."""
    requested = list(dict.fromkeys(role_ids))
    if not all(organization_names.is_id(organization_names.ROLE, role_id) for role_id in requested):
        raise errors.MalformedRoleId
    if not requested and not memberships.default_role_ids(context, organization):
        raise errors.BadParameter("The roleIds is a required parameter: the organization has no role of new members.")
    if requested and len(remaining_roles(context, organization, requested)) < len(requested):
        raise errors.UnknownOrganizationRole
    return requested


def remaining_roles(context: Context, organization: OrganizationRecord, role_ids: Collection[str]) -> list[str]:
    """Return those of the roles that still exist and fit the organization; the role of new members for none."""
    if not role_ids:
        return memberships.default_role_ids(context, organization)
    return _existing(context, organization, role_ids, is_locked=False)


def lock_remaining_roles(context: Context, organization: OrganizationRecord, role_ids: Collection[str]) -> list[str]:
    """Return the roles that an acceptance gives, as `remaining_roles`; they cannot be deleted before the commit.

    Call it before the first write: pages show a refusal that comes later, and what was written stays.

    Raises:
        ClosedInvitation: no role is left.
    """
    requested = role_ids or memberships.default_role_ids(context, organization)
    remaining = _existing(context, organization, requested, is_locked=True) if requested else []
    if not remaining:
        raise errors.ClosedInvitation
    return remaining


def _existing(
    context: Context, organization: OrganizationRecord, role_ids: Collection[str], *, is_locked: bool
) -> list[str]:
    found = organization_role_store.by_ids(context, set(role_ids), is_locked=is_locked)
    fitting = {role.role_id for role in found if role.fits(organization.org_id)}
    return [role_id for role_id in role_ids if role_id in fitting]
