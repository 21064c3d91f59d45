"""The tenant's servers manage the roles of accounts in organizations.

An account is a member of an organization while it has a role there.
"""

from typing import Annotated

from pydantic import Field

from app.contract import errors
from app.contract.auth import ORGANIZATION_MANAGEMENT
from app.contract.catalogue import operation
from app.contract.error_profiles import NESTED, ORGANIZATIONS
from app.contract.organizations.models import Ids, OrgPath
from app.contract.paging import Paged
from app.contract.shared_parameters import Uid
from app.contract.shared_responses import Deleted
from app.kit.operations.operation import Accept
from app.kit.operations.wire import From, Wire


class MemberAccount(Uid):
    """An account, by the id in the path."""


class ListMemberRoles(Uid, Paged):
    pass


class MemberOfOrganization(Uid, OrgPath):
    pass


class RolesInOrganization(MemberOfOrganization):
    role_ids: Ids


class RolesEverywhere(Uid):
    role_ids: Ids = Field(alias="RoleIds")


class ListMembers(OrgPath, Paged):
    """`roleid` selects the members with a role, `email` those whose address contains the text."""

    role_id: Annotated[str | None, From.QUERY, Field(max_length=200)] = None
    email: Annotated[str | None, From.QUERY, Field(max_length=320)] = None


class UserRole(Wire):
    """An account's role in an organization. `Email` is the account's primary email address; it's empty if there's none."""

    id: str
    uid: str
    role_id: str
    org_id: str
    email: str
    created_date: str


class UserRoles(Wire):
    data: list[UserRole]


_ACCOUNT = "/v2/manage/account/{uid}/orgcontext"
_IN_ORGANIZATION = f"{_ACCOUNT}/{{orgId}}"
OFF = errors.OrganizationsOff.at(403)
_OF_ACCOUNT = (OFF, errors.UserIdMissing, errors.UnknownMember)
_OF_ORGANIZATION = (errors.OrganizationIdMissing, errors.MalformedOrganizationId, errors.UnknownOrganization)
_OF_BOTH = (*_OF_ACCOUNT, *_OF_ORGANIZATION, errors.OrganizationInactive)
_ROLES = (errors.MalformedRoleId, errors.UserRoleExists)

list_of_account = operation(
    "organization_members.list_of_account", f"GET {_ACCOUNT}", ListMemberRoles, UserRoles, auth=ORGANIZATION_MANAGEMENT, scope="role:read",
    error_profile=ORGANIZATIONS, errors=_OF_ACCOUNT, takes_blank_segments=True,
    summary="List an account’s roles in all organizations",
    description="Returns the roles of an account in each organization that it belongs to.",
)  # fmt: skip
leave_all = operation(
    "organization_members.leave_all", f"DELETE {_ACCOUNT}", MemberAccount, Deleted, auth=ORGANIZATION_MANAGEMENT, scope="role:delete",
    error_profile=ORGANIZATIONS, errors=_OF_ACCOUNT, takes_blank_segments=True,
    summary="Remove an account from all organizations",
    description="Takes all roles in all organizations from an account, which ends its memberships.",
)  # fmt: skip
list_in_organization = operation(
    "organization_members.list_in_organization", f"GET {_IN_ORGANIZATION}", MemberOfOrganization, UserRoles,
    auth=ORGANIZATION_MANAGEMENT, scope="role:read",
    error_profile=ORGANIZATIONS, errors=(*_OF_BOTH, errors.NotAMember), takes_blank_segments=True,
    summary="List an account’s roles in an organization",
    description="Returns the roles that an account has in one organization.",
)  # fmt: skip
leave = operation(
    "organization_members.leave", f"DELETE {_IN_ORGANIZATION}", MemberOfOrganization, Deleted,
    auth=ORGANIZATION_MANAGEMENT, scope="role:delete",
    error_profile=ORGANIZATIONS, errors=(*_OF_BOTH, errors.NotAMember), takes_blank_segments=True,
    summary="Remove a member",
    description="Takes all roles in an organization from an account, which ends its membership.",
)  # fmt: skip
assign = operation(
    "organization_members.assign", f"PUT {_IN_ORGANIZATION}/roles", RolesInOrganization, UserRoles,
    auth=ORGANIZATION_MANAGEMENT, scope="role:update",
    accepts=Accept.JSON, error_profile=NESTED, takes_blank_segments=True,
    errors=(*_OF_BOTH, *_ROLES, errors.RoleOfOtherOrganization, errors.NoSeatLeft),
    summary="Assign roles to a member",
    description="Gives an account roles in an organization. The first role makes it a member and takes a seat.",
)  # fmt: skip
unassign = operation(
    "organization_members.unassign", f"DELETE {_IN_ORGANIZATION}/roles", RolesInOrganization, Deleted,
    auth=ORGANIZATION_MANAGEMENT, scope="role:delete",
    accepts=Accept.JSON, error_profile=NESTED, takes_blank_segments=True,
    errors=(*_OF_BOTH, errors.MalformedRoleId, errors.NotAMember, errors.RoleOfOtherOrganization),
    summary="Remove roles from a member",
    description="Takes roles in an organization from an account. An account without a role isn’t a member anymore.",
)  # fmt: skip
assign_everywhere = operation(
    "organization_members.assign_everywhere", f"PUT {_ACCOUNT}/roles", RolesEverywhere, UserRoles,
    auth=ORGANIZATION_MANAGEMENT, scope="role:update",
    accepts=Accept.JSON, error_profile=NESTED, errors=(*_OF_ACCOUNT, *_ROLES, errors.RoleNotOfTenant), takes_blank_segments=True,
    summary="Assign roles in all organizations",
    description="Gives an account roles of the tenant in every active organization that it belongs to.",
)  # fmt: skip
list_of_organization = operation(
    "organization_members.list_of_organization", "GET /v2/manage/organizations/{orgId}/orgcontext", ListMembers,
    UserRoles, auth=ORGANIZATION_MANAGEMENT,
    scope="role:read", error_profile=ORGANIZATIONS, errors=(OFF, *_OF_ORGANIZATION), takes_blank_segments=True,
    summary="List members",
    description="Returns the members of an organization with their roles, oldest first.",
)  # fmt: skip
