"""The page of the invitations to the account's own addresses: join or decline without the emailed link."""

from __future__ import annotations

from app.contract.organizations.pages import received_invitation_pages
from app.contract.page_models import NoParameters
from app.identity.authentication.sign_in.sessions import sessions
from app.identity.directory.organizations import organizations
from app.identity.directory.organizations.invitations import account_invitations, email_invitations, join_by_invitation
from app.identity.directory.organizations.invitations.account_invitations import ReceivedInvitation
from app.identity.pages_api import signed_in_account
from app.identity.pages_api.organizations import invitation_page, organization_page_views
from app.identity.platform.context import Context
from app.kit.clock import iso


@received_invitation_pages.read.implements
def read(context: Context, req: NoParameters) -> received_invitation_pages.OwnInvitations:
    session, account = signed_in_account.require_account(context)
    sessions.touch(context, session)
    return received_invitation_pages.OwnInvitations(
        invitations=[_view(context, item) for item in account_invitations.pending(context, account)],
        **organization_page_views.account_view(context, session, account),
    )


@received_invitation_pages.accept.implements
def accept(
    context: Context, req: received_invitation_pages.OwnInvitationRequest
) -> received_invitation_pages.AnsweredInvitation:
    _, account = signed_in_account.require_account(context)
    invitation = account_invitations.require(context, account, req.invitation)
    accepted = join_by_invitation.accept(context, invitation, account)
    return _answered(context, accepted.org_id)


@received_invitation_pages.decline.implements
def decline(
    context: Context, req: received_invitation_pages.OwnInvitationRequest
) -> received_invitation_pages.AnsweredInvitation:
    _, account = signed_in_account.require_account(context)
    invitation = account_invitations.require(context, account, req.invitation)
    email_invitations.decline(context, invitation)
    return _answered(context, invitation.org_id)


def _answered(context: Context, org_id: str) -> received_invitation_pages.AnsweredInvitation:
    organization = organizations.by_id(context, org_id)
    return received_invitation_pages.AnsweredInvitation(
        organization=organization.display_name if organization is not None else ""
    )


def _view(context: Context, item: ReceivedInvitation) -> received_invitation_pages.OwnInvitation:
    invitation, organization = item.invitation, item.organization
    return received_invitation_pages.OwnInvitation(
        id=invitation.invitation_id,
        organization=organization.display_name,
        organization_id=organization.org_id,
        logo=organization.logo_url,
        inviter=invitation_page.inviter_name(context, invitation),
        email=invitation.email,
        roles=[role.name for role in invitation_page.role_views(context, invitation, organization)],
        expires_at=iso(invitation.ends_at) or "",
    )
