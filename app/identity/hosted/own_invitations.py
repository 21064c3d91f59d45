"""The page of the invitations to the account's own addresses: join or decline without the emailed link."""

from __future__ import annotations

from app.contract import hub_own_invitations as contract
from app.contract.hub_models import NoParameters
from app.identity.authentication.sign_in import sessions
from app.identity.directory.organizations import invitations, own_invitations
from app.identity.directory.organizations import service as organizations
from app.identity.directory.organizations.own_invitations import ReceivedInvitation
from app.identity.hosted import account_settings, invitation_states, organization_views
from app.identity.platform.context import Context
from app.kit.clock import iso


@contract.read.implements
def read(context: Context, req: NoParameters) -> contract.OwnInvitations:  # noqa: ARG001 - the session says whose
    session, account = account_settings.require_account(context)
    sessions.touch(context, session)
    return contract.OwnInvitations(
        invitations=[_view(context, item) for item in own_invitations.pending(context, account)],
        **organization_views.account_view(context, session, account),
    )


@contract.accept.implements
def accept(context: Context, req: contract.OwnInvitationRequest) -> contract.AnsweredInvitation:
    _, account = account_settings.require_account(context)
    invitation = invitations.require_to_account(context, account, req.invitation)
    accepted = invitations.accept(context, invitation, account)
    return _answered(context, accepted.org_id)


@contract.decline.implements
def decline(context: Context, req: contract.OwnInvitationRequest) -> contract.AnsweredInvitation:
    _, account = account_settings.require_account(context)
    invitation = invitations.require_to_account(context, account, req.invitation)
    invitations.decline(context, invitation)
    return _answered(context, invitation.org_id)


def _answered(context: Context, org_id: str) -> contract.AnsweredInvitation:
    organization = organizations.by_id(context, org_id)
    return contract.AnsweredInvitation(organization=organization.display_name if organization is not None else "")


def _view(context: Context, item: ReceivedInvitation) -> contract.OwnInvitation:
    invitation, organization = item.invitation, item.organization
    return contract.OwnInvitation(
        id=invitation.invitation_id,
        organization=organization.display_name,
        organization_id=organization.org_id,
        logo=organization.logo_url,
        inviter=invitation_states.inviter_name(context, invitation),
        email=invitation.email,
        roles=[role.name for role in invitation_states.role_views(context, invitation, organization)],
        expires_at=iso(invitation.ends_at) or "",
    )
