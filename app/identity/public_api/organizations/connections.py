"""The operations of the connections of organizations, and of group roles."""

from __future__ import annotations

from app.contract.organizations import connections as contract
from app.contract.organizations.models import Connection, GroupRole, IsActive, OrgPath
from app.contract.shared_responses import Deleted
from app.identity.directory.organizations import powers as organization_powers
from app.identity.directory.organizations import service as organizations
from app.identity.directory.organizations.connections import service as organization_connections
from app.identity.directory.organizations.connections import store as connection_store
from app.identity.directory.organizations.connections.store import OrganizationConnectionRecord
from app.identity.platform.context import Context
from app.identity.platform.powers import require as require_powers
from app.identity.public_api.organizations import connection_views
from app.identity.public_api.organizations.feature import requires_organizations


@contract.list_all.implements
@requires_organizations
def list_all(context: Context, req: OrgPath) -> contract.Connections:
    org_id = organizations.require(context, req.org_id).org_id
    return contract.Connections(data=connection_views.by_organization(context, [org_id])[org_id])


@contract.create.implements
@requires_organizations
def create(context: Context, req: contract.CreateConnection) -> Connection:
    require_powers(context, [organization_powers.CONNECTION])
    return connection_views.connection(context, organization_connections.create(context, req))


@contract.read.implements
@requires_organizations
def read(context: Context, req: contract.ConnectionPath) -> Connection:
    return connection_views.connection(context, _found(context, req))


@contract.update.implements
@requires_organizations
def update(context: Context, req: contract.UpdateConnection) -> Connection:
    require_powers(context, [organization_powers.CONNECTION])
    return connection_views.connection(context, organization_connections.update(context, req))


@contract.delete.implements
@requires_organizations
def delete(context: Context, req: contract.ConnectionPath) -> Deleted:
    require_powers(context, [organization_powers.CONNECTION])
    organization_connections.delete(context, organizations.require_active(context, req.org_id), req.conn_id)
    return Deleted()


@contract.set_status.implements
@requires_organizations
def set_status(context: Context, req: contract.SetConnectionStatus) -> IsActive:
    require_powers(context, [organization_powers.CONNECTION])
    organization = organizations.require(context, req.org_id)
    connection = organization_connections.require(context, organization, req.conn_id)
    organization_connections.set_status(context, organization, connection.connection_id, req.is_active)
    return IsActive(is_active=req.is_active)


@contract.list_group_roles.implements
@requires_organizations
def list_group_roles(context: Context, req: contract.ConnectionPath) -> contract.GroupRoles:
    connection_id = _found(context, req).connection_id
    found = connection_store.group_roles(context, [connection_id])[connection_id]
    return contract.GroupRoles(data=[connection_views.group_role(role) for role in found])


@contract.create_group_role.implements
@requires_organizations
def create_group_role(context: Context, req: contract.CreateGroupRole) -> GroupRole:
    require_powers(context, [organization_powers.CONNECTION])
    return connection_views.group_role(organization_connections.add_group_role(context, req))


@contract.update_group_role.implements
@requires_organizations
def update_group_role(context: Context, req: contract.UpdateGroupRole) -> GroupRole:
    require_powers(context, [organization_powers.CONNECTION])
    return connection_views.group_role(organization_connections.change_group_role(context, req))


@contract.delete_group_role.implements
@requires_organizations
def delete_group_role(context: Context, req: contract.GroupRolePath) -> Deleted:
    require_powers(context, [organization_powers.CONNECTION])
    organization_connections.delete_group_role(context, _found(context, req), req.group_role_id)
    return Deleted()


def _found(context: Context, req: contract.ConnectionPath) -> OrganizationConnectionRecord:
    return organization_connections.require(context, organizations.require(context, req.org_id), req.conn_id)
