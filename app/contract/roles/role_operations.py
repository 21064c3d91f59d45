"""Roles of accounts, with their permissions and contexts.

A role belongs to the tenant and is known by its name. An account has it in every context, or in one context. The docstrings are
published.
"""

from typing import Annotated, Final

from pydantic import Field

from app.contract import errors
from app.contract.auth import API_KEY, API_SECRET, MACHINE_TOKEN
from app.contract.catalogue import operation
from app.contract.error_groups import UID_ERRORS
from app.contract.shared_parameters import Uid, WebhookSuppression
from app.contract.shared_responses import Deleted
from app.kit.operations.operation import Accept
from app.kit.operations.wire import From, Lower, Wire

MAX_NAME: Final = 64
"""Characters in the name of a role, a permission or a context."""
MAX_ROLES: Final = 200
"""Roles of a tenant."""
MAX_PERMISSIONS: Final = 100
"""Permissions of a role, and additional permissions of a context."""
MAX_ACCOUNT_ROLES: Final = 50
"""Roles of an account outside contexts, and in each context."""
MAX_CONTEXTS: Final = 50
"""Contexts of an account."""
MAX_PAGE: Final = 1_000
"""Accounts in one response about a context."""

GivenName = Annotated[str, Field(max_length=1_000)]
"""A name in a request. A name that is too long for a role, permission or context is refused with its own error."""
RoleNames = Annotated[list[GivenName], Field(min_length=1, max_length=MAX_ACCOUNT_ROLES)]
PermissionNames = Annotated[list[GivenName], Field(min_length=1, max_length=MAX_PERMISSIONS)]
PermissionMap = dict[str, bool]


class RoleInput(Wire):
    """A new role. A permission with the value false isn't granted."""

    name: GivenName
    permissions: PermissionMap = Field(default_factory=dict, max_length=MAX_PERMISSIONS)


class CreateRoles(Lower):
    roles: list[RoleInput] = Field(min_length=1, max_length=MAX_ROLES)


class ListRoles(Lower):
    pass


class RoleName(Lower):
    """A role, by its exact name."""

    role: Annotated[str, From.PATH]


class RolePermissions(RoleName):
    permissions: PermissionNames


class AccountRole(Wire):
    name: str
    permissions: PermissionMap


class RoleList(Wire):
    """Roles in the order of their names."""

    data: list[AccountRole] = Field(alias="data")
    count: int


class ReadAccountRoles(Uid):
    pass


class ChangeAccountRoles(Uid, WebhookSuppression):
    roles: RoleNames


class AccountRoles(Wire):
    """The names of an account's roles, sorted, without those of its contexts."""

    roles: list[str]


class RoleContextInput(Wire):
    """Roles and additional permissions of an account in one context. If the account has the context already, members that are
    absent keep their values. `Expiration` is in UTC, as 12/31/2027 11:59:59 PM or in ISO 8601; with null, the context doesn't
    expire."""

    context: GivenName
    roles: list[GivenName] | None = Field(default=None, max_length=MAX_ACCOUNT_ROLES)
    additional_permissions: list[GivenName] | None = Field(default=None, max_length=MAX_PERMISSIONS)
    expiration: str | None = Field(default=None, max_length=64)


class ReadRoleContexts(Uid):
    pass


class ChangeRoleContexts(Uid, WebhookSuppression):
    role_context: list[RoleContextInput] = Field(min_length=1, max_length=MAX_CONTEXTS)


class RoleContextName(Lower):
    """A context, by its exact name."""

    context: Annotated[str, From.PATH]


class RemoveRoleContext(Uid, RoleContextName, WebhookSuppression):
    pass


class RemoveContextRoles(Uid, RoleContextName, WebhookSuppression):
    roles: RoleNames


class RemoveContextPermissions(Uid, RoleContextName, WebhookSuppression):
    additional_permissions: PermissionNames


class ReadContextAccounts(RoleContextName):
    """`Cursor`: `NextCursor` of the previous response."""

    cursor: Annotated[str | None, From.QUERY, Field(max_length=100)] = None


class ContextContent(Wire):
    """The roles and permissions of an account in one context. An expired context is listed, but gives no permissions."""

    roles: list[str]
    additional_permissions: list[str]
    expiration: str | None


class RoleContext(ContextContent):
    context: str


class RoleContexts(Wire):
    """The contexts of an account in the order of their names."""

    data: list[RoleContext]


class ContextAccount(Wire):
    """An account that has roles or permissions in the context."""

    role_context: ContextContent
    uid: str
    last_login_date: str | None
    full_name: str | None
    email: Annotated[list[dict[str, str]], Field(description="As in the profile: `Type` and `Value` of each address.")]
    image_url: str | None


class ContextAccounts(Wire):
    """At most 1,000 accounts, in the order of their ids. `NextCursor` is present if there are more."""

    omits_none = True

    data: list[ContextAccount]
    next_cursor: str | None = None


_ACCOUNT = "/identity/v2/manage/account/{uid}"
_ROLE = "/identity/v2/manage/role"

of_account = operation(
    "roles.of_account", f"GET {_ACCOUNT}/role", ReadAccountRoles, AccountRoles,
    auth=API_KEY & API_SECRET | MACHINE_TOKEN, scope="role:read", row="A37", errors=UID_ERRORS,
    summary="List an account’s roles",
    description="Returns the names of the roles that an account has.",
)  # fmt: skip
assign = operation(
    "roles.assign", f"PUT {_ACCOUNT}/role", ChangeAccountRoles, AccountRoles, auth=API_KEY & API_SECRET | MACHINE_TOKEN,
    scope="role:update", row="A38", accepts=Accept.JSON, errors=(errors.UnknownRoleName, *UID_ERRORS),
    summary="Assign roles to an account",
    description="Gives roles to an account, in addition to those it has. The roles must exist.",
)  # fmt: skip
unassign = operation(
    "roles.unassign", f"DELETE {_ACCOUNT}/role", ChangeAccountRoles, Deleted, auth=API_KEY & API_SECRET | MACHINE_TOKEN,
    scope="role:delete", row="A39", accepts=Accept.JSON, errors=(errors.UnknownRoleName, *UID_ERRORS),
    summary="Remove roles from an account",
    description="Takes roles from an account.",
)  # fmt: skip

contexts = operation(
    "roles.contexts", f"GET {_ACCOUNT}/rolecontext", ReadRoleContexts, RoleContexts,
    auth=API_KEY & API_SECRET | MACHINE_TOKEN, scope="role:read", row="A40", errors=UID_ERRORS,
    summary="List an account’s role contexts",
    description="Returns the role contexts of an account: roles and permissions that apply in one part of your application, for "
    "example a project.",
)  # fmt: skip
change_contexts = operation(
    "roles.change_contexts", f"PUT {_ACCOUNT}/rolecontext", ChangeRoleContexts, RoleContexts,
    auth=API_KEY & API_SECRET | MACHINE_TOKEN, scope="role:update",
    accepts=Accept.JSON, row="A41", errors=(errors.UnknownRoleName, errors.UnknownRoleContext, errors.MalformedExpiration, *UID_ERRORS),
    summary="Set role contexts of an account",
    description="Adds role contexts to an account, or changes those it has. A context can expire.",
)  # fmt: skip
_ONE_CONTEXT = f"{_ACCOUNT}/rolecontext/{{context}}"
remove_context = operation(
    "roles.remove_context", f"DELETE {_ONE_CONTEXT}", RemoveRoleContext, Deleted,
    auth=API_KEY & API_SECRET | MACHINE_TOKEN, scope="role:delete", row="A42",
    accepts=Accept.JSON, errors=(errors.UnknownRoleContext, *UID_ERRORS),
    summary="Delete a role context of an account",
    description="Removes a role context from an account, with its roles and permissions.",
)  # fmt: skip
remove_context_roles = operation(
    "roles.remove_context_roles", f"DELETE {_ONE_CONTEXT}/role", RemoveContextRoles, Deleted,
    auth=API_KEY & API_SECRET | MACHINE_TOKEN, scope="role:delete",
    accepts=Accept.JSON, row="A43", errors=(errors.UnknownRoleContext, errors.UnknownRoleName, *UID_ERRORS),
    summary="Remove roles from a role context",
    description="Takes roles from a role context of an account.",
)  # fmt: skip
remove_context_permissions = operation(
    "roles.remove_context_permissions", f"DELETE {_ONE_CONTEXT}/additionalpermission", RemoveContextPermissions, Deleted,
    auth=API_KEY & API_SECRET | MACHINE_TOKEN, scope="role:delete", accepts=Accept.JSON, row="A44",
    errors=(errors.UnknownRoleContext, errors.UnknownPermission, *UID_ERRORS),
    summary="Remove permissions from a role context",
    description="Takes additional permissions from a role context of an account.",
)  # fmt: skip
context_accounts = operation(
    "roles.context_accounts", "GET /identity/v2/manage/account/rolecontext/{context}", ReadContextAccounts, ContextAccounts,
    auth=API_KEY & API_SECRET | MACHINE_TOKEN, scope="role:read", row="A45", errors=(errors.UnknownRoleContext,),
    summary="List accounts with a role context",
    description="Returns the accounts that have a role context, a page at a time. Pass `cursor` for the next page.",
)  # fmt: skip

read_all = operation(
    "roles.read_all", f"GET {_ROLE}", ListRoles, RoleList, auth=API_KEY & API_SECRET | MACHINE_TOKEN, scope="role:read", row="A46",
    summary="List roles",
    description="Returns the roles of the tenant with their permissions.",
)  # fmt: skip
create = operation(
    "roles.create", f"POST {_ROLE}", CreateRoles, RoleList, auth=API_KEY & API_SECRET | MACHINE_TOKEN,
    scope="role:create", row="A47", accepts=Accept.JSON, errors=(errors.RoleNameRefused,),
    summary="Create roles",
    description="Creates one or more roles with their permissions and returns them.",
)  # fmt: skip
delete = operation(
    "roles.delete", f"DELETE {_ROLE}/{{role}}", RoleName, Deleted, auth=API_KEY & API_SECRET | MACHINE_TOKEN,
    scope="role:delete", row="A48", accepts=Accept.JSON, errors=(errors.UnknownRoleName,),
    summary="Delete a role",
    description="Deletes a role and takes it from every account and role context.",
)  # fmt: skip
add_permissions = operation(
    "roles.add_permissions", f"PUT {_ROLE}/{{role}}/permission", RolePermissions, AccountRole,
    auth=API_KEY & API_SECRET | MACHINE_TOKEN, scope="role:update",
    row="A49", accepts=Accept.JSON, errors=(errors.UnknownRoleName,),
    summary="Add permissions to a role",
    description="Adds permissions to a role. Accounts with the role have them at once; tokens that were issued earlier keep their "
    "claims.",
)  # fmt: skip
remove_permissions = operation(
    "roles.remove_permissions", f"DELETE {_ROLE}/{{role}}/permission", RolePermissions, AccountRole,
    auth=API_KEY & API_SECRET | MACHINE_TOKEN, scope="role:delete",
    row="A50", accepts=Accept.JSON, errors=(errors.UnknownRoleName, errors.UnknownPermission),
    summary="Remove permissions from a role",
    description="Takes permissions from a role.",
)  # fmt: skip
