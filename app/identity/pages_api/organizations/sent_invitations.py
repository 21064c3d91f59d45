"""The account pages that invite people to an organization: open invitations, by email and shared, and new ones of both."""

from __future__ import annotations

from app.contract import errors
from app.contract.organizations.pages import sent_invitation_pages
from app.contract.organizations.pages.member_pages import RoleView
from app.identity.authentication.sign_in.sessions import sessions
from app.identity.directory.accounts import accounts
from app.identity.directory.organizations.invitations import (
    email_invitations,
    invitation_store,
    shared_invitation_store,
)
from app.identity.directory.organizations.invitations.invitation import (
    AnyInvitation,
    EmailInvitation,
    SharedInvitation,
)
from app.identity.directory.organizations.memberships import managed_organization, memberships
from app.identity.directory.organizations.memberships.managed_organization import ManagedOrganization, OfferedRole
from app.identity.directory.organizations.organization import OWN
from app.identity.pages_api import signed_in_account
from app.identity.pages_api.organizations import organization_page_views
from app.identity.platform.context import Context
from app.identity.use_cases.organizations import manager_invitations, send_invitation
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
    size = sent_invitation_pages.INVITATIONS_PER_PAGE
    organization, offered = scope.organization, managed_organization.offered_roles(context, req.organization)
    by_email, shared = _found(context, req)
    default = memberships.default_role_ids(context, organization)
    offered_choices = _Given(scope, {item.role.role_id: item for item in offered}, default)
    seats = organization.seats
    return sent_invitation_pages.OrganizationInvitations(
        invitations=[offered_choices.by_email(context, item) for item in by_email[:size]],
        has_more=len(by_email) > size,
        links=[offered_choices.shared(item) for item in shared],
        roles=[_role(item) for item in offered if scope.can_give(item.permissions)],
        link_roles=[
            _role(item) for item in offered if scope.can_give(item.permissions) and OWN not in item.permissions
        ],
        default_role=next(iter(default), ""),
        free_seats=None if seats is None else max(0, seats - email_invitations.taken_seats(context, organization)),
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


def _found(
    context: Context, req: sent_invitation_pages.OrganizationInvitationsRequest
) -> tuple[list[EmailInvitation], list[SharedInvitation]]:
    """Return one page of open invitations, with one extra to detect a next page, and the active shared ones; or the requested one."""
    if not req.invitation:
        size = sent_invitation_pages.INVITATIONS_PER_PAGE
        found = invitation_store.open_page(context, req.organization, size + 1, (req.page - 1) * size)
        return found, shared_invitation_store.open_of(context, [req.organization])
    invitation = invitation_store.by_id(context, req.invitation)
    shared = shared_invitation_store.by_id(context, req.invitation)
    return (
        [item for item in (invitation,) if item is not None and item.org_id == req.organization and item.is_open],
        [item for item in (shared,) if item is not None and item.org_id == req.organization and item.is_open],
    )


class _Given:
    """The roles that invitations give, as the manager of the organization sees them; without a statement for each."""

    def __init__(self, scope: ManagedOrganization, offered: dict[str, OfferedRole], default: list[str]) -> None:
        self.scope, self.offered, self.default = scope, offered, default

    def by_email(self, context: Context, item: EmailInvitation) -> sent_invitation_pages.PendingInvitation:
        return sent_invitation_pages.PendingInvitation(
            id=item.invitation_id,
            email=item.email,
            roles=self._names(item),
            expires_at=iso(item.ends_at) or "",
            resend_in_seconds=send_invitation.seconds_until_resend(context, item),
            can_change=self._can_change(item),
        )

    def shared(self, item: SharedInvitation) -> sent_invitation_pages.ActiveSharedInvitation:
        return sent_invitation_pages.ActiveSharedInvitation(
            id=item.invitation_id,
            roles=self._names(item),
            expires_at=iso(item.ends_at) or "",
            domains=list(item.domains),
            uses=item.uses,
            max_uses=item.max_uses,
            can_change=self._can_change(item),
        )

    def _roles(self, item: AnyInvitation) -> list[OfferedRole]:
        return [self.offered[role] for role in item.role_ids or self.default if role in self.offered]

    def _names(self, item: AnyInvitation) -> list[str]:
        return list(dict.fromkeys(role.role.name for role in self._roles(item)))

    def _can_change(self, item: AnyInvitation) -> bool:
        return all(self.scope.can_give(role.permissions) for role in self._roles(item))


def _role(item: OfferedRole) -> RoleView:
    return RoleView(id=item.role.role_id, name=item.role.name, description=item.role.description)


def _result(item: Result) -> sent_invitation_pages.InvitedPersonView:
    problem = next((name for kind, name in _PROBLEMS.items() if isinstance(item.refusal, kind)), "")
    if item.refusal is not None and not problem:
        raise item.refusal
    if item.is_repeated:
        problem = "repeated"
    return sent_invitation_pages.InvitedPersonView(email=item.email, problem=problem)  # type: ignore[arg-type] # of _PROBLEMS
