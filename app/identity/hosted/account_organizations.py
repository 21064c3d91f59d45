"""The account pages of organizations: those of the account, leaving one, and the members of those that it manages."""

from __future__ import annotations

from typing import Any

from app.contract import errors as e
from app.contract import hub_organizations as contract
from app.contract.hub_account import SessionRenewal
from app.contract.hub_models import NoParameters
from app.identity.authentication.sign_in import sessions
from app.identity.authentication.sign_in.sessions import BrowserSession
from app.identity.directory.accounts.account import Account
from app.identity.directory.organizations import member_store, memberships, own_members
from app.identity.directory.organizations.organization import OWN, Member, Membership
from app.identity.directory.organizations.own_members import Managed
from app.identity.hosted import account_settings, reauthentication
from app.identity.platform.context import Context
from app.identity.protocols.oauth import views as oauth_views
from app.kit.clock import iso


@contract.read.implements
def read(context: Context, req: NoParameters) -> contract.OwnOrganizations:  # noqa: ARG001 - the session says whose
    session, account = account_settings.require_account(context)
    sessions.touch(context, session)
    found = memberships.of(context, account)
    return contract.OwnOrganizations(
        organizations=_own(context, account, found) if found else [], **_account_view(context, session, account)
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
        organization=_own(context, account, [scope.actor])[0],
        members=[_member(scope, account, one) for one in found[:size]],
        has_more=len(found) > size,
        **_account_view(context, session, account),
    )


@contract.member.implements
def read_member(context: Context, req: contract.MemberRequest) -> contract.MemberResponse:
    session, account = account_settings.require_account(context)
    scope = own_members.managed(context, account, req.organization)
    held = member_store.of_account(context, req.uid, req.organization)
    if not held:
        raise e.NotAMember
    names = member_store.roles_of(context, req.organization, [req.uid])
    try:
        other = memberships.require_removable(context, req.uid)
    except e.UnknownMember:
        raise e.NotAMember from None
    label = oauth_views.person(other).label
    since, own = min(one.created_at for one in held), {one.role_id for one in held}
    return contract.MemberResponse(
        organization=_own(context, account, [scope.actor])[0],
        member=_member(scope, account, Member(req.uid, label, since, tuple(names.get(req.uid, ())))),
        roles=[
            contract.RoleView(
                id=one.role.role_id,
                name=one.role.name,
                description=one.role.description,
                can_change=one.role.role_id in own or scope.can_give(one.permissions),  # each role can be taken
            )
            for one in own_members.offered_roles(context, req.organization)
        ],
        **_account_view(context, session, account),
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


def _account_view(context: Context, session: BrowserSession, account: Account) -> dict[str, Any]:
    return {
        "person": oauth_views.person(account),
        "needs_password": not reauthentication.is_fresh(context, session),
        "must_confirm": reauthentication.must_confirm(context, session, account),
    }


def _own(context: Context, account: Account, found: list[Membership]) -> list[contract.OwnOrganization]:
    """Return organizations as the account's pages show them, in a fixed number of statements."""
    ids = [one.organization.org_id for one in found]
    people, owners = memberships.count_people(context, ids), own_members.owners_of(context, ids)
    since = member_store.joined_at(context, account.uid, ids)
    return [
        contract.OwnOrganization(
            id=one.organization.org_id,
            name=one.organization.display_name,
            logo=one.organization.logo_url,
            roles=list(dict.fromkeys(role.name for role in one.roles)),
            people=people.get(one.organization.org_id, 1),
            since=iso(since.get(one.organization.org_id)) or "",
            can_manage=one.is_administrator,
            is_last_owner=OWN in one.permissions and owners.get(one.organization.org_id) == {account.uid},
        )
        for one in found
    ]


def _member(scope: Managed, account: Account, one: Member) -> contract.MemberView:
    return contract.MemberView(
        uid=one.uid,
        label=one.label,
        roles=list(dict.fromkeys(role.name for role in one.roles)),
        role_ids=[role.role_id for role in one.roles],
        since=iso(one.since) or "",
        is_self=one.uid == account.uid,
        is_owner=one.uid in scope.owners,
        can_change=scope.can_change(one.uid),
        is_last_owner=scope.is_last_owner(one.uid),
    )
