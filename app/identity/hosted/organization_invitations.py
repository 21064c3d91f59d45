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
from app.identity.directory.organizations.invitation import InvitationRecord
from app.identity.directory.organizations.invitation_link import InvitationLinkRecord
from app.identity.directory.organizations.organization import OWN
from app.identity.directory.organizations.own_members import ManagedMember, OfferedRole
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
    provided = _Given(scope, {item.role.role_id: item for item in offered}, default)
    seats = organization.seats
    return contract.OrganizationInvitations(
        invitations=[provided.invitation(context, item) for item in found[:size]],
        has_more=len(found) > size,
        links=[provided.link(link) for link in links],
        roles=[_role(item) for item in offered if scope.can_give(item.permissions)],
        link_roles=[
            _role(item) for item in offered if scope.can_give(item.permissions) and OWN not in item.permissions
        ],
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
    return contract.PeopleInvited(results=[_result(result) for result in results], **renewal.model_dump())


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
) -> tuple[list[InvitationRecord], list[InvitationLinkRecord]]:
    """Return the open invitations of the page, one more than it shows, and the active links; or the one that is asked for."""
    if not req.invitation:
        size = contract.INVITATIONS_PER_PAGE
        found = invitation_store.open_page(context, req.organization, size + 1, (req.page - 1) * size)
        return found, link_store.open_links(context, [req.organization])
    invitation, link = invitation_store.by_id(context, req.invitation), link_store.by_id(context, req.invitation)
    return (
        [item for item in (invitation,) if item is not None and item.org_id == req.organization and item.is_open],
        [item for item in (link,) if item is not None and item.org_id == req.organization and item.is_open],
    )


class _Given:
    """The roles that invitations give, as the manager of the organization sees them; without a statement for each."""

    def __init__(self, scope: ManagedMember, offered: dict[str, OfferedRole], default: list[str]) -> None:
        self.scope, self.offered, self.default = scope, offered, default

    def invitation(self, context: Context, item: InvitationRecord) -> contract.PendingInvitation:
        return contract.PendingInvitation(
            id=item.invitation_id,
            email=item.email,
            roles=self._names(item),
            expires_at=iso(item.ends_at) or "",
            resend_in_seconds=service.seconds_until_resend(context, item),
            can_change=self._can_change(item),
        )

    def link(self, item: InvitationLinkRecord) -> contract.ActiveLink:
        return contract.ActiveLink(
            id=item.invitation_id,
            roles=self._names(item),
            expires_at=iso(item.ends_at) or "",
            domains=list(item.domains),
            uses=item.uses,
            max_uses=item.max_uses,
            can_change=self._can_change(item),
        )

    def _roles(self, item: InvitationRecord | InvitationLinkRecord) -> list[OfferedRole]:
        return [self.offered[role] for role in item.role_ids or self.default if role in self.offered]

    def _names(self, item: InvitationRecord | InvitationLinkRecord) -> list[str]:
        return list(dict.fromkeys(role.role.name for role in self._roles(item)))

    def _can_change(self, item: InvitationRecord | InvitationLinkRecord) -> bool:
        return all(self.scope.can_give(role.permissions) for role in self._roles(item))


def _role(item: OfferedRole) -> RoleView:
    return RoleView(id=item.role.role_id, name=item.role.name, description=item.role.description)


def _result(item: Result) -> contract.InvitedPersonView:
    problem = next((name for kind, name in _PROBLEMS.items() if isinstance(item.refusal, kind)), "")
    if item.refusal is not None and not problem:
        raise item.refusal
    if item.is_repeated:
        problem = "repeated"
    return contract.InvitedPersonView(email=item.email, problem=problem)  # type: ignore[arg-type] # of _PROBLEMS
