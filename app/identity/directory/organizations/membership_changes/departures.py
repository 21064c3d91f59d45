"""Ends memberships and takes roles away, with the invitations and requests that depended on them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence

from app.contract import errors
from app.identity.directory.accounts import account_store
from app.identity.directory.accounts.account import Account
from app.identity.directory.accounts.identifiers import normalize_email
from app.identity.directory.organizations.invitations import invitation_store, shared_invitation_store
from app.identity.directory.organizations.join_requests import join_request_store
from app.identity.directory.organizations.memberships import membership_store
from app.identity.directory.organizations.memberships.memberships import lock_account
from app.identity.directory.organizations.organization import OrganizationRecord
from app.identity.directory.organizations.roles import organization_roles
from app.identity.platform import events
from app.identity.platform.context import Context


def remove(context: Context, account: Account, organization: OrganizationRecord, role_ids: Collection[str]) -> bool:
    """Take roles in an organization from an account. Return whether it had one of them.

    Open invitations of its addresses end, or one could give the roles back; without a role left, also those that it sent.

    Raises NotAMember, MalformedRoleId, RoleOfOtherOrganization.
    """
    account = lock_account(context, account)
    found = organization_roles.for_members(context, organization.org_id, role_ids)
    if not membership_store.of_account(context, account.uid, organization.org_id):
        raise errors.NotAMember
    ids = [role.role_id for role in found]
    count = membership_store.remove(context, account.uid, organization.org_id, ids)
    if count:
        is_member = bool(membership_store.of_account(context, account.uid, organization.org_id))
        _revoke_invitations(context, [_current(context, account)], organization.org_id, is_member=is_member)
    context.audit.record("organization.roles_removed", uid=account.uid, org_id=organization.org_id, role_ids=ids)
    if count:
        events.emit(context, "UnassignRoles", account)
    return count > 0


def leave(context: Context, account: Account, organization: OrganizationRecord) -> None:
    """End a membership, and the open invitations by which the account could return or others could follow. Raises NotAMember."""
    account_store.lock_unread(context, account.uid)
    if not membership_store.remove(context, account.uid, organization.org_id):
        raise errors.NotAMember
    _revoke_invitations(context, [_current(context, account)], organization.org_id)
    context.audit.record("organization.left", uid=account.uid, org_id=organization.org_id)
    events.emit(context, "UnassignRoles", account)


def leave_all(context: Context, account: Account) -> bool:
    """End every membership of an account, and its open invitations. Return whether there was a membership."""
    account_store.lock_unread(context, account.uid)
    left = {member.org_id for member in membership_store.of_account(context, account.uid)}
    if not membership_store.remove(context, account.uid):
        return False
    _revoke_invitations(context, [_current(context, account)])
    _forget_requests(context, [account.uid], left)
    context.audit.record("organization.left_all", uid=account.uid)
    events.emit(context, "UnassignRoles", account)
    return True


def remove_from_all(
    context: Context,
    accounts: Sequence[Account],
    organization: OrganizationRecord,
    taken: Mapping[str, Collection[str]],
) -> None:
    """Take roles from several members, each as `remove` does, in a few statements. The caller locked the organization alone.

    Args:
        taken: the roles by the ids of these accounts, which have them.
    """
    alike: dict[frozenset[str], list[str]] = defaultdict(list)
    for account in accounts:
        alike[frozenset(taken[account.uid])].append(account.uid)
    for role_ids, uids in alike.items():
        membership_store.remove_of_all(context, uids, organization.org_id, role_ids)
    members = membership_store.members_among(context, organization.org_id, [account.uid for account in accounts])
    _revoke_invitations(
        context, [item for item in accounts if item.uid in members], organization.org_id, is_member=True
    )
    _revoke_invitations(context, [item for item in accounts if item.uid not in members], organization.org_id)
    for account in accounts:
        ids = sorted(taken[account.uid])
        context.audit.record("organization.roles_removed", uid=account.uid, org_id=organization.org_id, role_ids=ids)
        events.emit(context, "UnassignRoles", account)


def _revoke_invitations(
    context: Context, accounts: Sequence[Account], org_id: str | None = None, *, is_member: bool = False
) -> None:
    """Revoke the open invitations of the accounts' addresses; unless each `is_member` still, also those that they sent, and close
    the organization's shared invitations to them."""
    if not accounts:
        return
    forms = (
        normalize_email(text)
        for item in accounts
        for text in (*(entry.value for entry in item.email_list), item.email or "")
    )
    keys = {normalized for normalized in forms if normalized}
    own_uids = [uid for item in accounts for uid in (item.uid, *(item.private.get("previous_uids") or ()))]
    senders = [] if is_member else own_uids
    for item in invitation_store.revoke_of_member(context, keys, senders, org_id):
        facts = {"org_id": item.org_id, "invitation_id": item.invitation_id}
        context.audit.record("organization.invitation_revoked", uid=item.inviter_uid, **facts)
    if is_member:
        return
    for shared in shared_invitation_store.revoke_of(context, senders, org_id):
        facts = {"org_id": shared.org_id, "invitation_id": shared.invitation_id}
        context.audit.record("organization.link_revoked", uid=shared.inviter_uid, **facts)
    if org_id is not None:
        _forget_requests(context, [account.uid for account in accounts], [org_id])


def _forget_requests(context: Context, uids: Collection[str], org_ids: Collection[str]) -> None:
    """Close the organizations' shared invitations to accounts that left, and delete their requests to join from before."""
    shared_invitation_store.close_to(context, uids, org_ids)
    join_request_store.delete_open(context, uids, org_ids)


def _current(context: Context, account: Account) -> Account:
    """Return the account with the addresses that it has since its row is locked."""
    return account_store.by_uid(context, account.uid) or account
