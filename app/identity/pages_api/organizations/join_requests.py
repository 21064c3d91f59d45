"""The pages of requests to join an organization: people ask, managers decide."""

from __future__ import annotations

from collections.abc import Callable

from app.contract import errors
from app.contract.organizations.pages import join_request_pages
from app.contract.organizations.views import JoinableOrganization
from app.identity.authentication.sign_in.sessions import sessions
from app.identity.directory.accounts.account import Account
from app.identity.directory.organizations.join_requests import join_request_store
from app.identity.directory.organizations.join_requests.join_request import OPEN, JoinOffer, JoinRequestRecord
from app.identity.directory.organizations.memberships import managed_organization
from app.identity.pages_api import signed_in_account
from app.identity.pages_api.organizations import organization_page_views
from app.identity.platform.context import Context
from app.identity.protocols.oauth import oauth_views
from app.identity.protocols.oauth.authorize import organization_choice
from app.identity.use_cases.organizations import membership_requests
from app.kit.clock import iso


@join_request_pages.request_to_join.implements
def request_to_join(context: Context, req: join_request_pages.RequestToJoin) -> JoinableOrganization:
    session, account = signed_in_account.require_account(context)
    sessions.touch(context, session)
    _, organization = membership_requests.request_to_join(context, account, req.organization)
    return organization_choice.joinable(JoinOffer(organization, is_requested=True))


@join_request_pages.read.implements
def read(context: Context, req: join_request_pages.RequestsRequest) -> join_request_pages.RequestsResponse:
    session, account = signed_in_account.require_account(context)
    sessions.touch(context, session)
    scope, size = managed_organization.load(context, account, req.organization), join_request_pages.REQUESTS_PER_PAGE
    records = join_request_store.page(context, req.organization, (size + 1, (req.page - 1) * size), OPEN)
    return join_request_pages.RequestsResponse(
        organization=organization_page_views.own(context, account, [scope.actor])[0],
        requests=[
            join_request_pages.RequestView(
                id=item.request.join_request_id,
                name=item.name,
                label=item.label,
                domain=item.request.domain,
                since=iso(item.request.created_at) or "",
            )
            for item in records[:size]
        ],
        has_more=len(records) > size,
        **organization_page_views.account_view(context, session, account),
    )


@join_request_pages.approve.implements
def approve(context: Context, req: join_request_pages.JoinRequestDecision) -> join_request_pages.DecidedJoinRequest:
    return _decide(context, req, membership_requests.approve)


@join_request_pages.decline.implements
def decline(context: Context, req: join_request_pages.JoinRequestDecision) -> join_request_pages.DecidedJoinRequest:
    return _decide(context, req, membership_requests.decline)


def _decide(
    context: Context,
    req: join_request_pages.JoinRequestDecision,
    decide: Callable[..., tuple[JoinRequestRecord, Account | None]],
) -> join_request_pages.DecidedJoinRequest:
    session, account = signed_in_account.require_account(context)
    sessions.touch(context, session)
    managed_organization.load(context, account, req.organization, for_change=True)
    try:
        _, other = decide(context, req.organization, req.request, account.uid)
    except errors.OrganizationInactive:
        raise errors.UnknownOrganization from None
    return join_request_pages.DecidedJoinRequest(label=oauth_views.person(other).label if other is not None else "")
