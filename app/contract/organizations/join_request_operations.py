"""The tenant's servers decide the requests of accounts to join an organization by a verified domain."""

from typing import Annotated, Literal

from pydantic import Field

from app.contract import errors
from app.contract.auth import ORGANIZATION_MANAGEMENT
from app.contract.catalogue import operation
from app.contract.error_profiles import ORGANIZATIONS
from app.contract.organizations.models import OrgPath
from app.contract.organizations.organization_operations import ACTIVE
from app.contract.paging import PagedByDefault
from app.kit.operations.wire import From, Wire

RequestStatus = Literal["open", "approved", "declined"]


class ListJoinRequests(OrgPath, PagedByDefault):
    """`status` selects the requests in this state."""

    status: Annotated[RequestStatus | None, From.QUERY] = None


class JoinRequestPath(OrgPath):
    """A request of an organization, by the ids in the path."""

    id: Annotated[str, From.PATH, Field(max_length=200)]


class JoinRequest(Wire):
    """An account's request to join the organization. `DomainName` is the domain of its verified email address, `DecidedBy` the
    `Uid` of the manager who approved or declined it."""

    id: str
    uid: str
    org_id: str
    domain_name: str
    status: RequestStatus
    created_date: str
    decided_date: str | None
    decided_by: str | None


class JoinRequests(Wire):
    data: list[JoinRequest]


_PATH = "/v2/manage/organizations/{orgId}/joinrequests"
_ONE = f"{_PATH}/{{id}}"
_DECISION = (*ACTIVE, errors.UnknownJoinRequest, errors.JoinRequestClosed)

list_all = operation(
    "organization_join_requests.list", f"GET {_PATH}", ListJoinRequests, JoinRequests, auth=ORGANIZATION_MANAGEMENT, scope="role:read",
    error_profile=ORGANIZATIONS, errors=ACTIVE, takes_blank_segments=True,
    summary="List join requests",
    description="Returns the requests of accounts to join an organization, oldest first.",
)  # fmt: skip
approve = operation(
    "organization_join_requests.approve", f"POST {_ONE}/approve", JoinRequestPath, JoinRequest,
    auth=ORGANIZATION_MANAGEMENT, scope="role:update",
    error_profile=ORGANIZATIONS, errors=(*_DECISION, errors.WrongDefaultMemberRole, errors.NoSeatLeft, errors.UnknownMember),
    takes_blank_segments=True,
    summary="Approve a join request",
    description="Makes the account a member with the role of new members, and tells the account by email.",
)  # fmt: skip
decline = operation(
    "organization_join_requests.decline", f"POST {_ONE}/decline", JoinRequestPath, JoinRequest,
    auth=ORGANIZATION_MANAGEMENT, scope="role:update",
    error_profile=ORGANIZATIONS, errors=_DECISION, takes_blank_segments=True,
    summary="Decline a join request",
    description="Declines the request and tells the account by email. It can ask again after 30 days.",
)  # fmt: skip
