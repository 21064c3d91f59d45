"""The pages of requests to join an organization: people ask, managers decide."""

from __future__ import annotations

from collections.abc import Callable

from app.contract import errors as e
from app.contract.organizations.pages import join_requests as contract
from app.contract.organizations.views import JoinableOrganization
from app.identity.authentication.sign_in.sessions import service as sessions
from app.identity.directory.accounts.account import Account
from app.identity.directory.organizations.join_requests import store as join_request_store
from app.identity.directory.organizations.join_requests.join_request import OPEN, JoinOffer, JoinRequestRecord
from app.identity.directory.organizations.memberships import managed_organization
from app.identity.pages_api import signed_in_account
from app.identity.pages_api.organizations import views as organization_views
from app.identity.platform.context import Context
from app.identity.protocols.oauth import views as oauth_views
from app.identity.protocols.oauth.authorize import organization_choice
from app.identity.use_cases.organizations import membership_requests
from app.kit.clock import iso


@contract.ask.implements
def ask(context: Context, req: contract.AskToJoin) -> JoinableOrganization:
    session, account = signed_in_account.require_account(context)
    sessions.touch(context, session)
    _, organization = membership_requests.ask(context, account, req.organization)
    return organization_choice.joinable(JoinOffer(organization, is_requested=True))


@contract.read.implements
def read(context: Context, req: contract.RequestsRequest) -> contract.RequestsResponse:
    session, account = signed_in_account.require_account(context)
    sessions.touch(context, session)
    scope, size = managed_organization.load(context, account, req.organization), contract.REQUESTS_PER_PAGE
    found = join_request_store.page(context, req.organization, (size + 1, (req.page - 1) * size), OPEN)
    return contract.RequestsResponse(
        organization=organization_views.own(context, account, [scope.actor])[0],
        requests=[
            contract.RequestView(
                id=item.request.join_request_id,
                label=item.label,
                domain=item.request.domain,
                since=iso(item.request.created_at) or "",
            )
            for item in found[:size]
        ],
        has_more=len(found) > size,
        **organization_views.account_view(context, session, account),
    )


@contract.approve.implements
def approve(context: Context, req: contract.JoinRequestDecision) -> contract.DecidedJoinRequest:
    return _decide(context, req, membership_requests.approve)


@contract.decline.implements
def decline(context: Context, req: contract.JoinRequestDecision) -> contract.DecidedJoinRequest:
    return _decide(context, req, membership_requests.decline)


def _decide(
    context: Context,
    req: contract.JoinRequestDecision,
    decide: Callable[..., tuple[JoinRequestRecord, Account | None]],
) -> contract.DecidedJoinRequest:
    session, account = signed_in_account.require_account(context)
    sessions.touch(context, session)
    managed_organization.load(context, account, req.organization, for_change=True)
    try:
        _, other = decide(context, req.organization, req.request, account.uid)
    except e.OrganizationInactive:
        raise e.UnknownOrganization from None
    return contract.DecidedJoinRequest(label=oauth_views.person(other).label if other is not None else "")
