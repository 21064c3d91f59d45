"""The operations of permissions and organization roles."""

from __future__ import annotations

from app.contract import errors
from app.contract.organizations import organization_role_operations
from app.contract.paging import Paged
from app.contract.shared_responses import Deleted
from app.identity.directory.organizations import organization_powers, organizations
from app.identity.directory.organizations.roles import organization_role_store, organization_roles
from app.identity.platform.context import Context
from app.identity.platform.powers import require_powers
from app.identity.public_api.organizations import organization_views
from app.identity.public_api.organizations.feature import requires_organizations


@organization_role_operations.list_permissions.implements
@requires_organizations
def list_permissions(context: Context, req: Paged) -> organization_role_operations.Permissions:
    return organization_role_operations.Permissions(
        data=[
            organization_views.permission(permission)
            for permission in organization_role_store.permissions(context, *req.window)
        ]
    )


@organization_role_operations.create_permission.implements
@requires_organizations
def create_permission(
    context: Context, req: organization_role_operations.CreatePermission
) -> organization_role_operations.Permission:
    require_powers(context, organization_powers.of_permissions({req.name}))
    return organization_views.permission(organization_roles.create_permission(context, req.name, req.description))


@organization_role_operations.read_permission.implements
@requires_organizations
def read_permission(
    context: Context, req: organization_role_operations.PermissionPath
) -> organization_role_operations.Permission:
    return organization_views.permission(organization_roles.require_permission(context, req.id))


@organization_role_operations.update_permission.implements
@requires_organizations
def update_permission(
    context: Context, req: organization_role_operations.UpdatePermission
) -> organization_role_operations.Permission:
    stored = organization_roles.require_permission(context, req.id)
    require_powers(context, organization_powers.of_permissions({stored.name, req.name}))
    return organization_views.permission(
        organization_roles.update_permission(context, req.id, req.name, req.description)
    )


@organization_role_operations.delete_permission.implements
@requires_organizations
def delete_permission(context: Context, req: organization_role_operations.PermissionPath) -> Deleted:
    require_powers(
        context, organization_powers.of_permissions({organization_roles.require_permission(context, req.id).name})
    )
    organization_roles.delete_permission(context, req.id)
    return Deleted()


@organization_role_operations.list_roles.implements
@requires_organizations
def list_roles(context: Context, req: Paged) -> organization_role_operations.Roles:
    return organization_role_operations.Roles(
        data=organization_views.roles(context, organization_role_store.roles(context, [""], *req.window))
    )


@organization_role_operations.create_role.implements
@requires_organizations
def create_role(context: Context, req: organization_role_operations.CreateRole) -> organization_role_operations.Role:
    require_powers(context, organization_powers.of_permission_ids(context, req.permissions))
    return organization_views.role(
        context, organization_roles.create(context, "", req.name, req.description, req.permissions)
    )


@organization_role_operations.read_role.implements
@requires_organizations
def read_role(context: Context, req: organization_role_operations.RolePath) -> organization_role_operations.Role:
    return organization_views.role(context, organization_roles.require(context, req.id))


@organization_role_operations.update_role.implements
@requires_organizations
def update_role(context: Context, req: organization_role_operations.UpdateRole) -> organization_role_operations.Role:
    require_powers(context, organization_powers.of_roles(context, [req.id]))
    require_powers(context, organization_powers.of_permission_ids(context, req.permissions))
    return organization_views.role(
        context, organization_roles.update(context, req.id, req.name, req.description, req.permissions)
    )


@organization_role_operations.delete_role.implements
@requires_organizations
def delete_role(context: Context, req: organization_role_operations.RolePath) -> Deleted:
    require_powers(context, organization_powers.of_roles(context, [req.id]))
    organization_roles.delete(context, req.id)
    return Deleted()


@organization_role_operations.find_roles.implements
@requires_organizations
def find_roles(context: Context, req: organization_role_operations.FindRoles) -> organization_role_operations.Roles:
    return organization_role_operations.Roles(
        data=organization_views.roles(context, organization_roles.find(context, req.name, req.org_id))
    )


@organization_role_operations.set_default_role.implements
@requires_organizations
def set_default_role(
    context: Context, req: organization_role_operations.RolePath
) -> organization_role_operations.IsDefault:
    require_powers(context, organization_powers.of_default_role(context))
    require_powers(context, organization_powers.of_roles(context, [req.id]))
    organization_roles.set_default(context, req.id)
    return organization_role_operations.IsDefault()


@organization_role_operations.list_organization_roles.implements
@requires_organizations
def list_organization_roles(
    context: Context, req: organization_role_operations.ListOrganizationRoles
) -> organization_role_operations.Roles:
    organization = organizations.require(context, req.org_id)
    levels = {"org": [organization.org_id], "tenant": [""]}.get(req.level or "", ["", organization.org_id])
    return organization_role_operations.Roles(
        data=organization_views.roles(context, organization_role_store.roles(context, levels, *req.window))
    )


@organization_role_operations.create_organization_role.implements
@requires_organizations
def create_organization_role(
    context: Context, req: organization_role_operations.CreateOrganizationRole
) -> organization_role_operations.Role:
    require_powers(context, organization_powers.of_permission_ids(context, req.permissions))
    org_id = organizations.checked_id(req.org_id)
    if not (req.name or "").strip():
        raise errors.RoleNameMissing
    return organization_views.role(
        context, organization_roles.create(context, org_id, req.name or "", req.description, req.permissions)
    )
