"""Verifies the domains of organizations, and notifies the owners whose domain is lost, contested, or verified by another organization."""

from __future__ import annotations

from typing import Final

from app.contract.messages.models import MailKind
from app.contract.organizations import domains as contract
from app.contract.organizations.models import Domain
from app.identity.credentials import notifications
from app.identity.directory.accounts import service as accounts
from app.identity.directory.accounts.account import verified_email
from app.identity.directory.organizations import powers as organization_powers
from app.identity.directory.organizations import service as organizations
from app.identity.directory.organizations.domains import service as domains
from app.identity.directory.organizations.domains import verification as domain_verification
from app.identity.directory.organizations.domains.service import OrganizationDomain
from app.identity.directory.organizations.memberships import store as member_store
from app.identity.directory.organizations.service import while_on
from app.identity.platform.context import Context
from app.identity.platform.powers import require as require_powers
from app.identity.public_api.organizations import views

PAGE: Final = "/organizations/domains"
_MAX_OWNERS: Final = 20
"""Owners who get an email about one domain."""


@contract.verify.implements
@while_on
def verify_domain(context: Context, req: contract.DomainPath) -> Domain:
    organization = organizations.require_active(context, req.org_id)
    require_powers(context, organization_powers.of_joining(context, organization.org_id))
    domain = domains.require(context, organization, req.domain_id)
    return views.domain(verify(context, domain))


def verify(context: Context, domain: OrganizationDomain, *, by: str | None = None) -> OrganizationDomain:
    """Verify a domain as `domain_verification.verify` does, which describes `by` and the errors; owners get emails."""
    return domain_verification.verify(context, domain, _notify_owners, by=by)


def _notify_owners(context: Context, domain: OrganizationDomain) -> None:
    """Email the owners of an organization whose domain has a problem; other organizations are never named."""
    organization = organizations.by_id(context, domain.org_id)
    if organization is None or not organization.is_active or domain.problem is None:
        return
    for uid in sorted(member_store.owners(context, [domain.org_id])[domain.org_id].able)[:_MAX_OWNERS]:
        account = accounts.by_uid(context, uid)
        email = verified_email(account) if account is not None else None
        if account is None or email is None:
            continue
        notifications.notify(
            context,
            MailKind.ORGANIZATION_DOMAIN,
            email,
            account,
            organization=organization.display_name,
            domain=domain.domain,
            change=domain.problem,
            url=f"{context.pages_url}{PAGE}?id={domain.org_id}",
        )
