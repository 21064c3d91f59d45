"""The operations of invitations to organizations."""

from __future__ import annotations

from app.contract import errors
from app.contract.organizations import invitation_operations
from app.contract.organizations.models import Display
from app.identity.directory.accounts import accounts
from app.identity.directory.organizations import organization_powers, organizations
from app.identity.directory.organizations.invitations import (
    email_invitations,
    granted_roles,
    invitation_store,
    join_by_invitation,
)
from app.identity.directory.organizations.invitations.email_invitations import InvitationRequest
from app.identity.directory.organizations.invitations.invitation import (
    ACCEPTED,
    INVITED,
    AnyInvitation,
    EmailInvitation,
)
from app.identity.directory.organizations.memberships import membership_store
from app.identity.platform.context import Context
from app.identity.platform.powers import require_powers
from app.identity.public_api.organizations import organization_views
from app.identity.public_api.organizations.feature import requires_organizations
from app.identity.use_cases.organizations import send_invitation
from app.kit import randomness
from app.kit.clock import iso


@invitation_operations.list_all.implements
@requires_organizations
def list_all(context: Context, req: invitation_operations.ListInvitations) -> invitation_operations.Invitations:
    org_id = organizations.require_active(context, req.org_id).org_id
    found = invitation_store.page(context, org_id, *req.window)
    total = invitation_store.count(context, org_id)
    return invitation_operations.Invitations(data=[view(item) for item in found], total_count=total)


@invitation_operations.create.implements
@requires_organizations
def create(context: Context, req: invitation_operations.CreateInvitation) -> invitation_operations.Invitation:
    require_powers(context, organization_powers.of_invitation(context, req.org_id, req.role_ids))
    requested = InvitationRequest(req.email, req.role_ids, req.inviter_uid, req.invitation_url)
    return view(send_invitation.invite(context, req.org_id, requested, language=_requested_language(context)))


@invitation_operations.create_many.implements
@requires_organizations
def create_many(
    context: Context, req: invitation_operations.CreateInvitations
) -> invitation_operations.InvitationResults:
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
    results = send_invitation.invite_many(context, req.org_id, requested, language=_requested_language(context))
    invited = sum(result.invitation is not None for result in results)
    return invitation_operations.InvitationResults(data=[_result(result) for result in results], invited_count=invited)


@invitation_operations.read.implements
@requires_organizations
def read(context: Context, req: invitation_operations.InvitationPath) -> invitation_operations.Invitation:
    return view(email_invitations.require(context, req.invitation_id)[0])


@invitation_operations.update.implements
@requires_organizations
def update(context: Context, req: invitation_operations.UpdateInvitation) -> invitation_operations.Invitation:
    if req.role_ids is None and req.resend_email is None:
        raise errors.BadParameter.names("RoleIds or ResendEmail")
    invitation, organization = email_invitations.require(context, req.invitation_id)
    _require_powers(context, invitation)
    if req.role_ids is not None:
        require_powers(context, organization_powers.of_invitation(context, invitation.org_id, req.role_ids))
    send_invitation.refuse_url(context, req.invitation_url)
    granted_roles.require_inviter(context, organization, invitation.inviter_uid)
    if req.role_ids is not None:
        invitation = email_invitations.change_roles(context, invitation, organization, req.role_ids)
    if req.resend_email:
        invitation = send_invitation.resend(
            context, invitation, organization, url=req.invitation_url, language=_requested_language(context)
        )
    return view(invitation)


@invitation_operations.revoke.implements
@requires_organizations
def revoke(context: Context, req: invitation_operations.InvitationPath) -> invitation_operations.Invitation:
    invitation, _ = email_invitations.require(context, req.invitation_id)
    _require_powers(context, invitation)
    return view(email_invitations.revoke(context, invitation))


@invitation_operations.resend.implements
@requires_organizations
def resend(context: Context, req: invitation_operations.InvitationPath) -> invitation_operations.Resent:
    invitation, organization = email_invitations.require(context, req.invitation_id)
    _require_powers(context, invitation)
    send_invitation.resend(context, invitation, organization, language=_requested_language(context))
    return invitation_operations.Resent()


@invitation_operations.look_up.implements
@requires_organizations
def look_up(context: Context, req: invitation_operations.InvitationToken) -> invitation_operations.OpenInvitation:
    invitation, organization = join_by_invitation.require_open(context, req.invitation_token)
    display = Display.model_validate(organization.display)
    return invitation_operations.OpenInvitation(
        id=invitation.invitation_id,
        email_id=invitation.addressee or "",
        status=INVITED,
        expiration_date=iso(invitation.ends_at) or "",
        org_id=organization.org_id,
        organization=invitation_operations.InvitingOrganization(name=organization.name, display=display),
        is_existing_user=email_invitations.holder(context, invitation) is not None,
    )


@invitation_operations.accept.implements
@requires_organizations
def accept(context: Context, req: invitation_operations.AcceptInvitation) -> invitation_operations.AcceptedInvitation:
    account = accounts.current(context)
    invitation, _ = join_by_invitation.require_open(context, req.invitation_token)
    token_hash = randomness.digest(req.invitation_token)
    accepted = join_by_invitation.accept(context, invitation, account, token_hash)
    roles = organization_views.member_roles(membership_store.of_account(context, account.uid, accepted.org_id))
    return invitation_operations.AcceptedInvitation(**view(accepted).model_dump(), data=roles.data)


def _require_powers(context: Context, invitation: EmailInvitation) -> None:
    """Refuse a program that lacks a power of an invitation."""
    require_powers(context, organization_powers.of_invitation(context, invitation.org_id, invitation.role_ids))


def _requested_language(context: Context) -> str | None:
    """Return the first language of the request, for the email to a person whose own language is unknown."""
    first = context.raw.headers.get("accept-language", "").partition(",")[0].partition(";")[0].strip()
    return first if first and first != "*" else None


def _result(item: send_invitation.Result) -> invitation_operations.InvitationResult:
    if item.refusal is None:
        return invitation_operations.InvitationResult(
            email=item.email, invitation=view(item.invitation) if item.invitation else None
        )
    code, refusal = item.refusal.code, item.refusal
    error = invitation_operations.InvitationRefusal(
        error_code=int(code), message=refusal.message, description=refusal.description
    )
    return invitation_operations.InvitationResult(email=item.email, error=error)


def view(invitation: AnyInvitation) -> invitation_operations.Invitation:
    """Return an invitation as the interface shows it; a shared one, which stays open for others, as accepted."""
    return invitation_operations.Invitation(
        id=invitation.invitation_id,
        email_id=invitation.addressee or "",
        status=invitation.status if not invitation.is_shared else ACCEPTED,  # type: ignore[arg-type] # only these are stored
        role_ids=list(invitation.role_ids),
        org_id=invitation.org_id,
        inviter_uid=invitation.inviter_uid,
        created_date=iso(invitation.created_at) or "",
        expiration_date=iso(invitation.ends_at) or "",
        modified_date=iso(invitation.modified_at) or "",
    )
