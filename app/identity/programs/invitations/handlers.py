"""The operations of invitations to organizations."""

from __future__ import annotations

from app.contract import errors as e
from app.contract import organizations_invitations as contract
from app.contract.organizations_models import Display
from app.identity.directory.accounts import service as accounts
from app.identity.directory.organizations import invitation_store, invitations, member_store, views
from app.identity.directory.organizations import service as organizations
from app.identity.directory.organizations.invitation import Invitation
from app.identity.directory.organizations.invitations import Wanted
from app.identity.directory.organizations.service import while_on
from app.identity.platform.context import Context
from app.identity.programs.invitations import service
from app.kit.clock import iso


@contract.list_all.implements
@while_on
def list_all(context: Context, req: contract.ListInvitations) -> contract.Invitations:
    org_id = organizations.require_active(context, req.org_id).org_id
    found = invitation_store.page(context, org_id, *req.window)
    total = invitation_store.count(context, org_id)
    return contract.Invitations(data=[view(one) for one in found], total_count=total)


@contract.create.implements
@while_on
def create(context: Context, req: contract.CreateInvitation) -> contract.Invitation:
    wanted = Wanted(req.org_id, req.email, req.role_ids, req.inviter_uid, req.invitation_url)
    return view(service.create(context, wanted))


@contract.read.implements
@while_on
def read(context: Context, req: contract.InvitationPath) -> contract.Invitation:
    return view(invitations.require(context, req.invitation_id)[0])


@contract.update.implements
@while_on
def update(context: Context, req: contract.UpdateInvitation) -> contract.Invitation:
    if req.role_ids is None and req.resend_email is None:
        raise e.BadParameter.names("RoleIds or ResendEmail")
    invitation, organization = invitations.require(context, req.invitation_id)
    service.refuse_url(context, req.invitation_url)
    invitations.require_inviter(context, organization, invitation.inviter_uid)
    if req.role_ids is not None:
        invitation = invitations.change_roles(context, invitation, organization, req.role_ids)
    if req.resend_email:
        invitation = service.resend(context, invitation, organization, url=req.invitation_url)
    return view(invitation)


@contract.revoke.implements
@while_on
def revoke(context: Context, req: contract.InvitationPath) -> contract.Invitation:
    return view(invitations.revoke(context, invitations.require(context, req.invitation_id)[0]))


@contract.resend.implements
@while_on
def resend(context: Context, req: contract.InvitationPath) -> contract.Resent:
    service.resend(context, *invitations.require(context, req.invitation_id))
    return contract.Resent()


@contract.look_up.implements
@while_on
def look_up(context: Context, req: contract.InvitationToken) -> contract.OpenInvitation:
    invitation, organization = invitations.require_open(context, req.invitation_token)
    display = Display.model_validate(organization.display)
    return contract.OpenInvitation(
        id=invitation.invitation_id,
        email_id=invitation.email,
        status=invitation.status,
        expiration_date=iso(invitation.ends_at) or "",
        org_id=organization.org_id,
        organization=contract.InvitingOrganization(name=organization.name, display=display),
        is_existing_user=invitations.holder(context, invitation) is not None,
    )


@contract.accept.implements
@while_on
def accept(context: Context, req: contract.AcceptInvitation) -> contract.AcceptedInvitation:
    invitation, _ = invitations.require_open(context, req.invitation_token)
    account = accounts.current(context)
    accepted = invitations.accept(context, invitation, account, req.invitation_token)
    roles = views.member_roles(member_store.of_account(context, account.uid, accepted.org_id))
    return contract.AcceptedInvitation(**view(accepted).model_dump(), data=roles.data)


def view(invitation: Invitation) -> contract.Invitation:
    """Return an invitation as the interface shows it."""
    return contract.Invitation(
        id=invitation.invitation_id,
        email_id=invitation.email,
        status=invitation.status,  # type: ignore[arg-type] # only these are stored
        role_ids=list(invitation.role_ids),
        org_id=invitation.org_id,
        inviter_uid=invitation.inviter_uid,
        created_date=iso(invitation.created_at) or "",
        expiration_date=iso(invitation.ends_at) or "",
        modified_date=iso(invitation.modified_at) or "",
    )
