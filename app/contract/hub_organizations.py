"""Operations of the hub around organizations: choosing one at sign-in, the account's own ones, and their members."""

from typing import Annotated, Literal

from pydantic import Field

from app.contract import errors as e
from app.contract.error_groups import REAUTHENTICATION
from app.contract.hub import AccountView
from app.contract.hub_account import SessionRenewal, WithPassword
from app.contract.hub_models import InteractionOnly, InvitationHint, JoinableOrganization, NoParameters
from app.contract.operations import HASHES_SECRETS, hub_operation
from app.contract.steps import StepResponse
from app.kit.wire import From, Wire

Id = Annotated[str, Field(max_length=64)]
MEMBERS_PER_PAGE = 25


class ChooseOrganizationRequest(InteractionOnly):
    """The visitor's choice; an empty `organization` is the personal account."""

    organization: Id = ""


choose = hub_operation(
    "hub.choose_organization", "POST /hub/organization", ChooseOrganizationRequest, StepResponse,
    summary="Continue an interaction with one of the visitor's organizations, or with the personal account.",
)  # fmt: skip


class OwnOrganization(Wire):
    """An active organization of the account."""

    id: str
    name: str
    logo: str | None = None
    roles: list[str] = Field(default_factory=list)  # names
    people: int
    since: str
    can_manage: bool = False  # the account may manage its members
    is_owner: bool = False
    is_last_owner: bool = False  # the account cannot leave
    takes_requests: bool = False  # people ask to join it


class OwnOrganizations(AccountView):
    organizations: list[OwnOrganization] = Field(default_factory=list)
    joinable: list[JoinableOrganization] = Field(default_factory=list)  # the account may ask to join them
    can_create: bool = False  # the tenant lets people create organizations
    creation_problem: Literal["", "unverified", "limit"] = ""  # why this account can create none now
    invitations: InvitationHint = Field(default_factory=InvitationHint)


class LeaveOrganizationRequest(WithPassword):
    organization: Id


class MembersRequest(Wire):
    """`search` is a part of an email address, username or phone number."""

    organization: Annotated[str, From.PATH, Field(max_length=64)]
    search: Annotated[str, From.QUERY, Field(max_length=100)] = ""
    page: Annotated[int, From.QUERY, Field(ge=1, le=100_000)] = 1


class MemberView(Wire):
    """A member, as those who manage the organization see it."""

    uid: str
    label: str  # email, username or phone
    roles: list[str] = Field(default_factory=list)  # names
    role_ids: list[str] = Field(default_factory=list)
    since: str
    is_self: bool = False
    is_owner: bool = False
    can_change: bool = True  # only owners may change owners, and the only owner stays
    is_last_owner: bool = False


class MembersResponse(AccountView):
    organization: OwnOrganization
    members: list[MemberView] = Field(default_factory=list)
    has_more: bool = False  # there is a next page


class MemberRequest(Wire):
    organization: Annotated[str, From.PATH, Field(max_length=64)]
    uid: Annotated[str, From.PATH, Field(max_length=64)]


class RoleView(Wire):
    """A role that members of the organization can have."""

    id: str
    name: str
    description: str = ""
    can_change: bool = True  # roles of owners are for owners to give and take


class MemberResponse(AccountView):
    organization: OwnOrganization
    member: MemberView
    roles: list[RoleView] = Field(default_factory=list)


class SetMemberRolesRequest(WithPassword):
    organization: Id
    uid: Id
    role_ids: list[Id] = Field(min_length=1, max_length=50)


class RemoveMemberRequest(WithPassword):
    organization: Id
    uid: Id


_OWN = "/hub/own/organizations"
_MANAGED = (e.UnknownOrganization, e.NotAMember)
_CHANGES = (*REAUTHENTICATION, *_MANAGED, e.LastOwner, e.OwnersOnly)

read = hub_operation(
    "hub.own_organizations", f"GET {_OWN}", NoParameters, OwnOrganizations, errors=(e.NotAuthenticated,),
    summary="Read the account's active organizations.",
)  # fmt: skip
leave = hub_operation(
    "hub.leave_organization", f"POST {_OWN}/leave", LeaveOrganizationRequest, SessionRenewal, hashing=HASHES_SECRETS,
    errors=(*REAUTHENTICATION, e.UnknownOrganization, e.LastOwner), summary="Leave an organization, unless the account is its only owner.",
)  # fmt: skip
members = hub_operation(
    "hub.organization_members", f"GET {_OWN}/{{organization}}/members", MembersRequest, MembersResponse,
    errors=(e.NotAuthenticated, e.UnknownOrganization), summary="Read a page of the members of an organization that the account manages.",
)  # fmt: skip
member = hub_operation(
    "hub.organization_member", f"GET {_OWN}/{{organization}}/members/{{uid}}", MemberRequest, MemberResponse,
    errors=(e.NotAuthenticated, *_MANAGED),
    summary="Read a member of an organization that the account manages, and the roles to choose from.",
)  # fmt: skip
set_roles = hub_operation(
    "hub.set_member_roles", f"POST {_OWN}/members/roles", SetMemberRolesRequest, SessionRenewal, hashing=HASHES_SECRETS,
    errors=(*_CHANGES, e.MalformedRoleId, e.RoleOfOtherOrganization),
    summary="Replace the roles of a member of an organization that the account manages.",
)  # fmt: skip
remove = hub_operation(
    "hub.remove_member", f"POST {_OWN}/members/remove", RemoveMemberRequest, SessionRenewal, hashing=HASHES_SECRETS,
    errors=_CHANGES, summary="Remove a member from an organization that the account manages.",
)  # fmt: skip
