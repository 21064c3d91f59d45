"""Deletes connections of organizations, and takes back the roles that a deleted connection or group role granted."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from operator import attrgetter
from typing import Final

from app.identity.directory.accounts import account_store
from app.identity.directory.organizations import connection_ends, organizations
from app.identity.directory.organizations.connections import organization_connection_store, organization_connections
from app.identity.directory.organizations.domains import membership_domains
from app.identity.directory.organizations.membership_changes import departures
from app.identity.directory.organizations.memberships import membership_store
from app.identity.directory.organizations.organization import OWN, OrganizationRecord
from app.identity.directory.organizations.roles import organization_role_store
from app.identity.platform.context import Context

_BATCH: Final = 500
"""Accounts of one statement."""


def delete_connection(context: Context, organization: OrganizationRecord, connection_id: str) -> None:
    """Delete a connection with its group roles, and take the roles that it granted. Raises UnknownOrganizationConnection."""
    organizations.lock_active(context, organization.org_id, is_alone=True)
    connection = organization_connections.require(context, organization, connection_id)
    take_back(context, organization, connection.connection_id)
    connection_ends.announce(context, organization.org_id, connection.connection_id)
    organization_connection_store.remove(context, connection)
    membership_domains.forget(context)
    organization_connections.record(context, "organization.connection_deleted", connection)


def take_back(
    context: Context, organization: OrganizationRecord, connection_id: str, role_ids: Collection[str] | None = None
) -> None:
    """Take all roles that a connection granted, or these of them, as people take roles. The caller locked the organization alone.

    Where no owner who can sign in would be left, the owners keep their roles, as if people had given them.
    """
    granted = membership_store.granted_by(context, organization.org_id, connection_id, role_ids)
    kept = _last_owning(context, organization.org_id, granted)
    taken: dict[str, set[str]] = defaultdict(set)
    for uid, role_id in granted:
        if role_id in kept:
            membership_store.take_over(context, uid, organization.org_id, [role_id])
            context.audit.record("organization.last_owner_kept", uid=uid, org_id=organization.org_id)
        else:
            taken[uid].add(role_id)
    _take(context, organization, taken)


def _take(context: Context, organization: OrganizationRecord, taken: Mapping[str, Collection[str]]) -> None:
    uids = sorted(taken)
    for start in range(0, len(uids), _BATCH):
        accounts = sorted(account_store.by_uids(context, uids[start : start + _BATCH]), key=attrgetter("uid"))
        departures.remove_from_all(context, accounts, organization, taken)


def _last_owning(context: Context, org_id: str, granted: Collection[tuple[str, str]]) -> set[str]:
    """Return the roles of owners among these grants, if the organization has no owner who can sign in without them."""
    owners = membership_store.owners(context, [org_id])[org_id]
    if not owners.able:
        return set()
    held = membership_store.roles_of(context, org_id, owners.able)
    every = {role.role_id for roles in held.values() for role in roles}
    permissions = organization_role_store.permissions_of(context, every)
    owning = {role_id for role_id in every if any(item.name == OWN for item in permissions[role_id])}
    remains = any(
        role.role_id in owning and (uid, role.role_id) not in granted for uid, roles in held.items() for role in roles
    )
    return set() if remains else owning
