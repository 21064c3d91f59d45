"""Requests to join an organization with their emails: to managers when an account asks, to the account when a manager decides."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from typing import Final
from urllib.parse import urlencode

from app.contract import errors
from app.contract.messages.models import MailKind
from app.identity.directory.accounts import account_store
from app.identity.directory.accounts.account import Account, can_sign_in, verified_email
from app.identity.directory.organizations.join_requests import join_requests
from app.identity.directory.organizations.join_requests.join_request import JoinRequestRecord
from app.identity.directory.organizations.memberships import membership_store
from app.identity.directory.organizations.organization import OrganizationRecord
from app.identity.messaging import messaging
from app.identity.messaging.message import MessageFacts
from app.identity.platform.context import Context
from app.kit.limits.rate_limits import Rate

LIST: Final = "/organizations"
PAGE: Final = f"{LIST}/requests"
MAX_MANAGERS: Final = 5
"""Most managers who get an email about a request: the oldest members."""
_MAX_READ: Final = 4 * MAX_MANAGERS
"""Most managers who are looked at: some may be blocked, or have no verified address."""
COOL_DOWN: Final = Rate(4, 3600)
"""Requests of one organization that are emailed; managers find the others on the page."""


def request_to_join(context: Context, account: Account, org_id: str) -> tuple[JoinRequestRecord, OrganizationRecord]:
    """Ask to join, and tell managers about a new request. Raises as `join_requests.request_to_join` does."""
    request, organization, is_new = join_requests.request_to_join(context, account, org_id)
    if is_new and _may_mail(context, organization):
        address = _address(account, request.domain) or ""
        facts = _facts(context, organization, f"{PAGE}?{urlencode({'id': organization.org_id})}")
        for manager in islice(_managers(context, organization), MAX_MANAGERS):
            _mail(context, MailKind.JOIN_REQUESTED, manager, replace(facts, email=address))
    return request, organization


def approve(context: Context, org_id: str, request_id: str, by: str | None = None) -> tuple[JoinRequestRecord, Account]:
    """Approve a request, and tell the account. Raises as `join_requests.approve` does."""
    request, organization, account = join_requests.approve(context, org_id, request_id, by)
    _mail(context, MailKind.JOIN_APPROVED, account, _facts(context, organization, LIST), request.domain)
    return request, account


def decline(
    context: Context, org_id: str, request_id: str, by: str | None = None
) -> tuple[JoinRequestRecord, Account | None]:
    """Decline a request, and tell the account. Raises as `join_requests.decline` does."""
    request, organization, account = join_requests.decline(context, org_id, request_id, by)
    _mail(context, MailKind.JOIN_DECLINED, account, _facts(context, organization), request.domain)
    return request, account


def _managers(context: Context, organization: OrganizationRecord) -> Iterator[Account]:
    """Yield the managers who can sign in and decide, the oldest members first."""
    for uid in membership_store.managers(context, organization.org_id, _MAX_READ):
        account = account_store.by_uid(context, uid)
        if account is not None and can_sign_in(account) and verified_email(account):
            yield account


def _may_mail(context: Context, organization: OrganizationRecord) -> bool:
    try:
        context.count_against("organization_ask_mail", COOL_DOWN, organization.org_id)
    except errors.TooManyRequests:
        context.audit.record("organization.join_request_not_mailed", org_id=organization.org_id)
        return False
    return True


def _facts(context: Context, organization: OrganizationRecord, path: str = "") -> MessageFacts:
    return MessageFacts(
        organization=organization.display_name,
        organization_logo=organization.logo_url or "",
        url=f"{context.pages_url}{path}" if path else "",
    )


def _mail(
    context: Context, kind: MailKind, account: Account | None, facts: MessageFacts, domain: str | None = None
) -> None:
    """Send an email to the account's verified address, if it has one; by preference its primary one."""
    address = _address(account, domain) if account is not None and not account.is_deleted else None
    if address is not None:
        messaging.mail(context, kind, address, account=account, facts=facts)


def _address(account: Account, domain: str | None) -> str | None:
    """Return the account's primary address if it is verified, else a verified one of the domain."""
    if (primary := verified_email(account)) is not None:
        return primary
    verified = account.email_list.verified
    return next((item.value for item in verified if item.normalized.rpartition("@")[2] == domain), None)
