"""The operations of invitation links."""

from __future__ import annotations

from datetime import timedelta

from app.contract.organizations import invitation_link_operations
from app.contract.organizations.invitation_operations import InvitationPath
from app.identity.directory.organizations import organization_powers, organizations
from app.identity.directory.organizations.invitations import invitation_link_store, invitation_links
from app.identity.directory.organizations.invitations.invitation import InvitationLinkRecord
from app.identity.directory.organizations.invitations.invitation_links import InvitationLinkRequest
from app.identity.platform.context import Context
from app.identity.platform.powers import require as require_powers
from app.identity.public_api.organizations.feature import requires_organizations
from app.identity.use_cases.organizations import send_invitation
from app.kit.clock import iso


@invitation_link_operations.list_all.implements
@requires_organizations
def list_all(
    context: Context, req: invitation_link_operations.ListInvitationLinks
) -> invitation_link_operations.InvitationLinks:
    org_id = organizations.require_active(context, req.org_id).org_id
    found = invitation_link_store.page(context, org_id, *req.window)
    return invitation_link_operations.InvitationLinks(
        data=[view(item) for item in found], total_count=invitation_link_store.count(context, org_id)
    )


@invitation_link_operations.create.implements
@requires_organizations
def create(
    context: Context, req: invitation_link_operations.CreateInvitationLink
) -> invitation_link_operations.CreatedInvitationLink:
    require_powers(context, organization_powers.of_invitation(context, req.org_id, req.role_ids))
    requested = InvitationLinkRequest(
        req.org_id,
        req.role_ids,
        req.inviter_uid,
        domains=req.domains,
        max_uses=req.max_uses,
        lifetime=timedelta(days=req.expires_in_days),
        url=req.invitation_url,
    )
    link, token = send_invitation.create_link(context, requested)
    url = send_invitation.link(context, link, token)
    return invitation_link_operations.CreatedInvitationLink(**view(link).model_dump(), token=token, url=url)


@invitation_link_operations.read.implements
@requires_organizations
def read(context: Context, req: InvitationPath) -> invitation_link_operations.InvitationLink:
    return view(invitation_links.require(context, req.invitation_id)[0])


@invitation_link_operations.revoke.implements
@requires_organizations
def revoke(context: Context, req: InvitationPath) -> invitation_link_operations.InvitationLink:
    link, _ = invitation_links.require(context, req.invitation_id)
    require_powers(context, organization_powers.of_invitation(context, link.org_id, link.role_ids))
    return view(invitation_links.revoke(context, link))


def view(link: InvitationLinkRecord) -> invitation_link_operations.InvitationLink:
    """Return a link as the interface shows it."""
    return invitation_link_operations.InvitationLink(
        id=link.invitation_id,
        status=link.status,  # type: ignore[arg-type] # the store returns only these
        role_ids=list(link.role_ids),
        org_id=link.org_id,
        inviter_uid=link.inviter_uid,
        domains=list(link.domains),
        uses=link.uses,
        max_uses=link.max_uses,
        created_date=iso(link.created_at) or "",
        expiration_date=iso(link.ends_at) or "",
        modified_date=iso(link.modified_at) or "",
    )
