"""The roles of groups at an organization's identity provider, which a sign-in by its connection gives their members."""

from __future__ import annotations

from app.contract import errors
from app.contract.organizations import organization_connection_operations
from app.identity.directory.organizations import organization_names, organization_store, organizations
from app.identity.directory.organizations.connections import organization_connection_store, organization_connections
from app.identity.directory.organizations.connections.organization_connection_store import (
    GroupRoleRecord,
    OrganizationConnectionRecord,
)
from app.identity.directory.organizations.membership_changes import connection_grants
from app.identity.directory.organizations.memberships import memberships
from app.identity.directory.organizations.organization import OrganizationRecord
from app.identity.directory.organizations.roles import organization_roles
from app.identity.platform.context import Context


def add(context: Context, req: organization_connection_operations.CreateGroupRole) -> GroupRoleRecord:
    """Add a group role. Raises MalformedRoleId, GroupRoleNameTaken, GroupTaken."""
    organization = organizations.lock_active(context, req.org_id)
    connection = organization_connections.require(context, organization, req.conn_id)
    values = {
        "group_id": req.group_id,
        "name": organization_names.checked(req.name),
        "role_id": _role(context, organization, req.role_id),
    }
    added = organization_connection_store.add_group_role(context, connection, values)
    organization_connections.record(
        context, "organization.group_role_added", connection, group_role_id=added.group_role_id
    )
    return added


def change(context: Context, req: organization_connection_operations.UpdateGroupRole) -> GroupRoleRecord:
    """Change a group role. Raises as `add` does, and MalformedGroupRoleId, UnknownGroupRole."""
    organization = organizations.lock_active(context, req.org_id, is_alone=True)
    connection = organization_connections.require(context, organization, req.conn_id)
    stored = require(context, connection, req.group_role_id)
    values = {
        "group_id": req.group_id or stored.group_id,
        "name": organization_names.checked(req.name) if req.name is not None else stored.name,
        "role_id": _role(context, organization, req.role_id) if req.role_id is not None else stored.role_id,
    }
    changed = organization_connection_store.change_group_role(context, stored, values)
    if changed is None:
        raise errors.UnknownGroupRole
    if (changed.group_id, changed.role_id) != (stored.group_id, stored.role_id):
        _take_unmapped(context, organization, connection, stored.role_id)
    organization_connections.record(
        context, "organization.group_role_changed", connection, group_role_id=stored.group_role_id
    )
    return changed


def delete(context: Context, connection: OrganizationConnectionRecord, group_role_id: str) -> None:
    """Delete a group role, and take its role from those who have it through no other.

    Raises UnknownOrganization, MalformedGroupRoleId, UnknownGroupRole.
    """
    organization = organization_store.locked(context, connection.org_id, is_alone=True)
    if organization is None:
        raise errors.UnknownOrganization
    stored = require(context, connection, group_role_id)
    if not organization_connection_store.remove_group_role(context, stored):
        raise errors.UnknownGroupRole
    _take_unmapped(context, organization, connection, stored.role_id)
    organization_connections.record(context, "organization.group_role_deleted", connection, group_role_id=group_role_id)


def _take_unmapped(
    context: Context, organization: OrganizationRecord, connection: OrganizationConnectionRecord, role_id: str
) -> None:
    """Take a role that the connection granted, unless another group role or the default of new members grants it.

    Groups of people are known at their sign-ins alone: a role whose group changed comes back at the next one.
    """
    others = organization_connection_store.group_roles(context, [connection.connection_id])[connection.connection_id]
    defaults = memberships.default_role_ids(context, organization)
    if role_id not in {*(item.role_id for item in others), *defaults}:
        connection_grants.take_back(context, organization, connection.connection_id, [role_id])


def require(context: Context, connection: OrganizationConnectionRecord, group_role_id: str) -> GroupRoleRecord:
    """Return a group role of the connection. Raises MalformedGroupRoleId, UnknownGroupRole."""
    if not organization_names.is_id(organization_names.GROUP_ROLE, group_role_id):
        raise errors.MalformedGroupRoleId
    found = organization_connection_store.group_role(context, connection.connection_id, group_role_id)
    if found is None:
        raise errors.UnknownGroupRole
    return found


def _role(context: Context, organization: OrganizationRecord, role_id: str) -> str:
    """Return the id of a role that members can have. Raises MalformedRoleId, also for a role of another organization."""
    try:
        return organization_roles.for_members(context, organization.org_id, [role_id])[0].role_id
    except errors.RoleOfOtherOrganization:
        raise errors.MalformedRoleId from None
