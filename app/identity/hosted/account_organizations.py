"""The account pages of organizations: those of the account, leaving one, and the members of those that it manages."""

from __future__ import annotations

from app.contract import hub_organizations as contract
from app.contract.hub_account import SessionRenewal
from app.contract.hub_models import NoParameters
from app.identity.authentication.sign_in import sessions
from app.identity.directory.organizations import memberships, own_invitations, own_members, self_service
from app.identity.hosted import account_settings, organization_views
from app.identity.platform.context import Context
from app.identity.protocols.oauth.authorize import organization_choice


@contract.read.implements
def read(context: Context, req: NoParameters) -> contract.OwnOrganizations:  # noqa: ARG001 - the session says whose
    session, account = account_settings.require_account(context)
    sessions.touch(context, session)
    found = memberships.of(context, account)
    return contract.OwnOrganizations(
        organizations=organization_views.own(context, account, found) if found else [],
        joinable=organization_choice.joinable_organizations(context, account),
        can_create=self_service.may_create(context),
        creation_problem=self_service.creation_problem(context, account, found),
        invitations=own_invitations.hint(own_invitations.pending(context, account)),
        **organization_views.account_view(context, session, account),
    )


@contract.leave.implements
def leave(context: Context, req: contract.LeaveOrganizationRequest) -> SessionRenewal:
    confirmed = account_settings.reauthenticate(context, req)
    own_members.leave(context, confirmed.account, req.organization)
    return account_settings.renew_session(context, confirmed)


@contract.members.implements
def list_members(context: Context, req: contract.MembersRequest) -> contract.MembersResponse:
    session, account = account_settings.require_account(context)
    sessions.touch(context, session)
    scope, size = own_members.managed(context, account, req.organization), contract.MEMBERS_PER_PAGE
    found = own_members.page(context, req.organization, req.search, size + 1, (req.page - 1) * size)
    return contract.MembersResponse(
        organization=organization_views.own(context, account, [scope.actor])[0],
        members=[organization_views.member(scope, account, item) for item in found[:size]],
        has_more=len(found) > size,
        **organization_views.account_view(context, session, account),
    )


@contract.member.implements
def read_member(context: Context, req: contract.MemberRequest) -> contract.MemberResponse:
    session, account = account_settings.require_account(context)
    scope = own_members.managed(context, account, req.organization)
    member = organization_views.member_of(context, scope, account, req.uid)
    own = set(member.role_ids)
    return contract.MemberResponse(
        organization=organization_views.own(context, account, [scope.actor])[0],
        member=member,
        roles=[
            contract.RoleView(
                id=role.role.role_id,
                name=role.role.name,
                description=role.role.description,
                can_change=role.role.role_id in own or scope.can_give(role.permissions),  # each role can be taken
            )
            for role in own_members.offered_roles(context, req.organization)
        ],
        **organization_views.account_view(context, session, account),
    )


@contract.set_roles.implements
def set_roles(context: Context, req: contract.SetMemberRolesRequest) -> SessionRenewal:
    confirmed = account_settings.reauthenticate(context, req)
    own_members.set_roles(context, confirmed.account, req.organization, req.uid, req.role_ids)
    return account_settings.renew_session(context, confirmed)


@contract.remove.implements
def remove(context: Context, req: contract.RemoveMemberRequest) -> SessionRenewal:
    confirmed = account_settings.reauthenticate(context, req)
    own_members.remove(context, confirmed.account, req.organization, req.uid)
    return account_settings.renew_session(context, confirmed)
