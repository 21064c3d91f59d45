"""The rules of requests to join an organization by a verified domain (decision 0205).

`use_cases/organizations/membership_requests.py` sends the emails.
"""

from __future__ import annotations

from typing import Final

from app.contract import errors
from app.identity.directory.accounts import account_store
from app.identity.directory.accounts.account import Account
from app.identity.directory.organizations import organization_names, organization_store, organizations
from app.identity.directory.organizations.domains import domains, membership_domains
from app.identity.directory.organizations.invitations import email_invitations
from app.identity.directory.organizations.join_requests import join_request_store
from app.identity.directory.organizations.join_requests.join_request import (
    APPROVED,
    DECLINED,
    JoinOffer,
    JoinRequestRecord,
)
from app.identity.directory.organizations.memberships import membership_store, memberships
from app.identity.directory.organizations.organization import OrganizationRecord
from app.identity.platform.context import Context
from app.kit.limits.rate_limits import Rate

_ASKED: Final = Rate(20, 3600)
"""Per account."""


def offers(context: Context, account: Account) -> list[JoinOffer]:
    """Return the organizations that the account may ask to join, the oldest first: those of its verified domains.

    An account without an address of such a domain costs no statement, and learns nothing.
    """
    if not context.tenant.settings.organizations.enabled:
        return []
    by_request = membership_domains.of_tenant(context).by_request
    requested = (
        {by_request[domain] for domain in account.email_list.verified_domains if domain in by_request}
        if by_request
        else set()
    )
    if requested and account.has_organizations:
        requested -= {member.org_id for member in membership_store.of_account(context, account.uid)}
    if not requested:
        return []
    stored = join_request_store.of_account(context, account.uid, requested)
    found = [item for item in organization_store.by_ids(context, requested) if item.is_active]
    return [_offer(context, item, stored.get(item.org_id)) for item in found]


def request_to_join(
    context: Context, account: Account, org_id: str
) -> tuple[JoinRequestRecord, OrganizationRecord, bool]:
    """Open the account's request; return it with the organization, and whether it is new. Repeating it changes nothing.

    The organization decides as it is now: its domains are read again, and an address may have been removed meanwhile.

    Raises:
        UnknownOrganization: also where it exists and the account has no verified address of its domains, or is a member.
        JoinRequestRefused: the last request was declined less than 30 days ago.
    """
    if not context.tenant.settings.organizations.enabled or not organization_names.is_id(
        organization_names.ORGANIZATION, org_id
    ):
        raise errors.UnknownOrganization
    context.count_against("organization_ask", _ASKED, account.uid)
    organization = organization_store.locked(context, org_id)
    current = account_store.by_uid(context, account.uid) if account_store.lock_unread(context, account.uid) else None
    if organization is None or current is None or not organization.is_active:
        raise errors.UnknownOrganization
    domain = _shared_domain(context, organization, current)
    if domain is None or membership_store.of_account(context, current.uid, org_id):
        raise errors.UnknownOrganization
    stored = join_request_store.of_account(context, current.uid, [org_id]).get(org_id)
    if stored is not None and stored.is_open:
        return stored, organization, False
    if stored is not None and stored.ends_at is not None and context.now < stored.ends_at:
        raise errors.JoinRequestRefused
    request = join_request_store.open_(context, current.uid, org_id, domain)
    _record(context, "organization.join_requested", request, current.uid)
    return request, organization, True


def approve(
    context: Context, org_id: str, request_id: str, by: str | None = None
) -> tuple[JoinRequestRecord, OrganizationRecord, Account]:
    """Make the account of an open request a member with the role of new members; of simultaneous approvals one succeeds.

    `by`: the manager's uid, None for a server of the tenant.

    Raises:
        OrganizationIdMissing, MalformedOrganizationId, UnknownOrganization, OrganizationInactive.
        UnknownJoinRequest: the organization has no such request.
        JoinRequestClosed: it was decided, or the account is being deleted or has lost its address of the domain.
        WrongDefaultMemberRole: there is no role of new members, or it was deleted in the meantime.
        NoSeatLeft: members and open invitations take every seat.
    """
    organization = organizations.lock_active(context, org_id, is_alone=True)
    request = _require_open(context, organization, request_id)
    account = account_store.by_uid(context, request.uid) if account_store.lock_unread(context, request.uid) else None
    if account is None or account.is_deleted or request.domain not in account.email_list.verified_domains:
        raise errors.JoinRequestClosed
    is_member = bool(membership_store.of_account(context, account.uid, organization.org_id))
    role_ids = memberships.default_role_ids(context, organization)
    if not is_member and not role_ids:
        raise errors.WrongDefaultMemberRole
    if not is_member and _is_full(context, organization):
        raise errors.NoSeatLeft
    approved = _closed(join_request_store.close(context, request, APPROVED, by))
    if not is_member:
        _join(context, account, organization, role_ids)
    _record(context, "organization.join_approved", approved, by)
    return approved, organization, account


def decline(
    context: Context, org_id: str, request_id: str, by: str | None = None
) -> tuple[JoinRequestRecord, OrganizationRecord, Account | None]:
    """Decline an open request; the account, None if it is gone, can ask again after 30 days. Raises as `approve` does."""
    organization = organizations.lock_active(context, org_id)
    request = _require_open(context, organization, request_id)
    declined = _closed(join_request_store.close(context, request, DECLINED, by))
    _record(context, "organization.join_declined", declined, by)
    return declined, organization, account_store.by_uid(context, request.uid)


def _join(context: Context, account: Account, organization: OrganizationRecord, role_ids: list[str]) -> None:
    try:
        memberships.join(context, account, organization, role_ids)
    except (errors.MalformedRoleId, errors.RoleOfOtherOrganization):
        raise errors.WrongDefaultMemberRole from None


def _offer(context: Context, organization: OrganizationRecord, stored: JoinRequestRecord | None) -> JoinOffer:
    until = stored.ends_at if stored is not None else None
    is_paused = until is not None and context.now < until
    return JoinOffer(organization, stored is not None and stored.is_open, until if is_paused else None)


def _shared_domain(context: Context, organization: OrganizationRecord, account: Account) -> str | None:
    """Return a verified domain of the organization that the account has a verified address of, if it may ask by it."""
    if not organization.policy.jit_policy.require_approval:
        return None
    stored = domains.of_organizations(context, [organization.org_id])[organization.org_id]
    owned = {domain.domain for domain in stored if domain.is_verified}
    return min(owned & account.email_list.verified_domains, default=None)


def _is_full(context: Context, organization: OrganizationRecord) -> bool:
    if organization.seats is None:
        return False
    return email_invitations.taken_seats(context, organization) >= organization.seats


def _require_open(context: Context, organization: OrganizationRecord, request_id: str) -> JoinRequestRecord:
    is_id = organization_names.is_id(organization_names.JOIN_REQUEST, request_id)
    request = join_request_store.by_id(context, organization.org_id, request_id) if is_id else None
    if request is None:
        raise errors.UnknownJoinRequest
    if not request.is_open:
        raise errors.JoinRequestClosed
    return request


def _closed(request: JoinRequestRecord | None) -> JoinRequestRecord:
    """Raise JoinRequestClosed if another decision came first."""
    if request is None:
        raise errors.JoinRequestClosed
    return request


def _record(context: Context, event: str, request: JoinRequestRecord, by: str | None) -> None:
    facts = {"org_id": request.org_id, "account": request.uid, "join_request_id": request.join_request_id}
    context.audit.record(event, uid=by, **facts, domain=request.domain)
