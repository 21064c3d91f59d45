"""The operations of shared invitations, which the interface calls invitation links."""

from __future__ import annotations

from datetime import timedelta

from app.contract.organizations import invitation_link_operations
from app.contract.organizations.invitation_operations import InvitationPath
from app.identity.directory.organizations import organization_powers, organizations
from app.identity.directory.organizations.invitations import shared_invitation_store, shared_invitations
from app.identity.directory.organizations.invitations.invitation import SharedInvitation
from app.identity.directory.organizations.invitations.shared_invitations import SharedInvitationRequest
from app.identity.platform.context import Context
from app.identity.platform.powers import require_powers
from app.identity.public_api.organizations.feature import requires_organizations
from app.identity.use_cases.organizations import send_invitation
from app.kit.clock import iso


@invitation_link_operations.list_all.implements
@requires_organizations
def list_all(
    context: Context, req: invitation_link_operations.ListInvitationLinks
) -> invitation_link_operations.InvitationLinks:
    org_id = organizations.require_active(context, req.org_id).org_id
    found = shared_invitation_store.page(context, org_id, *req.window)
    return invitation_link_operations.InvitationLinks(
        data=[view(item) for item in found], total_count=shared_invitation_store.count(context, org_id)
    )


@invitation_link_operations.create.implements
@requires_organizations
def create(
    context: Context, req: invitation_link_operations.CreateInvitationLink
) -> invitation_link_operations.CreatedInvitationLink:
    require_powers(context, organization_powers.of_invitation(context, req.org_id, req.role_ids))
    requested = SharedInvitationRequest(
        req.org_id,
        req.role_ids,
        req.inviter_uid,
        domains=req.domains,
        max_uses=req.max_uses,
        lifetime=timedelta(days=req.expires_in_days),
        url=req.invitation_url,
    )
    invitation, token = send_invitation.create_shared(context, requested)
    url = send_invitation.address_of(context, invitation, token)
    return invitation_link_operations.CreatedInvitationLink(**view(invitation).model_dump(), token=token, url=url)


@invitation_link_operations.read.implements
@requires_organizations
def read(context: Context, req: InvitationPath) -> invitation_link_operations.InvitationLink:
    return view(shared_invitations.require(context, req.invitation_id)[0])


@invitation_link_operations.revoke.implements
@requires_organizations
def revoke(context: Context, req: InvitationPath) -> invitation_link_operations.InvitationLink:
    invitation, _ = shared_invitations.require(context, req.invitation_id)
    require_powers(context, organization_powers.of_invitation(context, invitation.org_id, invitation.role_ids))
    return view(shared_invitations.revoke(context, invitation))


def view(invitation: SharedInvitation) -> invitation_link_operations.InvitationLink:
    """Return a shared invitation as the interface shows it."""
    return invitation_link_operations.InvitationLink(
        id=invitation.invitation_id,
        status=invitation.status,  # type: ignore[arg-type] # the store returns only these
        role_ids=list(invitation.role_ids),
        org_id=invitation.org_id,
        inviter_uid=invitation.inviter_uid,
        domains=list(invitation.domains),
        uses=invitation.uses,
        max_uses=invitation.max_uses,
        created_date=iso(invitation.created_at) or "",
        expiration_date=iso(invitation.ends_at) or "",
        modified_date=iso(invitation.modified_at) or "",
    )
