"""The operations of invitations to organizations."""

from __future__ import annotations

from app.contract import errors as e
from app.contract.organizations import invitations as contract
from app.contract.organizations.models import Display
from app.identity.directory.accounts import service as accounts
from app.identity.directory.organizations import powers as organization_powers
from app.identity.directory.organizations import service as organizations
from app.identity.directory.organizations.invitations import invitation_rules
from app.identity.directory.organizations.invitations import link_service as invitation_links
from app.identity.directory.organizations.invitations import service as invitations
from app.identity.directory.organizations.invitations import store as invitation_store
from app.identity.directory.organizations.invitations.invitation import (
    INVITED,
    AnyInvitation,
    InvitationLinkRecord,
    InvitationRecord,
)
from app.identity.directory.organizations.invitations.invitation_rules import InvitationRequest
from app.identity.directory.organizations.memberships import store as member_store
from app.identity.directory.organizations.organization import OrganizationRecord
from app.identity.platform.context import Context
from app.identity.platform.powers import require as require_powers
from app.identity.public_api.organizations import views
from app.identity.public_api.organizations.feature import requires_organizations
from app.identity.use_cases.organizations import send_invitation
from app.kit import randomness
from app.kit.clock import iso


@contract.list_all.implements
@requires_organizations
def list_all(context: Context, req: contract.ListInvitations) -> contract.Invitations:
    org_id = organizations.require_active(context, req.org_id).org_id
    found = invitation_store.page(context, org_id, *req.window)
    total = invitation_store.count(context, org_id)
    return contract.Invitations(data=[view(item) for item in found], total_count=total)


@contract.create.implements
@requires_organizations
def create(context: Context, req: contract.CreateInvitation) -> contract.Invitation:
    require_powers(context, organization_powers.of_invitation(context, req.org_id, req.role_ids))
    requested = InvitationRequest(req.email, req.role_ids, req.inviter_uid, req.invitation_url)
    return view(send_invitation.invite(context, req.org_id, requested))


@contract.create_many.implements
@requires_organizations
def create_many(context: Context, req: contract.CreateInvitations) -> contract.InvitationResults:
    requested = [
        InvitationRequest(
            invitation.email or "",
            invitation.role_ids if invitation.role_ids is not None else req.role_ids,
            req.inviter_uid,
            req.invitation_url,
        )
        for invitation in req.invitations
    ]
    for item in requested:
        require_powers(context, organization_powers.of_invitation(context, req.org_id, item.role_ids))
    results = send_invitation.invite_many(context, req.org_id, requested)
    invited = sum(result.invitation is not None for result in results)
    return contract.InvitationResults(data=[_result(result) for result in results], invited_count=invited)


@contract.read.implements
@requires_organizations
def read(context: Context, req: contract.InvitationPath) -> contract.Invitation:
    return view(invitations.require(context, req.invitation_id)[0])


@contract.update.implements
@requires_organizations
def update(context: Context, req: contract.UpdateInvitation) -> contract.Invitation:
    if req.role_ids is None and req.resend_email is None:
        raise e.BadParameter.names("RoleIds or ResendEmail")
    invitation, organization = invitations.require(context, req.invitation_id)
    _require_powers(context, invitation)
    if req.role_ids is not None:
        require_powers(context, organization_powers.of_invitation(context, invitation.org_id, req.role_ids))
    send_invitation.refuse_url(context, req.invitation_url)
    invitation_rules.require_inviter(context, organization, invitation.inviter_uid)
    if req.role_ids is not None:
        invitation = invitations.change_roles(context, invitation, organization, req.role_ids)
    if req.resend_email:
        invitation = send_invitation.resend(context, invitation, organization, url=req.invitation_url)
    return view(invitation)


@contract.revoke.implements
@requires_organizations
def revoke(context: Context, req: contract.InvitationPath) -> contract.Invitation:
    invitation, _ = invitations.require(context, req.invitation_id)
    _require_powers(context, invitation)
    return view(invitations.revoke(context, invitation))


@contract.resend.implements
@requires_organizations
def resend(context: Context, req: contract.InvitationPath) -> contract.Resent:
    invitation, organization = invitations.require(context, req.invitation_id)
    _require_powers(context, invitation)
    send_invitation.resend(context, invitation, organization)
    return contract.Resent()


@contract.look_up.implements
@requires_organizations
def look_up(context: Context, req: contract.InvitationToken) -> contract.OpenInvitation:
    found = invitation_links.find_open(context, req.invitation_token)
    if found is not None:
        return _open(found[0], found[1], email="", is_existing=False)
    invitation, organization = invitations.require_open(context, req.invitation_token)
    is_existing = invitations.holder(context, invitation) is not None
    return _open(invitation, organization, email=invitation.email, is_existing=is_existing)


@contract.accept.implements
@requires_organizations
def accept(context: Context, req: contract.AcceptInvitation) -> contract.AcceptedInvitation:
    account = accounts.current(context)
    if (found := invitation_links.find_open(context, req.invitation_token)) is not None:
        link = invitation_links.accept(context, found[0], account)
        accepted = _of_link(link)
    else:
        invitation, _ = invitations.require_open(context, req.invitation_token)
        token_hash = randomness.digest(req.invitation_token)
        accepted = view(invitations.accept(context, invitation, account, token_hash))
    roles = views.member_roles(member_store.of_account(context, account.uid, accepted.org_id))
    return contract.AcceptedInvitation(**accepted.model_dump(), data=roles.data)


def _require_powers(context: Context, invitation: InvitationRecord) -> None:
    """Refuse a program that lacks a power of an invitation."""
    require_powers(context, organization_powers.of_invitation(context, invitation.org_id, invitation.role_ids))


def _open(
    invitation: AnyInvitation,
    organization: OrganizationRecord,
    *,
    email: str,
    is_existing: bool,
) -> contract.OpenInvitation:
    display = Display.model_validate(organization.display)
    return contract.OpenInvitation(
        id=invitation.invitation_id,
        email_id=email,
        status=INVITED,
        expiration_date=iso(invitation.ends_at) or "",
        org_id=organization.org_id,
        organization=contract.InvitingOrganization(name=organization.name, display=display),
        is_existing_user=is_existing,
    )


def _result(item: send_invitation.Result) -> contract.InvitationResult:
    if item.refusal is None:
        return contract.InvitationResult(
            email=item.email, invitation=view(item.invitation) if item.invitation else None
        )
    code, refusal = item.refusal.code, item.refusal
    error = contract.InvitationRefusal(error_code=int(code), message=refusal.message, description=refusal.description)
    return contract.InvitationResult(email=item.email, error=error)


def _of_link(link: InvitationLinkRecord) -> contract.Invitation:
    """Return what an acceptance answers about a link, which stays open for others and has no address."""
    return contract.Invitation(
        id=link.invitation_id,
        email_id="",
        status="accepted",
        role_ids=list(link.role_ids),
        org_id=link.org_id,
        inviter_uid=link.inviter_uid,
        created_date=iso(link.created_at) or "",
        expiration_date=iso(link.ends_at) or "",
        modified_date=iso(link.modified_at) or "",
    )


def view(invitation: InvitationRecord) -> contract.Invitation:
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
