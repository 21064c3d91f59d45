"""Operations behind the pages on which an account manages the members of an organization."""

from typing import Annotated

from pydantic import Field

from app.contract import errors
from app.contract.accounts.pages.reauthentication_pages import AccountView
from app.contract.catalogue import hub_operation
from app.contract.organizations.pages.account_organization_pages import OWN_ORGANIZATIONS, Id, OwnOrganization
from app.contract.organizations.pages.open_invitations import ActiveSharedInvitation, PendingInvitation
from app.contract.shared_responses import Posted
from app.kit.operations.wire import From, Wire

MEMBERS_PER_PAGE = 25


class MembersRequest(Wire):
    """`search` is a part of a name, email address, username or phone number."""

    organization: Annotated[str, From.PATH, Field(max_length=64)]
    search: Annotated[str, From.QUERY, Field(max_length=100)] = ""
    page: Annotated[int, From.QUERY, Field(ge=1, le=100_000)] = 1


class MemberView(Wire):
    """A member, as those who manage the organization see it."""

    uid: str
    name: str = ""  # first and last name, as far as known
    label: str  # email, username or phone
    roles: list[str] = Field(default_factory=list)  # names
    role_ids: list[str] = Field(default_factory=list)
    since: str
    is_self: bool = False
    is_owner: bool = False
    can_change: bool = True  # only owners may change owners, and the only owner stays
    is_last_owner: bool = False


class MembersResponse(AccountView):
    """A page of the members, the oldest first, and after the last one of the open invitations."""

    organization: OwnOrganization
    members: list[MemberView] = Field(default_factory=list)
    invitations: list[PendingInvitation] = Field(default_factory=list)
    has_more: bool = False  # there is a next page
    links: list[ActiveSharedInvitation] = Field(default_factory=list)
    invited: int = 0  # open invitations by email
    free_seats: int | None = None  # None: no limit


class MemberRequest(Wire):
    organization: Annotated[str, From.PATH, Field(max_length=64)]
    uid: Annotated[str, From.PATH, Field(max_length=64)]


class RoleView(Wire):
    """A role that members of the organization can have."""

    id: str
    name: str
    description: str = ""
    can_change: bool = True  # only owners may grant or remove owner roles


class MemberResponse(AccountView):
    organization: OwnOrganization
    member: MemberView
    roles: list[RoleView] = Field(default_factory=list)


class SetMemberRolesRequest(Wire):
    organization: Id
    uid: Id
    role_ids: list[Id] = Field(min_length=1, max_length=50)


class RemoveMemberRequest(Wire):
    organization: Id
    uid: Id


_MANAGED = (errors.UnknownOrganization, errors.NotAMember)
_CHANGES = (*_MANAGED, errors.LastOwner, errors.OwnersOnly)
members = hub_operation(
    "hub.organization_members", f"GET {OWN_ORGANIZATIONS}/{{organization}}/members", MembersRequest, MembersResponse,
    errors=(errors.NotAuthenticated, errors.UnknownOrganization),
    summary="Read a page of the members of an organization that the account manages, and of the people invited to it.",
)  # fmt: skip
member = hub_operation(
    "hub.organization_member", f"GET {OWN_ORGANIZATIONS}/{{organization}}/members/{{uid}}", MemberRequest, MemberResponse,
    errors=(errors.NotAuthenticated, *_MANAGED),
    summary="Read a member of an organization that the account manages, and the roles to choose from.",
)  # fmt: skip
set_roles = hub_operation(
    "hub.set_member_roles", f"POST {OWN_ORGANIZATIONS}/members/roles", SetMemberRolesRequest, Posted, reauthentication=True,
    errors=(*_CHANGES, errors.MalformedRoleId, errors.RoleOfOtherOrganization),
    summary="Replace the roles of a member of an organization that the account manages.",
)  # fmt: skip
remove = hub_operation(
    "hub.remove_member", f"POST {OWN_ORGANIZATIONS}/members/remove", RemoveMemberRequest, Posted, reauthentication=True,
    errors=_CHANGES, summary="Remove a member from an organization that the account manages.",
)  # fmt: skip
