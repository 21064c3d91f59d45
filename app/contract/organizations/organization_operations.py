"""The tenant's servers manage organizations, their activity and their policies."""

from typing import Annotated, Any

from pydantic import Field

from app.contract import errors
from app.contract.auth import ORGANIZATION_MANAGEMENT
from app.contract.catalogue import operation
from app.contract.error_profiles import ORGANIZATIONS
from app.contract.organizations.models import (
    Connection,
    Display,
    DisplayUpdate,
    Domain,
    IsActive,
    JitPolicy,
    MemberPolicy,
    MethodPolicy,
    MfaPolicy,
    OrganizationPasswordPolicy,
    OrgPath,
    Policies,
    SessionPolicy,
    Status,
)
from app.contract.paging import Paged
from app.contract.shared_responses import Deleted
from app.kit.operations.operation import Accept
from app.kit.operations.partial_update import PartialUpdate
from app.kit.operations.wire import From, Wire

Name = Annotated[str, Field(min_length=1, max_length=100)]
Metadata = Annotated[dict[str, Any], Field(max_length=50)]


class DomainInput(Wire):
    """A domain to add. With `IsVerified`, it needs no DNS record, because you know its owner; a client ID and secret can't set
    this."""

    domain_name: Annotated[str, Field(min_length=1, max_length=253)]
    is_verified: bool = False


Domains = Annotated[list[DomainInput], Field(max_length=100)]


class ListOrganizations(Paged):
    """`name` selects the organizations whose name contains the text, in any letter case."""

    name: Annotated[str | None, From.QUERY, Field(max_length=100)] = None


class CreateOrganization(Wire):
    name: Name
    display: Display | None = None
    domains: Domains | None = None
    metadata: Metadata | None = None


class UpdateOrganization(OrgPath, PartialUpdate):
    """`Domains` replaces the list of domains, `Metadata` the whole map."""

    never_cleared = ("name",)
    name: Name | None = None
    display: DisplayUpdate | None = None
    domains: Domains | None = None
    metadata: Metadata | None = None


class SetOrganizationStatus(OrgPath, Status):
    pass


class SetPolicies(OrgPath, PartialUpdate):
    """The policies to change, member by member; the tenant's setting applies instead of a cleared one."""

    jit_policy: Annotated[JitPolicy | None, Field(alias="JITPolicy")] = None
    mfa_policy: Annotated[MfaPolicy | None, Field(alias="MFAPolicy")] = None
    member_policy: MemberPolicy | None = None
    password_policy: OrganizationPasswordPolicy | None = None
    session_policy: SessionPolicy | None = None
    method_policy: MethodPolicy | None = None


class Organization(Wire):
    """An organization with its domains, connections and policies."""

    id: str
    name: str
    display: Display
    is_active: bool
    created_date: str
    modified_date: str
    metadata: dict[str, Any]
    domains: list[Domain]
    connections: list[Connection]
    policies: Policies


class Organizations(Wire):
    data: list[Organization]


_PATH = "/v2/manage/organizations"
_ONE = f"{_PATH}/{{orgId}}"
OFF = errors.OrganizationsOff
FOUND = (OFF, errors.MalformedOrganizationId, errors.OrganizationIdMissing, errors.UnknownOrganization)
"""The errors of every operation of one organization."""
ACTIVE = (*FOUND, errors.OrganizationInactive)

list_all = operation(
    "organizations.list", f"GET {_PATH}", ListOrganizations, Organizations, auth=ORGANIZATION_MANAGEMENT, scope="organization:read",
    error_profile=ORGANIZATIONS, errors=(OFF,),
    summary="List organizations",
    description="Returns the organizations of the tenant, oldest first.",
)  # fmt: skip
create = operation(
    "organizations.create", f"POST {_PATH}", CreateOrganization, Organization, auth=ORGANIZATION_MANAGEMENT,
    scope="organization:create", accepts=Accept.JSON,
    error_profile=ORGANIZATIONS, errors=(OFF, errors.OrganizationNameTaken, errors.DomainTaken, errors.TooManyOrganizations),
    summary="Create an organization",
    description="Creates an organization, for example when a business customer signs a contract. Members, domains and connections are "
    "added afterwards.",
)  # fmt: skip
read = operation(
    "organizations.read", f"GET {_ONE}", OrgPath, Organization, auth=ORGANIZATION_MANAGEMENT, scope="organization:read",
    error_profile=ORGANIZATIONS, errors=ACTIVE, takes_blank_segments=True,
    summary="Get an organization",
    description="Returns an organization with its domains, connections and policies.",
)  # fmt: skip
update = operation(
    "organizations.update", f"PUT {_ONE}", UpdateOrganization, Organization, auth=ORGANIZATION_MANAGEMENT,
    scope="organization:update", accepts=Accept.JSON, error_profile=ORGANIZATIONS, takes_blank_segments=True,
    summary="Update an organization",
    description="Changes an organization.",
    errors=(*ACTIVE, errors.OrganizationNameTaken, errors.DomainTaken, errors.DomainInUse),
)  # fmt: skip
delete = operation(
    "organizations.delete", f"DELETE {_ONE}", OrgPath, Deleted, auth=ORGANIZATION_MANAGEMENT,
    scope="organization:delete", error_profile=ORGANIZATIONS, errors=FOUND, takes_blank_segments=True,
    summary="Delete an organization",
    description="Deletes an organization with its roles, memberships, domains, connections and invitations. Accounts stay.",
)  # fmt: skip
set_status = operation(
    "organizations.set_status", f"PUT {_ONE}/status", SetOrganizationStatus, IsActive, auth=ORGANIZATION_MANAGEMENT,
    scope="organization:update",
    accepts=Accept.JSON, error_profile=ORGANIZATIONS, errors=(*FOUND, errors.StatusAlreadySet, errors.WrongStatus),
    takes_blank_segments=True,
    summary="Activate or deactivate an organization",
    description="Activates or deactivates an organization. Members of an inactive organization can’t sign in to it.",
)  # fmt: skip
read_policies = operation(
    "organizations.read_policies", f"GET {_ONE}/policy", OrgPath, Policies, auth=ORGANIZATION_MANAGEMENT, scope="organization:read",
    error_profile=ORGANIZATIONS, errors=ACTIVE, takes_blank_segments=True,
    summary="Get an organization’s policies",
    description="Returns what an organization requires of its members: sign-in methods, second factors, sessions, passwords and how "
    "people join.",
)  # fmt: skip
set_policies = operation(
    "organizations.set_policies", f"PUT {_ONE}/policy", SetPolicies, Policies, auth=ORGANIZATION_MANAGEMENT, scope="organization:update",
    accepts=Accept.JSON, error_profile=ORGANIZATIONS, takes_blank_segments=True,
    summary="Update an organization’s policies",
    description="Changes what an organization requires of its members.",
    errors=(*ACTIVE, errors.WrongDefaultMemberRole, errors.MfaPolicyConflict, errors.JitWithoutConnection),
)  # fmt: skip
