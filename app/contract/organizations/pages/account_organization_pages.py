"""Operations behind the pages of an account's organizations: choose one at sign-in, list them, leave one."""

from typing import Annotated, Literal

from pydantic import Field

from app.contract import errors
from app.contract.accounts.pages.reauthentication_pages import AccountView
from app.contract.catalogue import hub_operation
from app.contract.organizations.views import InvitationHint, JoinableOrganization
from app.contract.page_models import InteractionOnly, NoParameters
from app.contract.shared_responses import Posted
from app.contract.steps import StepResponse
from app.kit.operations.wire import Wire

Id = Annotated[str, Field(max_length=64)]


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


class LeaveOrganizationRequest(Wire):
    organization: Id


OWN_ORGANIZATIONS = "/hub/own/organizations"

read = hub_operation(
    "hub.read_own_organizations", f"GET {OWN_ORGANIZATIONS}", NoParameters, OwnOrganizations, errors=(errors.NotAuthenticated,),
    summary="Read the account's active organizations.",
)  # fmt: skip


leave = hub_operation(
    "hub.leave_organization", f"POST {OWN_ORGANIZATIONS}/leave", LeaveOrganizationRequest, Posted, reauthentication=True,
    errors=(errors.UnknownOrganization, errors.LastOwner), summary="Leave an organization, unless the account is its only owner.",
)  # fmt: skip
