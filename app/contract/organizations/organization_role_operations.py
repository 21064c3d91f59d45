"""The tenant's servers manage permissions, and roles of the tenant and of organizations."""

from typing import Annotated, Literal

from pydantic import Field

from app.contract import errors
from app.contract.auth import ORGANIZATION_MANAGEMENT
from app.contract.catalogue import operation
from app.contract.error_profiles import NESTED, ORGANIZATIONS
from app.contract.organizations.models import Id, OrgPath
from app.contract.paging import Paged
from app.contract.shared_responses import Deleted
from app.kit.operations.operation import Accept
from app.kit.operations.wire import From, Wire

PermissionName = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.:/*-]{0,99}$")]
RoleName = Annotated[str, Field(min_length=1, max_length=100)]
Text = Annotated[str, Field(max_length=500)]
PermissionIds = Annotated[list[Id], Field(max_length=200)]
Level = Literal["tenant", "org"]


class PermissionPath(Wire):
    id: Annotated[str, From.PATH]


class CreatePermission(Wire):
    name: PermissionName
    description: Text = ""


class UpdatePermission(PermissionPath):
    name: PermissionName
    description: Text


class Permission(Wire):
    """A permission that roles include, for example `read:users`."""

    id: str
    name: str
    description: str
    created_date: str
    modified_date: str


class Permissions(Wire):
    data: list[Permission]


class RolePath(Wire):
    id: Annotated[str, From.PATH]


class CreateRole(Wire):
    """A role to create, with the IDs of its permissions."""

    name: RoleName
    description: Text = ""
    permissions: PermissionIds = Field(default_factory=list)


class UpdateRole(RolePath):
    """`Permissions` replaces the ids of permissions."""

    name: RoleName
    description: Text
    permissions: PermissionIds


class CreateOrganizationRole(OrgPath):
    """A role to create, with the IDs of its permissions."""

    name: Annotated[str | None, Field(max_length=100)] = None
    description: Text = ""
    permissions: PermissionIds = Field(default_factory=list)


class ListOrganizationRoles(OrgPath, Paged):
    """`level` selects the roles of the organization, `org`, or those of the tenant, `tenant`; without it there are both."""

    level: Annotated[Level | None, From.QUERY] = None


class FindRoles(Wire):
    """`orgid` looks in the organization first, and at the roles of the tenant if it has none of the name."""

    name: Annotated[str, From.PATH]
    org_id: Annotated[str | None, From.QUERY, Field(max_length=200)] = None


class RolePermission(Wire):
    """A permission of a role. `OriginalName` is its first name; `ResourceId` is empty."""

    id: Annotated[str, Field(alias="ID")]
    name: str
    description: str
    original_name: str
    resource_id: str = ""


class Role(Wire):
    """A role. `OrgId` is empty for a role of the tenant; `OriginalName` is the name with which it was created."""

    id: str
    name: str
    description: str
    level: Level
    org_id: str
    permissions: list[RolePermission]
    created_date: str
    modified_date: str
    original_name: str


class Roles(Wire):
    data: list[Role]


class IsDefault(Wire):
    is_default: bool = True


_PERMISSIONS, _PERMISSION = "/v2/manage/permissions", "/v2/manage/permissions/{id}"
_ROLES, _ROLE = "/v2/manage/roles", "/v2/manage/roles/{id}"
_OF_ORGANIZATION = "/v2/manage/organizations/{orgId}/roles"
OFF = errors.OrganizationsOff.at(403)
_PERMISSION_ERRORS = (OFF, errors.MalformedPermissionId, errors.UnknownOrganizationPermission)
_ROLE_ERRORS = (OFF, errors.RoleIdMissing, errors.MalformedRoleId, errors.UnknownOrganizationRole)
_ORGANIZATION_ERRORS = (OFF, errors.OrganizationIdMissing, errors.MalformedOrganizationId, errors.UnknownOrganization)

list_permissions = operation(
    "organization_permissions.list", f"GET {_PERMISSIONS}", Paged, Permissions, auth=ORGANIZATION_MANAGEMENT, scope="role:read",
    error_profile=ORGANIZATIONS, errors=(OFF,),
    summary="List permissions",
    description="Returns the permissions of the tenant by name.",
)  # fmt: skip
create_permission = operation(
    "organization_permissions.create", f"POST {_PERMISSIONS}", CreatePermission, Permission,
    auth=ORGANIZATION_MANAGEMENT, scope="role:create",
    accepts=Accept.JSON, error_profile=ORGANIZATIONS, errors=(OFF, errors.PermissionTaken),
    summary="Create a permission",
    description="Creates a permission that roles can grant, for example `orders:read`.",
)  # fmt: skip
read_permission = operation(
    "organization_permissions.read", f"GET {_PERMISSION}", PermissionPath, Permission, auth=ORGANIZATION_MANAGEMENT, scope="role:read",
    error_profile=ORGANIZATIONS, errors=_PERMISSION_ERRORS,
    summary="Get a permission",
    description="Returns a permission.",
)  # fmt: skip
update_permission = operation(
    "organization_permissions.update", f"PUT {_PERMISSION}", UpdatePermission, Permission, auth=ORGANIZATION_MANAGEMENT,
    scope="role:update",
    accepts=Accept.JSON, error_profile=ORGANIZATIONS, errors=(*_PERMISSION_ERRORS, errors.PermissionTaken),
    summary="Update a permission",
    description="Changes the name or description of a permission.",
)  # fmt: skip
delete_permission = operation(
    "organization_permissions.delete", f"DELETE {_PERMISSION}", PermissionPath, Deleted, auth=ORGANIZATION_MANAGEMENT, scope="role:delete",
    error_profile=ORGANIZATIONS, errors=_PERMISSION_ERRORS,
    summary="Delete a permission",
    description="Deletes a permission and removes it from every role.",
)  # fmt: skip

list_roles = operation(
    "organization_roles.list", f"GET {_ROLES}", Paged, Roles, auth=ORGANIZATION_MANAGEMENT, scope="role:read",
    error_profile=ORGANIZATIONS, errors=(OFF,),
    summary="List tenant roles",
    description="Returns the roles of the tenant by name. Members of every organization can have them.",
)  # fmt: skip
create_role = operation(
    "organization_roles.create", f"POST {_ROLES}", CreateRole, Role, auth=ORGANIZATION_MANAGEMENT, scope="role:create", accepts=Accept.JSON,
    error_profile=NESTED, errors=(OFF, errors.OrganizationRoleTaken, errors.MalformedPermissionId),
    summary="Create a tenant role",
    description="Creates a role that members of every organization can have.",
)  # fmt: skip
read_role = operation(
    "organization_roles.read", f"GET {_ROLE}", RolePath, Role, auth=ORGANIZATION_MANAGEMENT, scope="role:read", error_profile=ORGANIZATIONS,
    errors=_ROLE_ERRORS, takes_blank_segments=True,
    summary="Get a role",
    description="Returns a role of the tenant or of one organization.",
)  # fmt: skip
update_role = operation(
    "organization_roles.update", f"PUT {_ROLE}", UpdateRole, Role, auth=ORGANIZATION_MANAGEMENT, scope="role:update", accepts=Accept.JSON,
    error_profile=NESTED, errors=(*_ROLE_ERRORS, errors.OrganizationRoleTaken, errors.MalformedPermissionId, errors.OrganizationInactive),
    takes_blank_segments=True,
    summary="Update a role",
    description="Changes the name, description or permissions of a role.",
)  # fmt: skip
delete_role = operation(
    "organization_roles.delete", f"DELETE {_ROLE}", RolePath, Deleted, auth=ORGANIZATION_MANAGEMENT,
    scope="role:delete", error_profile=ORGANIZATIONS,
    errors=(*_ROLE_ERRORS, errors.DefaultRoleRequired, errors.OrganizationInactive), takes_blank_segments=True,
    summary="Delete an organization role",
    description="Deletes a role of the tenant or of one organization, and takes it from every member. The default role can’t be "
    "deleted.",
)  # fmt: skip
find_roles = operation(
    "organization_roles.find", f"GET {_ROLES}/{{name}}/name", FindRoles, Roles, auth=ORGANIZATION_MANAGEMENT,
    scope="role:read", error_profile=ORGANIZATIONS,
    errors=(OFF, errors.RoleNameMissing, errors.MalformedOrganizationId, errors.UnknownOrganization), takes_blank_segments=True,
    summary="Find roles by name",
    description="Returns the roles with this name, of the tenant and of organizations.",
)  # fmt: skip
set_default_role = operation(
    "organization_roles.set_default", f"PUT {_ROLE}/default", RolePath, IsDefault, auth=ORGANIZATION_MANAGEMENT, scope="role:update",
    error_profile=NESTED, errors=(*_ROLE_ERRORS, errors.RoleNotOfTenant), takes_blank_segments=True,
    summary="Set the default role",
    description="Makes a role of the tenant the one that new members get, instead of the previous default.",
)  # fmt: skip
list_organization_roles = operation(
    "organization_roles.list_of_organization", f"GET {_OF_ORGANIZATION}", ListOrganizationRoles, Roles,
    auth=ORGANIZATION_MANAGEMENT, scope="role:read",
    error_profile=ORGANIZATIONS, errors=_ORGANIZATION_ERRORS, takes_blank_segments=True,
    summary="List an organization’s roles",
    description="Returns the roles that members of an organization can have: its own and those of the tenant.",
)  # fmt: skip
create_organization_role = operation(
    "organization_roles.create_of_organization", f"POST {_OF_ORGANIZATION}", CreateOrganizationRole, Role,
    auth=ORGANIZATION_MANAGEMENT, scope="role:create",
    accepts=Accept.JSON, error_profile=NESTED, takes_blank_segments=True,
    summary="Create a role of an organization",
    description="Creates a role that only members of this organization can have.",
    errors=(
        *_ORGANIZATION_ERRORS, errors.RoleNameMissing, errors.OrganizationRoleTaken, errors.MalformedPermissionId,
        errors.OrganizationInactive,
    ),
)  # fmt: skip
