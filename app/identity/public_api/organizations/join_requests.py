"""The operations by which a tenant's servers decide requests to join organizations."""

from __future__ import annotations

from app.contract.organizations import join_request_operations
from app.identity.directory.organizations import organization_powers, organizations
from app.identity.directory.organizations.join_requests import join_request_store
from app.identity.directory.organizations.join_requests.join_request import JoinRequestRecord
from app.identity.platform.context import Context
from app.identity.platform.powers import require_powers
from app.identity.public_api.organizations.feature import requires_organizations
from app.identity.use_cases.organizations import membership_requests
from app.kit.clock import iso


@join_request_operations.list_all.implements
@requires_organizations
def list_all(context: Context, req: join_request_operations.ListJoinRequests) -> join_request_operations.JoinRequests:
    org_id = organizations.require_active(context, req.org_id).org_id
    found = join_request_store.page(context, org_id, req.window, req.status)
    return join_request_operations.JoinRequests(data=[_view(item.request) for item in found])


@join_request_operations.approve.implements
@requires_organizations
def approve(context: Context, req: join_request_operations.JoinRequestPath) -> join_request_operations.JoinRequest:
    organizations.lock_active(context, req.org_id, is_alone=True)  # so that the role of new members stays as it is
    require_powers(context, organization_powers.of_new_members(context, req.org_id))
    return _view(membership_requests.approve(context, req.org_id, req.id)[0])


@join_request_operations.decline.implements
@requires_organizations
def decline(context: Context, req: join_request_operations.JoinRequestPath) -> join_request_operations.JoinRequest:
    return _view(membership_requests.decline(context, req.org_id, req.id)[0])


def _view(request: JoinRequestRecord) -> join_request_operations.JoinRequest:
    return join_request_operations.JoinRequest(
        id=request.join_request_id,
        uid=request.uid,
        org_id=request.org_id,
        domain_name=request.domain,
        status=request.status,  # type: ignore[arg-type] # only these are stored
        created_date=iso(request.created_at) or "",
        decided_date=iso(request.decided_at),
        decided_by=request.decided_by,
    )
