"""Operations of the hub around requests to join an organization: ask, list, decide."""

from typing import Annotated

from pydantic import Field

from app.contract import errors
from app.contract.accounts.pages.reauthentication_pages import AccountView
from app.contract.catalogue import hub_operation
from app.contract.organizations.pages.account_organization_pages import Id, OwnOrganization
from app.contract.organizations.views import JoinableOrganization
from app.kit.operations.wire import From, Wire

REQUESTS_PER_PAGE = 25


class RequestToJoin(Wire):
    organization: Id


class RequestsRequest(Wire):
    organization: Annotated[str, From.PATH, Field(max_length=64)]
    page: Annotated[int, From.QUERY, Field(ge=1, le=100_000)] = 1


class RequestView(Wire):
    """An open request. `domain`: of the verified address by which the account may ask."""

    id: str
    name: str = ""  # first and last name, as far as known
    label: str  # email, username or phone
    domain: str
    since: str


class RequestsResponse(AccountView):
    organization: OwnOrganization
    requests: list[RequestView] = Field(default_factory=list)
    has_more: bool = False  # there is a next page


class JoinRequestDecision(Wire):
    organization: Id
    request: Id


class DecidedJoinRequest(Wire):
    label: str  # of the account


_OWN = "/hub/own/organizations"

request_to_join = hub_operation(
    "hub.ask_to_join", f"POST {_OWN}/ask", RequestToJoin, JoinableOrganization,
    errors=(errors.NotAuthenticated, errors.UnknownOrganization, errors.JoinRequestRefused),
    summary="Ask to join an organization that has verified the domain of the account's verified address.",
)  # fmt: skip
read = hub_operation(
    "hub.read_join_requests", f"GET {_OWN}/{{organization}}/requests", RequestsRequest, RequestsResponse,
    errors=(errors.NotAuthenticated, errors.UnknownOrganization),
    summary="Read a page of the open requests to join an organization that the account manages.",
)  # fmt: skip
_DECISION_ERRORS = (
    errors.UnknownOrganization,
    errors.UnknownJoinRequest,
    errors.JoinRequestClosed,
    errors.UnknownMember,
)
approve = hub_operation(
    "hub.approve_join_request", f"POST {_OWN}/requests/approve", JoinRequestDecision, DecidedJoinRequest, reauthentication=True,
    errors=(*_DECISION_ERRORS, errors.WrongDefaultMemberRole, errors.NoSeatLeft),
    summary="Approve a request to join an organization that the account manages.",
)  # fmt: skip
decline = hub_operation(
    "hub.decline_join_request", f"POST {_OWN}/requests/decline", JoinRequestDecision, DecidedJoinRequest,
    errors=(errors.NotAuthenticated, *_DECISION_ERRORS), summary="Decline a request to join an organization that the account manages.",
)  # fmt: skip
