"""The account pages that invite people to an organization: open invitations, links, and new ones of both."""

from __future__ import annotations

from app.contract import errors as e
from app.contract import hub_organization_invitations as contract
from app.contract.hub_organizations import RoleView
from app.identity.authentication.sign_in import sessions
from app.identity.directory.organizations import (
    invitation_store,
    invitations,
    link_store,
    memberships,
    own_members,
)
from app.identity.directory.organizations.invitation import Invitation
from app.identity.directory.organizations.invitation_link import InvitationLink
from app.identity.directory.organizations.organization import OWN
from app.identity.directory.organizations.own_members import Managed, OfferedRole
from app.identity.hosted import account_settings, organization_views
from app.identity.platform.context import Context
from app.identity.programs.invitations import by_managers, service
from app.identity.programs.invitations.service import Result
from app.kit.clock import iso
from app.kit.errors import ApiError

_PROBLEMS: dict[type[ApiError], str] = {
    e.WrongInvitationEmail: "malformed",
    e.AlreadyMember: "member",
    e.InvitationExists: "invited",
    e.NoSeatLeft: "full",
    e.MailLimitReached: "limited",
}


@contract.read.implements
def read(context: Context, req: contract.OrganizationInvitationsRequest) -> contract.OrganizationInvitations:
    session, account = account_settings.require_account(context)
    sessions.touch(context, session)
    scope, size = own_members.managed(context, account, req.organization), contract.INVITATIONS_PER_PAGE
    organization, offered = scope.organization, own_members.offered_roles(context, req.organization)
    found, links = _found(context, req)
    default = memberships.default_role_ids(context, organization)
    given = _Given(scope, {one.role.role_id: one for one in offered}, default)
    seats = organization.seats
    return contract.OrganizationInvitations(
        invitations=[given.invitation(context, one) for one in found[:size]],
        has_more=len(found) > size,
        links=[given.link(one) for one in links],
        roles=[_role(one) for one in offered if scope.can_give(one.permissions)],
        link_roles=[_role(one) for one in offered if scope.can_give(one.permissions) and OWN not in one.permissions],
        default_role=next(iter(default), ""),
        free_seats=None if seats is None else max(0, seats - invitations.taken_seats(context, organization)),
        organization=organization_views.own(context, account, [scope.actor])[0],
        **organization_views.account_view(context, session, account),
    )


@contract.invite.implements
def invite(context: Context, req: contract.InvitePeopleRequest) -> contract.PeopleInvited:
    confirmed = account_settings.reauthenticate(context, req)
    results = by_managers.invite(context, confirmed.account, req.organization, req.emails, req.role)
    renewal = account_settings.renew_session(context, confirmed)
    return contract.PeopleInvited(results=[_result(one) for one in results], **renewal.model_dump())


@contract.resend.implements
def resend(context: Context, req: contract.ManagedInvitationRequest) -> contract.InvitationChanged:
    _, account = account_settings.require_account(context)
    return contract.InvitationChanged(
        email=by_managers.resend(context, account, req.organization, req.invitation).email
    )


@contract.revoke.implements
def revoke(context: Context, req: contract.ManagedInvitationRequest) -> contract.InvitationChanged:
    _, account = account_settings.require_account(context)
    return contract.InvitationChanged(
        email=by_managers.revoke(context, account, req.organization, req.invitation).email
    )


@contract.create_link.implements
def create_link(context: Context, req: contract.CreateLinkRequest) -> contract.LinkCreated:
    confirmed = account_settings.reauthenticate(context, req)
    link, address = by_managers.create_link(
        context,
        confirmed.account,
        req.organization,
        req.role,
        days=req.days,
        max_uses=req.max_uses,
        domains=req.domains,
    )
    scope = own_members.managed(context, confirmed.account, req.organization)
    renewal = account_settings.renew_session(context, confirmed)
    return contract.LinkCreated(
        organization=scope.organization.display_name,
        address=address,
        expires_at=iso(link.ends_at) or "",
        **renewal.model_dump(),
    )


@contract.revoke_link.implements
def revoke_link(context: Context, req: contract.ManagedInvitationRequest) -> contract.InvitationChanged:
    _, account = account_settings.require_account(context)
    by_managers.revoke_link(context, account, req.organization, req.invitation)
    return contract.InvitationChanged()


def _found(
    context: Context, req: contract.OrganizationInvitationsRequest
) -> tuple[list[Invitation], list[InvitationLink]]:
    """Return the open invitations of the page, one more than it shows, and the active links; or the one that is asked for."""
    if not req.invitation:
        size = contract.INVITATIONS_PER_PAGE
        found = invitation_store.open_page(context, req.organization, size + 1, (req.page - 1) * size)
        return found, link_store.open_links(context, [req.organization])
    invitation, link = invitation_store.by_id(context, req.invitation), link_store.by_id(context, req.invitation)
    return (
        [one for one in (invitation,) if one is not None and one.org_id == req.organization and one.is_open],
        [one for one in (link,) if one is not None and one.org_id == req.organization and one.is_open],
    )


class _Given:
    """The roles that invitations give, as the manager of the organization sees them; without a statement for each."""

    def __init__(self, scope: Managed, offered: dict[str, OfferedRole], default: list[str]) -> None:
        self.scope, self.offered, self.default = scope, offered, default

    def invitation(self, context: Context, one: Invitation) -> contract.PendingInvitation:
        return contract.PendingInvitation(
            id=one.invitation_id,
            email=one.email,
            roles=self._names(one),
            expires_at=iso(one.ends_at) or "",
            resend_in_seconds=service.seconds_until_resend(context, one),
            can_change=self._can_change(one),
        )

    def link(self, one: InvitationLink) -> contract.ActiveLink:
        return contract.ActiveLink(
            id=one.invitation_id,
            roles=self._names(one),
            expires_at=iso(one.ends_at) or "",
            domains=list(one.domains),
            uses=one.uses,
            max_uses=one.max_uses,
            can_change=self._can_change(one),
        )

    def _roles(self, one: Invitation | InvitationLink) -> list[OfferedRole]:
        return [self.offered[role] for role in one.role_ids or self.default if role in self.offered]

    def _names(self, one: Invitation | InvitationLink) -> list[str]:
        return list(dict.fromkeys(role.role.name for role in self._roles(one)))

    def _can_change(self, one: Invitation | InvitationLink) -> bool:
        return all(self.scope.can_give(role.permissions) for role in self._roles(one))


def _role(one: OfferedRole) -> RoleView:
    return RoleView(id=one.role.role_id, name=one.role.name, description=one.role.description)


def _result(one: Result) -> contract.InvitedPersonView:
    problem = next((name for kind, name in _PROBLEMS.items() if isinstance(one.refusal, kind)), "")
    if one.refusal is not None and not problem:
        raise one.refusal
    if one.is_repeated:
        problem = "repeated"
    return contract.InvitedPersonView(email=one.email, problem=problem)  # type: ignore[arg-type] # of _PROBLEMS
