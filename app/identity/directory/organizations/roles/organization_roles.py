"""The rules of permissions and organization roles."""

from __future__ import annotations

from collections.abc import Collection

from app.contract import errors
from app.identity.directory.organizations import organization_names, organization_store, organizations
from app.identity.directory.organizations.organization import PermissionRecord, RoleRecord
from app.identity.directory.organizations.roles import organization_role_store
from app.identity.platform.context import Context


def require_permission(context: Context, permission_id: str) -> PermissionRecord:
    """Return the permission. Raises MalformedPermissionId, UnknownOrganizationPermission."""
    return _found(organization_role_store.permission(context, _permission_id(permission_id)))


def create_permission(context: Context, name: str, description: str) -> PermissionRecord:
    """Create a permission. Raises PermissionTaken."""
    permission = organization_role_store.add_permission(context, name, description)
    context.audit.record("organization.permission_created", permission_id=permission.permission_id)
    return permission


def update_permission(context: Context, permission_id: str, name: str, description: str) -> PermissionRecord:
    """Change a permission. Raises MalformedPermissionId, UnknownOrganizationPermission, PermissionTaken."""
    changed = organization_role_store.change_permission(context, _permission_id(permission_id), name, description)
    context.audit.record("organization.permission_changed", permission_id=permission_id)
    return _found(changed)


def delete_permission(context: Context, permission_id: str) -> None:
    """Delete a permission, and remove it from every role. Raises MalformedPermissionId, UnknownOrganizationPermission."""
    if not organization_role_store.remove_permission(context, _permission_id(permission_id)):
        raise errors.UnknownOrganizationPermission
    context.audit.record("organization.permission_deleted", permission_id=permission_id)


def require(context: Context, role_id: str) -> RoleRecord:
    """Return a role of the tenant or of an organization. Raises RoleIdMissing, MalformedRoleId, UnknownOrganizationRole."""
    role = organization_role_store.by_id(context, _role_id(role_id))
    if role is None:
        raise errors.UnknownOrganizationRole
    return role


def create(context: Context, org_id: str, name: str, description: str, permission_ids: Collection[str]) -> RoleRecord:
    """Create a role; an empty `org_id` makes it one of the tenant.

    Raises BadField, OrganizationRoleTaken, MalformedPermissionId, and for an organization UnknownOrganization, OrganizationInactive.
    """
    if org_id:
        organizations.lock_active(context, org_id)
    role = organization_role_store.add_role(
        context, org_id, organization_names.checked(name), description, _permissions(context, permission_ids)
    )
    context.audit.record("organization.role_created", role_id=role.role_id, org_id=org_id)
    return role


def update(context: Context, role_id: str, name: str, description: str, permission_ids: Collection[str]) -> RoleRecord:
    """Change a role and replace its permissions. Raises as `require` and `create` do."""
    _require_changeable(context, role_id)
    permissions = _permissions(context, permission_ids)
    role = organization_role_store.change_role(
        context, role_id, organization_names.checked(name), description, permissions
    )
    if role is None:
        raise errors.UnknownOrganizationRole
    context.audit.record("organization.role_changed", role_id=role_id, permission_ids=permissions)
    return role


def delete(context: Context, role_id: str) -> None:
    """Delete a role, and take it from its members. Raises as `require` does, and DefaultRoleKept, OrganizationInactive."""
    role = _require_changeable(context, role_id)
    if role.is_default or organization_store.of_default_role(context, role_id):
        raise errors.DefaultRoleRequired
    if not organization_role_store.remove_role(context, role_id):
        raise errors.UnknownOrganizationRole
    context.audit.record("organization.role_deleted", role_id=role_id, org_id=role.org_id)


def set_default(context: Context, role_id: str) -> None:
    """Make a role of the tenant the default of new members. Raises as `require` does, and RoleNotOfTenant."""
    if not require(context, role_id).is_of_tenant:
        raise errors.RoleNotOfTenant
    if not organization_role_store.set_default(context, role_id):
        raise errors.UnknownOrganizationRole
    context.audit.record("organization.default_role_set", role_id=role_id)


def find(context: Context, name: str, org_id: str | None) -> list[RoleRecord]:
    """Return the role of the organization with this name, else that of the tenant. Raises RoleNameMissing, UnknownOrganization."""
    if not name.strip():
        raise errors.RoleNameMissing
    org_ids = ["", organizations.require(context, org_id).org_id] if org_id else [""]
    return organization_role_store.by_name(context, name, org_ids)[:1]


def for_members(context: Context, org_id: str, role_ids: Collection[str]) -> list[RoleRecord]:
    """Return the roles, which cannot be deleted before the commit.

    Raises MalformedRoleId for an unknown id, RoleOfOtherOrganization for a role that members of the organization cannot have.
    """
    found = assignable(context, role_ids)
    if not all(role.fits(org_id) for role in found):
        raise errors.RoleOfOtherOrganization
    return found


def assignable(context: Context, role_ids: Collection[str]) -> list[RoleRecord]:
    """Return the roles, which cannot be deleted before the commit. Raises MalformedRoleId."""
    requested = set(role_ids)
    if not all(organization_names.is_id(organization_names.ROLE, role_id) for role_id in requested):
        raise errors.MalformedRoleId
    found = organization_role_store.by_ids(context, requested, is_locked=True)
    if len(found) < len(requested):
        raise errors.MalformedRoleId
    return found


def _require_changeable(context: Context, role_id: str) -> RoleRecord:
    role = require(context, role_id)
    if not role.is_of_tenant:
        organizations.require_active(context, role.org_id)
    return role


def _permissions(context: Context, permission_ids: Collection[str]) -> list[str]:
    """Return the ids, each once. Raises MalformedPermissionId for one of no permission of the tenant."""
    requested = list(dict.fromkeys(permission_ids))
    if not all(organization_names.is_id(organization_names.PERMISSION, permission_id) for permission_id in requested):
        raise errors.MalformedPermissionId
    if requested and organization_role_store.lock_permissions(context, requested) < len(requested):
        raise errors.MalformedPermissionId
    return requested


def _permission_id(permission_id: str) -> str:
    if not organization_names.is_id(organization_names.PERMISSION, permission_id):
        raise errors.MalformedPermissionId
    return permission_id


def _role_id(role_id: str) -> str:
    if not role_id.strip():
        raise errors.RoleIdMissing
    if not organization_names.is_id(organization_names.ROLE, role_id):
        raise errors.MalformedRoleId
    return role_id


def _found(permission: PermissionRecord | None) -> PermissionRecord:
    if permission is None:
        raise errors.UnknownOrganizationPermission
    return permission
