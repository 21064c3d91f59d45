"""The account pages that invite people to an organization: open invitations, by email and shared, and new ones of both."""

from __future__ import annotations

from app.contract import errors
from app.contract.organizations.pages import sent_invitation_pages
from app.contract.organizations.pages.member_pages import RoleView
from app.identity.authentication.sign_in.sessions import sessions
from app.identity.directory.accounts import accounts
from app.identity.directory.organizations.invitations import invitation_store, shared_invitation_store
from app.identity.directory.organizations.invitations.invitation import AnyInvitation
from app.identity.directory.organizations.memberships import managed_organization
from app.identity.directory.organizations.memberships.managed_organization import ManagedOrganization, OfferedRole
from app.identity.directory.organizations.organization import OWN
from app.identity.pages_api import signed_in_account
from app.identity.pages_api.organizations import invitation_views, organization_page_views
from app.identity.platform.context import Context
from app.identity.use_cases.organizations import manager_invitations
from app.identity.use_cases.organizations.send_invitation import Result
from app.kit.clock import iso
from app.kit.operations.errors import ApiError

_PROBLEMS: dict[type[ApiError], str] = {
    errors.WrongInvitationEmail: "malformed",
    errors.AlreadyMember: "member",
    errors.InvitationExists: "invited",
    errors.NoSeatLeft: "full",
    errors.MailLimitReached: "limited",
}


@sent_invitation_pages.read.implements
def read(
    context: Context, req: sent_invitation_pages.OrganizationInvitationsRequest
) -> sent_invitation_pages.OrganizationInvitations:
    session, account = signed_in_account.require_account(context)
    sessions.touch(context, session)
    scope = managed_organization.load(context, account, req.organization)
    views = invitation_views.of(context, scope)
    by_email, shared = (
        invitation_store.by_id(context, req.invitation),
        shared_invitation_store.by_id(context, req.invitation),
    )
    offered = [item for item in views.offered.values() if scope.can_give(item.permissions)]
    return sent_invitation_pages.OrganizationInvitations(
        invitation=views.by_email(context, by_email) if by_email is not None and _is_open(scope, by_email) else None,
        link=views.shared(shared) if shared is not None and _is_open(scope, shared) else None,
        roles=[_role(item) for item in offered],
        link_roles=[_role(item) for item in offered if OWN not in item.permissions],
        default_role=next(iter(views.default), ""),
        organization=organization_page_views.own(context, account, [scope.actor])[0],
        **organization_page_views.account_view(context, session, account),
    )


@sent_invitation_pages.invite.implements
def invite(context: Context, req: sent_invitation_pages.InvitePeopleRequest) -> sent_invitation_pages.PeopleInvited:
    account = accounts.current(context)
    results = manager_invitations.invite(context, account, req.organization, req.emails, req.role)
    return sent_invitation_pages.PeopleInvited(results=[_result(result) for result in results])


@sent_invitation_pages.resend.implements
def resend(
    context: Context, req: sent_invitation_pages.ManagedInvitationRequest
) -> sent_invitation_pages.InvitationChanged:
    _, account = signed_in_account.require_account(context)
    return sent_invitation_pages.InvitationChanged(
        email=manager_invitations.resend(context, account, req.organization, req.invitation).email
    )


@sent_invitation_pages.revoke.implements
def revoke(
    context: Context, req: sent_invitation_pages.ManagedInvitationRequest
) -> sent_invitation_pages.InvitationChanged:
    _, account = signed_in_account.require_account(context)
    return sent_invitation_pages.InvitationChanged(
        email=manager_invitations.revoke(context, account, req.organization, req.invitation).email
    )


@sent_invitation_pages.create_shared_invitation.implements
def create_shared_invitation(
    context: Context, req: sent_invitation_pages.CreateSharedInvitationRequest
) -> sent_invitation_pages.SharedInvitationCreated:
    account = accounts.current(context)
    invitation, address = manager_invitations.create_shared(
        context,
        account,
        req.organization,
        req.role,
        days=req.days,
        max_uses=req.max_uses,
        domains=req.domains,
    )
    scope = managed_organization.load(context, account, req.organization)
    return sent_invitation_pages.SharedInvitationCreated(
        organization=scope.organization.display_name,
        address=address,
        expires_at=iso(invitation.ends_at) or "",
    )


@sent_invitation_pages.revoke_shared_invitation.implements
def revoke_shared_invitation(
    context: Context, req: sent_invitation_pages.ManagedInvitationRequest
) -> sent_invitation_pages.InvitationChanged:
    _, account = signed_in_account.require_account(context)
    manager_invitations.revoke_shared(context, account, req.organization, req.invitation)
    return sent_invitation_pages.InvitationChanged()


def _is_open(scope: ManagedOrganization, item: AnyInvitation) -> bool:
    return item.org_id == scope.organization.org_id and item.is_open


def _role(item: OfferedRole) -> RoleView:
    return RoleView(id=item.role.role_id, name=item.role.name, description=item.role.description)


def _result(item: Result) -> sent_invitation_pages.InvitedPersonView:
    problem = next((name for kind, name in _PROBLEMS.items() if isinstance(item.refusal, kind)), "")
    if item.refusal is not None and not problem:
        raise item.refusal
    if item.is_repeated:
        problem = "repeated"
    return sent_invitation_pages.InvitedPersonView(email=item.email, problem=problem)  # type: ignore[arg-type] # of _PROBLEMS
