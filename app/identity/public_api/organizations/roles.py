"""The operations of permissions and organization roles."""

from __future__ import annotations

from app.contract import errors as e
from app.contract.organizations import roles as contract
from app.contract.paging import Paged
from app.contract.shared_responses import Deleted
from app.identity.directory.organizations import powers as organization_powers
from app.identity.directory.organizations import service as organizations
from app.identity.directory.organizations.roles import service as organization_roles
from app.identity.directory.organizations.roles import store as role_store
from app.identity.platform.context import Context
from app.identity.platform.powers import require as require_powers
from app.identity.public_api.organizations import views
from app.identity.public_api.organizations.feature import requires_organizations


@contract.list_permissions.implements
@requires_organizations
def list_permissions(context: Context, req: Paged) -> contract.Permissions:
    return contract.Permissions(
        data=[views.permission(permission) for permission in role_store.permissions(context, *req.window)]
    )


@contract.create_permission.implements
@requires_organizations
def create_permission(context: Context, req: contract.CreatePermission) -> contract.Permission:
    require_powers(context, organization_powers.of_permissions({req.name}))
    return views.permission(organization_roles.create_permission(context, req.name, req.description))


@contract.read_permission.implements
@requires_organizations
def read_permission(context: Context, req: contract.PermissionPath) -> contract.Permission:
    return views.permission(organization_roles.require_permission(context, req.id))


@contract.update_permission.implements
@requires_organizations
def update_permission(context: Context, req: contract.UpdatePermission) -> contract.Permission:
    stored = organization_roles.require_permission(context, req.id)
    require_powers(context, organization_powers.of_permissions({stored.name, req.name}))
    return views.permission(organization_roles.update_permission(context, req.id, req.name, req.description))


@contract.delete_permission.implements
@requires_organizations
def delete_permission(context: Context, req: contract.PermissionPath) -> Deleted:
    require_powers(
        context, organization_powers.of_permissions({organization_roles.require_permission(context, req.id).name})
    )
    organization_roles.delete_permission(context, req.id)
    return Deleted()


@contract.list_roles.implements
@requires_organizations
def list_roles(context: Context, req: Paged) -> contract.Roles:
    return contract.Roles(data=views.roles(context, role_store.roles(context, [""], *req.window)))


@contract.create_role.implements
@requires_organizations
def create_role(context: Context, req: contract.CreateRole) -> contract.Role:
    require_powers(context, organization_powers.of_permission_ids(context, req.permissions))
    return views.role(context, organization_roles.create(context, "", req.name, req.description, req.permissions))


@contract.read_role.implements
@requires_organizations
def read_role(context: Context, req: contract.RolePath) -> contract.Role:
    return views.role(context, organization_roles.require(context, req.id))


@contract.update_role.implements
@requires_organizations
def update_role(context: Context, req: contract.UpdateRole) -> contract.Role:
    require_powers(context, organization_powers.of_roles(context, [req.id]))
    require_powers(context, organization_powers.of_permission_ids(context, req.permissions))
    return views.role(context, organization_roles.update(context, req.id, req.name, req.description, req.permissions))


@contract.delete_role.implements
@requires_organizations
def delete_role(context: Context, req: contract.RolePath) -> Deleted:
    require_powers(context, organization_powers.of_roles(context, [req.id]))
    organization_roles.delete(context, req.id)
    return Deleted()


@contract.find_roles.implements
@requires_organizations
def find_roles(context: Context, req: contract.FindRoles) -> contract.Roles:
    return contract.Roles(data=views.roles(context, organization_roles.find(context, req.name, req.org_id)))


@contract.set_default_role.implements
@requires_organizations
def set_default_role(context: Context, req: contract.RolePath) -> contract.IsDefault:
    require_powers(context, organization_powers.of_default_role(context))
    require_powers(context, organization_powers.of_roles(context, [req.id]))
    organization_roles.set_default(context, req.id)
    return contract.IsDefault()


@contract.list_organization_roles.implements
@requires_organizations
def list_organization_roles(context: Context, req: contract.ListOrganizationRoles) -> contract.Roles:
    organization = organizations.require(context, req.org_id)
    levels = {"org": [organization.org_id], "tenant": [""]}.get(req.level or "", ["", organization.org_id])
    return contract.Roles(data=views.roles(context, role_store.roles(context, levels, *req.window)))


@contract.create_organization_role.implements
@requires_organizations
def create_organization_role(context: Context, req: contract.CreateOrganizationRole) -> contract.Role:
    require_powers(context, organization_powers.of_permission_ids(context, req.permissions))
    org_id = organizations.checked_id(req.org_id)
    if not (req.name or "").strip():
        raise e.RoleNameMissing
    return views.role(
        context, organization_roles.create(context, org_id, req.name or "", req.description, req.permissions)
    )
