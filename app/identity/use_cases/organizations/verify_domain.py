"""Verifies the domains of organizations, and notifies the owners whose domain is lost, contested, or verified by another organization."""

from __future__ import annotations

from typing import Final

from app.contract.messages.models import MailKind
from app.identity.credentials import notifications
from app.identity.directory.accounts import account_store
from app.identity.directory.accounts.account import verified_email
from app.identity.directory.organizations import organizations
from app.identity.directory.organizations.domains import domain_verification
from app.identity.directory.organizations.domains.domains import OrganizationDomain
from app.identity.directory.organizations.memberships import membership_store
from app.identity.messaging.message import MessageFacts
from app.identity.platform.context import Context

PAGE: Final = "/organizations/domains"
_MAX_OWNERS: Final = 20
"""Owners who get an email about one domain."""


def verify(context: Context, domain: OrganizationDomain, *, by: str | None = None) -> OrganizationDomain:
    """Verify a domain as `domain_verification.verify` does, which describes `by` and the errors; owners get emails."""
    return domain_verification.verify(context, domain, _notify_owners, by=by)


def _notify_owners(context: Context, domain: OrganizationDomain) -> None:
    """Email the owners of an organization whose domain has a problem; other organizations are never named."""
    organization = organizations.by_id(context, domain.org_id)
    if organization is None or not organization.is_active or domain.problem is None:
        return
    for uid in sorted(membership_store.owners(context, [domain.org_id])[domain.org_id].able)[:_MAX_OWNERS]:
        account = account_store.by_uid(context, uid)
        email = verified_email(account) if account is not None else None
        if account is None or email is None:
            continue
        facts = MessageFacts(
            organization=organization.display_name,
            domain=domain.domain,
            change=domain.problem,
            url=f"{context.pages_url}{PAGE}?id={domain.org_id}",
        )
        notifications.notify(context, MailKind.ORGANIZATION_DOMAIN, email, account, facts)
