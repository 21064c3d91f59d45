"""The membership and the roles that an organization's connection grants, at each sign-in by it (decision 0428).

Only grants of this connection are taken away again: roles that people gave stay, and so does the role of the last owner.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from app.contract import errors
from app.identity.directory.accounts.account import Account
from app.identity.directory.organizations import active_policies, organization_store
from app.identity.directory.organizations.connections import organization_connection_store
from app.identity.directory.organizations.membership_changes import departures
from app.identity.directory.organizations.memberships import managed_organization, memberships
from app.identity.directory.organizations.organization import OWN, OrganizationRecord
from app.identity.directory.organizations.roles import organization_role_store
from app.identity.directory.provisioning import provisioned_user_store
from app.identity.platform.context import Context


@dataclass(frozen=True)
class _Plan:
    """The roles that a sign-in changes. `granted`: each role of the account here, with the connection that granted it, if one did."""

    granted: Mapping[str, str | None]
    missing: frozenset[str]
    lost: frozenset[str]


def admits(organization: OrganizationRecord) -> bool:
    """Return whether the organization takes accounts that sign in by its connection, at once or by approval."""
    policy = organization.policy.jit_policy
    return bool(policy.enabled or policy.require_approval)


def is_member(context: Context, uid: str, org_id: str) -> bool:
    """Return whether the account has a role in the organization."""
    return org_id in active_policies.granted(context, uid)


def apply(
    context: Context,
    account: Account,
    organization: OrganizationRecord,
    connection_id: str,
    groups: Collection[str] | None,
) -> bool:
    """Give the account what its groups and the policy of new members grant, and take what they grant no more.

    An account that is no member joins as the organization's `JITPolicy` says; one that must ask to join gets nothing.
    Call it before the account's row is locked: what gives roles locks the organization first. Nothing is locked where nothing
    changes.

    Args:
        organization: as this request read it, active.
        groups: at the identity provider; None where it did not say which, so that the roles of groups stay.

    Returns:
        Whether the account may sign in by the connection: a member, or taken as one. False, too, where every seat is taken, or
        the organization is gone.
    """
    plan = _plan(context, account.uid, organization, connection_id, groups)
    if plan.missing or plan.lost or not plan.granted:
        locked = organization_store.locked(context, organization.org_id, is_alone=True)
        if locked is None or not locked.is_active:
            return False
        organization = locked
        active_policies.invalidate(context)
        plan = _plan(context, account.uid, organization, connection_id, groups)
    if not plan.granted and not _may_join(context, account, organization):
        return False
    return _carry_out(context, account, organization, connection_id, plan)


def _may_join(context: Context, account: Account, organization: OrganizationRecord) -> bool:
    """Return whether an account without a role may become a member: not one that the organization's SCIM deactivated."""
    if provisioned_user_store.is_closed_to(context, organization.org_id, account.uid):
        context.audit.record(
            "organization.not_joined", uid=account.uid, org_id=organization.org_id, reason="deprovisioned"
        )
        return False
    return admits(organization)


def _carry_out(
    context: Context, account: Account, organization: OrganizationRecord, connection_id: str, plan: _Plan
) -> bool:
    if plan.missing:
        try:
            memberships.join(context, account, organization, sorted(plan.missing), connection_id=connection_id)
        except errors.NoSeatLeft:
            return False
    if lost := _without_last_ownership(context, account.uid, organization, plan):
        departures.remove(context, account, organization, sorted(lost))
    is_left = bool(plan.missing) or len(lost) < len(plan.granted)
    if not plan.granted or not is_left:
        event = "organization.joined_by_connection" if plan.missing else "organization.not_joined"
        context.audit.record(event, uid=account.uid, org_id=organization.org_id, connection_id=connection_id)
    return is_left or admits(organization)


def _plan(
    context: Context, uid: str, organization: OrganizationRecord, connection_id: str, groups: Collection[str] | None
) -> _Plan:
    granted = active_policies.granted(context, uid).get(organization.org_id, {})
    own = {role_id for role_id, by in granted.items() if by == connection_id}
    wanted = _wanted(context, organization, connection_id, granted, groups)
    lost = own - wanted if groups is not None else set[str]()
    return _Plan(granted, frozenset(wanted - granted.keys()), frozenset(lost))


def _wanted(
    context: Context,
    organization: OrganizationRecord,
    connection_id: str,
    granted: Mapping[str, str | None],
    groups: Collection[str] | None,
) -> set[str]:
    """Return the roles that the connection grants now: those of the groups, and the role of new members.

    An account that joined when the policy took it keeps the role of new members; members by hand do not get it while the policy
    takes nobody.
    """
    policy, role_ids = organization.policy.jit_policy, set[str]()
    default = memberships.default_role_ids(context, organization)
    joins = bool(policy.enabled) and not policy.require_approval
    role_ids |= {role_id for role_id in default if joins or granted.get(role_id) == connection_id}
    if groups and (joins or granted):
        of_connection = organization_connection_store.group_roles(context, [connection_id])[connection_id]
        role_ids |= {item.role_id for item in of_connection if item.group_id in groups}
    fitting = organization_role_store.by_ids(context, role_ids) if role_ids - granted.keys() else []
    unfit = role_ids - granted.keys() - {role.role_id for role in fitting if role.fits(organization.org_id)}
    return role_ids - unfit


def _without_last_ownership(
    context: Context, uid: str, organization: OrganizationRecord, plan: _Plan
) -> frozenset[str]:
    """Return the roles to take, except those of an owner after whom the organization would have none who can sign in."""
    if not plan.lost:
        return plan.lost
    every = [*plan.granted, *plan.missing]
    permissions = managed_organization.permissions_of_roles(context, every)
    owning = {role_id for role_id in every if OWN in permissions[role_id]}
    if not owning & plan.lost or owning - plan.lost:
        return plan.lost
    if not managed_organization.owners_in(context, organization.org_id).is_last(uid):
        return plan.lost
    context.audit.record("organization.last_owner_kept", uid=uid, org_id=organization.org_id)
    return plan.lost - owning
