"""Organizations and their members, as the account pages show them."""

from __future__ import annotations

from typing import Any

from app.contract import errors as e
from app.contract import hub_organizations as contract
from app.identity.authentication.sign_in.sessions import BrowserSession
from app.identity.directory.accounts.account import Account
from app.identity.directory.organizations import member_store, memberships, own_members
from app.identity.directory.organizations.organization import OWN, Member, Membership
from app.identity.directory.organizations.own_members import Managed
from app.identity.hosted import reauthentication, views
from app.identity.platform.context import Context
from app.identity.protocols.oauth import views as oauth_views
from app.kit.clock import iso


def account_view(context: Context, session: BrowserSession, account: Account) -> dict[str, Any]:
    """Return the members of an `AccountView`."""
    return {
        "person": views.person(context, account),
        "needs_password": not reauthentication.is_fresh(context, session),
        "must_confirm": reauthentication.must_confirm(context, session, account),
    }


def own(context: Context, account: Account, found: list[Membership]) -> list[contract.OwnOrganization]:
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
            is_owner=OWN in one.permissions,
            takes_requests=bool(one.organization.policy.jit_policy.require_approval),
            is_last_owner=owners[one.organization.org_id].is_last(account.uid),
        )
        for one in found
    ]


def member_of(context: Context, scope: Managed, account: Account, uid: str) -> contract.MemberView:
    """Return a member as `account` sees it. Raises NotAMember."""
    org_id = scope.organization.org_id
    held = member_store.of_account(context, uid, org_id)
    if not held:
        raise e.NotAMember
    names = member_store.roles_of(context, org_id, [uid])
    try:
        other = memberships.require_removable(context, uid)
    except e.UnknownMember:
        raise e.NotAMember from None
    since = min(one.created_at for one in held)
    return member(scope, account, Member(uid, oauth_views.person(other).label, since, tuple(names.get(uid, ()))))


def member(scope: Managed, account: Account, one: Member) -> contract.MemberView:
    """Return a member as `account` sees it."""
    return contract.MemberView(
        uid=one.uid,
        label=one.label,
        roles=list(dict.fromkeys(role.name for role in one.roles)),
        role_ids=[role.role_id for role in one.roles],
        since=iso(one.since) or "",
        is_self=one.uid == account.uid,
        is_owner=one.uid in scope.owners.uids,
        can_change=scope.can_change(one.uid),
        is_last_owner=scope.is_last_owner(one.uid),
    )
