"""The operations of the connections of organizations, and of group roles."""

from __future__ import annotations

from collections.abc import Callable

from app.contract.organizations import organization_connection_operations
from app.contract.organizations.models import Connection, GroupRole, IsActive, OrgPath
from app.contract.shared_responses import Deleted
from app.identity.directory.organizations import organization_powers, organizations
from app.identity.directory.organizations.connections import (
    organization_connection_store,
    organization_connections,
    sp_keys,
)
from app.identity.directory.organizations.connections.organization_connection_store import OrganizationConnectionRecord
from app.identity.platform.context import Context
from app.identity.platform.powers import require_powers
from app.identity.public_api.organizations import connection_views
from app.identity.public_api.organizations.feature import requires_organizations


@organization_connection_operations.list_all.implements
@requires_organizations
def list_all(context: Context, req: OrgPath) -> organization_connection_operations.Connections:
    org_id = organizations.require(context, req.org_id).org_id
    return organization_connection_operations.Connections(
        data=connection_views.by_organization(context, [org_id])[org_id]
    )


@organization_connection_operations.end_sessions.implements
def end_sessions(
    context: Context, req: organization_connection_operations.UpstreamLogout
) -> organization_connection_operations.SessionsEnded:
    from app.identity.authentication.sign_in.sessions import upstream_sessions  # noqa: PLC0415 - few tenants have any

    upstream_sessions.end(context, req.opaque, req.logout_token)
    return organization_connection_operations.SessionsEnded()


@organization_connection_operations.create.implements
@requires_organizations
def create(context: Context, req: organization_connection_operations.CreateConnection) -> Connection:
    require_powers(context, [organization_powers.CONNECTION])
    return connection_views.connection(context, organization_connections.create(context, req))


@organization_connection_operations.read.implements
@requires_organizations
def read(context: Context, req: organization_connection_operations.ConnectionPath) -> Connection:
    return connection_views.connection(context, _found(context, req))


@organization_connection_operations.update.implements
@requires_organizations
def update(context: Context, req: organization_connection_operations.UpdateConnection) -> Connection:
    require_powers(context, [organization_powers.CONNECTION])
    return connection_views.connection(context, organization_connections.update(context, req))


@organization_connection_operations.delete.implements
@requires_organizations
def delete(context: Context, req: organization_connection_operations.ConnectionPath) -> Deleted:
    from app.identity.directory.organizations.membership_changes import connection_grants  # noqa: PLC0415 - few tenants have any

    require_powers(context, [organization_powers.CONNECTION])
    connection_grants.delete_connection(context, organizations.require_active(context, req.org_id), req.conn_id)
    return Deleted()


@organization_connection_operations.set_status.implements
@requires_organizations
def set_status(context: Context, req: organization_connection_operations.SetConnectionStatus) -> IsActive:
    require_powers(context, [organization_powers.CONNECTION])
    organization = organizations.require(context, req.org_id)
    connection = organization_connections.require(context, organization, req.conn_id)
    organization_connections.set_status(context, organization, connection.connection_id, req.is_active)
    return IsActive(is_active=req.is_active)


@organization_connection_operations.list_group_roles.implements
@requires_organizations
def list_group_roles(
    context: Context, req: organization_connection_operations.ConnectionPath
) -> organization_connection_operations.GroupRoles:
    connection_id = _found(context, req).connection_id
    found = organization_connection_store.group_roles(context, [connection_id])[connection_id]
    return organization_connection_operations.GroupRoles(data=[connection_views.group_role(role) for role in found])


@organization_connection_operations.create_group_role.implements
@requires_organizations
def create_group_role(context: Context, req: organization_connection_operations.CreateGroupRole) -> GroupRole:
    from app.identity.directory.organizations.membership_changes import group_roles  # noqa: PLC0415 - few tenants have any

    require_powers(context, [organization_powers.CONNECTION])
    return connection_views.group_role(group_roles.add(context, req))


@organization_connection_operations.update_group_role.implements
@requires_organizations
def update_group_role(context: Context, req: organization_connection_operations.UpdateGroupRole) -> GroupRole:
    from app.identity.directory.organizations.membership_changes import group_roles  # noqa: PLC0415 - few tenants have any

    require_powers(context, [organization_powers.CONNECTION])
    return connection_views.group_role(group_roles.change(context, req))


@organization_connection_operations.delete_group_role.implements
@requires_organizations
def delete_group_role(context: Context, req: organization_connection_operations.GroupRolePath) -> Deleted:
    from app.identity.directory.organizations.membership_changes import group_roles  # noqa: PLC0415 - few tenants have any

    require_powers(context, [organization_powers.CONNECTION])
    group_roles.delete(context, _found(context, req), req.group_role_id)
    return Deleted()


@organization_connection_operations.renew_certificate.implements
@requires_organizations
def renew_certificate(context: Context, req: organization_connection_operations.ConnectionPath) -> Connection:
    return _with_changed_keys(context, req, sp_keys.renew)


@organization_connection_operations.create_next_certificate.implements
@requires_organizations
def create_next_certificate(context: Context, req: organization_connection_operations.ConnectionPath) -> Connection:
    return _with_changed_keys(context, req, sp_keys.create_next)


@organization_connection_operations.activate_certificate.implements
@requires_organizations
def activate_certificate(context: Context, req: organization_connection_operations.ConnectionPath) -> Connection:
    return _with_changed_keys(context, req, sp_keys.activate_next)


@organization_connection_operations.delete_next_certificate.implements
@requires_organizations
def delete_next_certificate(context: Context, req: organization_connection_operations.ConnectionPath) -> Connection:
    return _with_changed_keys(context, req, sp_keys.delete_next)


@organization_connection_operations.delete_former_certificate.implements
@requires_organizations
def delete_former_certificate(context: Context, req: organization_connection_operations.ConnectionPath) -> Connection:
    return _with_changed_keys(context, req, sp_keys.delete_former)


def _with_changed_keys(
    context: Context,
    req: organization_connection_operations.ConnectionPath,
    change: Callable[[Context, str, str], OrganizationConnectionRecord],
) -> Connection:
    require_powers(context, [organization_powers.CONNECTION])
    return connection_views.connection(context, change(context, req.org_id, req.conn_id))


def _found(context: Context, req: organization_connection_operations.ConnectionPath) -> OrganizationConnectionRecord:
    return organization_connections.require(context, organizations.require(context, req.org_id), req.conn_id)
