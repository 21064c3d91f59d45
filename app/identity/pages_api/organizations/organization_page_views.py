"""Organizations and their members, as the account pages show them."""

from __future__ import annotations

from typing import Any

from app.contract import errors
from app.contract.organizations.pages import account_organization_pages, member_pages
from app.identity.authentication.sign_in import reauthentication_rules
from app.identity.authentication.sign_in.sessions.sessions import BrowserSession
from app.identity.directory.accounts.account import Account, full_name
from app.identity.directory.organizations.memberships import managed_organization, membership_store, memberships
from app.identity.directory.organizations.memberships.managed_organization import ManagedOrganization
from app.identity.directory.organizations.organization import OWN, MemberRecord, Membership
from app.identity.pages_api import views
from app.identity.platform.context import Context
from app.identity.protocols.oauth import oauth_views
from app.kit.clock import iso


def account_view(context: Context, session: BrowserSession, account: Account) -> dict[str, Any]:
    """Return the members of an `AccountView`."""
    return {
        "person": views.person(context, account),
        "reauthentication": reauthentication_rules.required_reauthentication(context, session, account),
    }


def own(
    context: Context, account: Account, own_memberships: list[Membership]
) -> list[account_organization_pages.OwnOrganization]:
    """Return organizations as the account's pages show them, in a fixed number of statements."""
    ids = [item.organization.org_id for item in own_memberships]
    people, owners = memberships.count_people(context, ids), managed_organization.owners_of(context, ids)
    since = membership_store.joined_at(context, account.uid, ids)
    return [
        account_organization_pages.OwnOrganization(
            id=item.organization.org_id,
            name=item.organization.display_name,
            logo=item.organization.logo_url,
            roles=list(dict.fromkeys(role.name for role in item.roles)),
            people=people.get(item.organization.org_id, 1),
            since=iso(since.get(item.organization.org_id)) or "",
            can_manage=item.is_administrator,
            is_owner=OWN in item.permissions,
            takes_requests=bool(item.organization.policy.jit_policy.require_approval),
            is_last_owner=owners[item.organization.org_id].is_last(account.uid),
        )
        for item in own_memberships
    ]


def member_of(context: Context, scope: ManagedOrganization, account: Account, uid: str) -> member_pages.MemberView:
    """Return a member as `account` sees it. Raises NotAMember."""
    org_id = scope.organization.org_id
    stored = membership_store.of_account(context, uid, org_id)
    if not stored:
        raise errors.NotAMember
    names = membership_store.roles_of(context, org_id, [uid])
    try:
        other = memberships.require_removable(context, uid)
    except errors.UnknownMember:
        raise errors.NotAMember from None
    since = min(item.created_at for item in stored)
    label, roles = oauth_views.person(other).label, tuple(names.get(uid, ()))
    return member(scope, account, MemberRecord(uid, full_name(other) or "", label, since, roles))


def member(scope: ManagedOrganization, account: Account, item: MemberRecord) -> member_pages.MemberView:
    """Return a member as `account` sees it."""
    return member_pages.MemberView(
        uid=item.uid,
        name=item.name,
        label=item.label,
        roles=list(dict.fromkeys(role.name for role in item.roles)),
        role_ids=[role.role_id for role in item.roles],
        since=iso(item.since) or "",
        is_self=item.uid == account.uid,
        is_owner=item.uid in scope.owners.uids,
        can_change=scope.can_change(item.uid),
        is_last_owner=scope.is_last_owner(item.uid),
    )
