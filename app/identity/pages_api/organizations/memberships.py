"""The account pages of organizations: memberships, departure, and the members of managed organizations."""

from __future__ import annotations

from app.contract.organizations.pages import account_organization_pages, member_pages
from app.contract.page_models import NoParameters
from app.contract.shared_responses import Posted
from app.identity.authentication.sign_in.sessions import sessions
from app.identity.directory.accounts import accounts
from app.identity.directory.organizations import owned_organizations
from app.identity.directory.organizations.invitations import (
    account_invitations,
    email_invitations,
    invitation_store,
    shared_invitation_store,
)
from app.identity.directory.organizations.invitations.invitation import EmailInvitation
from app.identity.directory.organizations.membership_changes import managed_members
from app.identity.directory.organizations.memberships import managed_organization, memberships
from app.identity.directory.organizations.organization import MemberRecord
from app.identity.pages_api import signed_in_account
from app.identity.pages_api.organizations import invitation_views, organization_page_views
from app.identity.platform.context import Context
from app.identity.protocols.oauth.authorize import organization_choice


@account_organization_pages.read.implements
def read(context: Context, req: NoParameters) -> account_organization_pages.OwnOrganizations:
    session, account = signed_in_account.require_account(context)
    sessions.touch(context, session)
    own_memberships = memberships.of(context, account)
    return account_organization_pages.OwnOrganizations(
        organizations=organization_page_views.own(context, account, own_memberships) if own_memberships else [],
        joinable=organization_choice.joinable_organizations(context, account),
        can_create=owned_organizations.may_create(context),
        creation_problem=owned_organizations.creation_problem(context, account, own_memberships),
        invitations=account_invitations.hint(account_invitations.pending(context, account)),
        **organization_page_views.account_view(context, session, account),
    )


@account_organization_pages.leave.implements
def leave(context: Context, req: account_organization_pages.LeaveOrganizationRequest) -> Posted:
    account = accounts.current(context)
    managed_members.leave(context, account, req.organization)
    return Posted()


@member_pages.members.implements
def list_members(context: Context, req: member_pages.MembersRequest) -> member_pages.MembersResponse:
    session, account = signed_in_account.require_account(context)
    sessions.touch(context, session)
    scope, size = managed_organization.load(context, account, req.organization), member_pages.MEMBERS_PER_PAGE
    views, seats = invitation_views.of(context, scope), scope.organization.seats
    members, invited = _page(context, req)
    return member_pages.MembersResponse(
        organization=organization_page_views.own(context, account, [scope.actor])[0],
        members=[organization_page_views.member(scope, account, item) for item in members[:size]],
        invitations=[views.by_email(context, item) for item in invited[: size - len(members)]],
        has_more=len(members) + len(invited) > size,
        links=[views.shared(item) for item in shared_invitation_store.open_of(context, [req.organization])],
        invited=invitation_store.count_open(context, req.organization),
        free_seats=None
        if seats is None
        else max(0, seats - email_invitations.taken_seats(context, scope.organization)),
        **organization_page_views.account_view(context, session, account),
    )


def _page(context: Context, req: member_pages.MembersRequest) -> tuple[list[MemberRecord], list[EmailInvitation]]:
    """Return one page of the members and then of the open invitations, with one item more if there is a next page."""
    search, most = req.search.strip(), member_pages.MEMBERS_PER_PAGE + 1
    start = (req.page - 1) * member_pages.MEMBERS_PER_PAGE
    found = managed_organization.page(context, req.organization, search, most, start)
    if len(found) == most:
        return found, []
    before = start + len(found) if found or not start else managed_organization.count(context, req.organization, search)
    return found, invitation_store.open_page(
        context, req.organization, search, most - len(found), max(0, start - before)
    )


@member_pages.member.implements
def read_member(context: Context, req: member_pages.MemberRequest) -> member_pages.MemberResponse:
    session, account = signed_in_account.require_account(context)
    scope = managed_organization.load(context, account, req.organization)
    member = organization_page_views.member_of(context, scope, account, req.uid)
    own = set(member.role_ids)
    return member_pages.MemberResponse(
        organization=organization_page_views.own(context, account, [scope.actor])[0],
        member=member,
        roles=[
            member_pages.RoleView(
                id=role.role.role_id,
                name=role.role.name,
                description=role.role.description,
                can_change=role.role.role_id in own or scope.can_give(role.permissions),  # each role can be taken
            )
            for role in managed_organization.offered_roles(context, req.organization)
        ],
        **organization_page_views.account_view(context, session, account),
    )


@member_pages.set_roles.implements
def set_roles(context: Context, req: member_pages.SetMemberRolesRequest) -> Posted:
    account = accounts.current(context)
    managed_members.set_roles(context, account, req.organization, req.uid, req.role_ids)
    return Posted()


@member_pages.remove.implements
def remove(context: Context, req: member_pages.RemoveMemberRequest) -> Posted:
    account = accounts.current(context)
    managed_members.remove(context, account, req.organization, req.uid)
    return Posted()
