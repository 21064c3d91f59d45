"""Reads and adds memberships: an account is a member of an organization while it has a role there."""

from __future__ import annotations

from collections.abc import Collection

from app.contract import errors
from app.identity.directory.accounts import account_store
from app.identity.directory.accounts.account import Account
from app.identity.directory.organizations import organization_names, organizations
from app.identity.directory.organizations.memberships import membership_store
from app.identity.directory.organizations.organization import Membership, OrganizationRecord, RoleRecord
from app.identity.directory.organizations.roles import organization_role_store, organization_roles
from app.identity.platform import events
from app.identity.platform.context import Context


def of(context: Context, account: Account) -> list[Membership]:
    """Return the memberships of an account in active organizations, the oldest organization first.

    One statement for any number of organizations, and none for an account that never joined one.
    """
    if not account.has_organizations or not context.tenant.settings.organizations.enabled:
        return []
    return [
        membership
        for membership in membership_store.memberships(context, account.uid)
        if membership.organization.is_active
    ]


def in_organization(context: Context, account: Account, org_id: str) -> Membership | None:
    """Return the account's membership in an active organization; None if it has none there."""
    if not account.has_organizations or not context.tenant.settings.organizations.enabled:
        return None
    found = membership_store.memberships(context, account.uid, org_id)
    return next((membership for membership in found if membership.organization.is_active), None)


def in_named(context: Context, account: Account, name: str) -> Membership | None:
    """Return the account's membership in the active organization of this name, in any letter case; None if it has none."""
    if not account.has_organizations or not context.tenant.settings.organizations.enabled:
        return None
    found = membership_store.memberships(context, account.uid, name_key=organization_names.key_of(name))
    return next((membership for membership in found if membership.organization.is_active), None)


def of_uid(context: Context, uid: str, org_id: str) -> Membership | None:
    """Return an account's membership in an active organization, in one statement; None if it has none there."""
    if not context.tenant.settings.organizations.enabled:
        return None
    found = membership_store.memberships(context, uid, org_id)
    return next((membership for membership in found if membership.organization.is_active), None)


def count_people(context: Context, org_ids: Collection[str]) -> dict[str, int]:
    """Return the number of members of each organization, in one statement."""
    return membership_store.count_people(context, org_ids)


def is_full(context: Context, organization: OrganizationRecord) -> bool:
    """Return whether members have taken every seat."""
    return organization.seats is not None and membership_store.count(context, organization.org_id) >= organization.seats


def add(context: Context, account: Account, organization: OrganizationRecord, role_ids: Collection[str]) -> None:
    """Give an account roles in an organization; the first one makes it a member.

    Raises:
        OrganizationInactive, UnknownOrganization: it was deactivated or deleted in the meantime.
        UnknownMember: the account is gone.
        MalformedRoleId, RoleOfOtherOrganization: a role is unknown, or belongs to another organization.
        NoSeatLeft: the account is no member, and members have taken every seat.
        UserRoleExists: people gave the account one of the roles before; nothing was changed.

    A role that a connection granted counts as given by people from now on: the connection no longer takes it away.
    """
    locked, found = _prepare(context, account, organization, role_ids)
    requested = {role.role_id for role in found}
    taken_over = membership_store.take_over(context, account.uid, organization.org_id, requested)
    if missing := requested - taken_over:
        membership_store.add(context, account.uid, organization.org_id, sorted(missing))
    _record(context, account, organization, requested)
    events.emit(context, "AssignRoles", locked)


def join(
    context: Context,
    account: Account,
    organization: OrganizationRecord,
    role_ids: Collection[str] = (),
    *,
    connection_id: str | None = None,
) -> list[str]:
    """Give an account those of the roles that it lacks, by default the role of new members. Return the ids of the new ones.

    `connection_id`: the connection that grants them, and may take them back; None: people give them, and those
    that a connection granted before count as given by people, too.

    Repeating it changes nothing, so invitations and verified domains may call it at every sign-in. Raises as `add` does, except
    UserRoleExists; without a role and a default role nothing happens.
    """
    requested = list(role_ids) or default_role_ids(context, organization)
    if not requested:
        return []
    locked, found = _prepare(context, account, organization, requested)
    stored = held_role_ids(context, account, organization)
    missing = [role.role_id for role in found if role.role_id not in stored]
    if stored and connection_id is None:
        membership_store.take_over(context, account.uid, organization.org_id, [role.role_id for role in found])
    if missing:
        membership_store.add(context, account.uid, organization.org_id, missing, connection_id=connection_id)
        _record(context, account, organization, missing)
        events.emit(context, "AssignRoles", locked)
    return missing


def held_role_ids(context: Context, account: Account, organization: OrganizationRecord) -> set[str]:
    """Return the ids of the account's roles in an organization."""
    return {member.role_id for member in membership_store.of_account(context, account.uid, organization.org_id)}


def default_role_ids(context: Context, organization: OrganizationRecord) -> list[str]:
    """Return the role of new members: by the organization's policy, else the tenant's default role; empty if there is none."""
    if organization.default_role_id is not None:
        return [organization.default_role_id]
    role = organization_role_store.default_role(context)
    return [role.role_id] if role is not None else []


def add_everywhere(context: Context, account: Account, role_ids: Collection[str]) -> None:
    """Give an account roles of the tenant in all its active organizations, where it lacks them.

    Raises UnknownMember, MalformedRoleId, RoleNotOfTenant, and UserRoleExists if it has all of them everywhere.
    """
    locked = lock_account(context, account)
    roles = organization_roles.assignable(context, role_ids)
    if not all(role.is_of_tenant for role in roles):
        raise errors.RoleNotOfTenant
    active = [item for item in membership_store.memberships(context, account.uid) if item.organization.is_active]
    added = False
    for membership in active:
        stored, org_id = {role.role_id for role in membership.roles}, membership.organization.org_id
        missing = {role.role_id for role in roles} - stored
        given = missing | membership_store.take_over(context, account.uid, org_id, stored & {r.role_id for r in roles})
        if missing:
            membership_store.add(context, account.uid, org_id, sorted(missing))
        if given:
            _record(context, account, membership.organization, given)
            added = True
    if active and not added:
        raise errors.UserRoleExists
    if added:
        events.emit(context, "AssignRoles", locked)


def require_account(context: Context, uid: str) -> Account:
    """Return an account that can get roles. Raises UserIdMissing, and UnknownMember also where it is being deleted."""
    account = require_removable(context, uid)
    if account.is_deleted:
        raise errors.UnknownMember
    return account


def require_removable(context: Context, uid: str) -> Account:
    """Return an account that can lose roles, deleted accounts in the grace period included: a revert must not restore the roles.

    Raises UserIdMissing, UnknownMember.
    """
    if not uid.strip():
        raise errors.UserIdMissing
    account = account_store.by_uid(context, uid) if len(uid) <= 64 else None
    if account is None:
        raise errors.UnknownMember
    return account


def _prepare(
    context: Context, account: Account, organization: OrganizationRecord, role_ids: Collection[str]
) -> tuple[Account, list[RoleRecord]]:
    """Lock the rows on which a new role depends, in the lock order of all writers; return the account and the roles."""
    organization = organizations.lock_active(
        context, organization.org_id, is_alone=True
    )  # two at once would take the last seat
    if is_full(context, organization) and not membership_store.of_account(context, account.uid, organization.org_id):
        raise errors.NoSeatLeft  # before the first write: some callers go on without the membership
    locked = lock_account(context, account)
    return locked, organization_roles.for_members(context, organization.org_id, role_ids)


def lock_account(context: Context, account: Account) -> Account:
    """Lock the account of a membership, and return it. Raises UnknownMember."""
    locked = account_store.mark_member(context, account.uid)
    if locked is None:
        raise errors.UnknownMember
    return locked


def _record(context: Context, account: Account, organization: OrganizationRecord, role_ids: Collection[str]) -> None:
    context.audit.record(
        "organization.roles_assigned", uid=account.uid, org_id=organization.org_id, role_ids=sorted(role_ids)
    )
