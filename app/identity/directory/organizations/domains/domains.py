"""Domains of organizations: their names, and the claims that organizations make to them.

Several organizations may claim a domain; the first to verify it owns it, and the claims of the others stay unverified.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import ColumnElement, delete, insert, select
from sqlalchemy.engine import Row
from sqlalchemy.exc import IntegrityError

from app.contract import errors
from app.contract.organizations.models import DomainProblem
from app.identity.directory.accounts import identifiers
from app.identity.directory.organizations import connection_ends, organization_names
from app.identity.directory.organizations.domains import membership_domains
from app.identity.directory.organizations.domains.mail_providers import is_mail_provider
from app.identity.directory.organizations.organization import OrganizationRecord
from app.identity.directory.organizations.tables import organization_connections, organization_domains
from app.identity.platform.context import Context
from app.kit import randomness

DNS, MANUAL = "dns_txt", "manual"
PENDING, VERIFIED, FAILED = "pending", "verified", "failed"
_TOKEN_LENGTH: Final = 32


@dataclass(frozen=True)
class OrganizationDomain:
    """A domain that an organization claims."""

    domain_id: str
    org_id: str
    domain: str
    state: str
    strategy: str
    token: str
    created_at: datetime
    verified_at: datetime | None
    checked_at: datetime | None
    problem: DomainProblem | None = None

    @property
    def is_verified(self) -> bool:
        return self.state == VERIFIED


D = organization_domains.c
COLUMNS = tuple(D[name] for name in OrganizationDomain.__dataclass_fields__)


def domain_of(row: Row[Any]) -> OrganizationDomain:
    """Return the domain in a row of COLUMNS."""
    values = dict(row._mapping)
    return OrganizationDomain(**{**values, "problem": DomainProblem(row.problem) if row.problem else None})


def normalized(text: str) -> str:
    """Return the domain in ASCII and lower case. Raises BadField for a malformed one."""
    address = identifiers.normalize_email(f"a@{text.strip().rstrip('.')}")
    domain = address.rpartition("@")[2] if address else ""
    if not domain or "[" in domain or "@" in text:
        raise errors.BadField("The DomainName is not formatted correctly: a domain such as example.com is expected.")
    return domain


def checked(text: str) -> str:
    """Return the domain in ASCII and lower case. Raises BadField for a malformed one, and for one of a mail provider."""
    domain = normalized(text)
    if is_mail_provider(domain):
        raise errors.BadField(
            f"The DomainName is not accepted: {domain} belongs to a provider of mailboxes for everyone."
        )
    return domain


def of_organizations(
    context: Context, org_ids: Collection[str], window: tuple[int | None, int] = (None, 0)
) -> dict[str, list[OrganizationDomain]]:
    """Return the domains of these organizations, the oldest first, in one statement."""
    by_organization: dict[str, list[OrganizationDomain]] = {org_id: [] for org_id in org_ids}
    limit, offset = window
    ordered = select(*COLUMNS).where(*claims_of(context), D.org_id.in_(org_ids)).order_by(D.created_at, D.domain)
    for row in context.work.all(ordered.limit(limit).offset(offset)):
        by_organization[row.org_id].append(domain_of(row))
    return by_organization


def require(context: Context, organization: OrganizationRecord, domain_id: str) -> OrganizationDomain:
    """Return a domain of the organization. Raises UnknownOrganizationDomain, also for a malformed id."""
    where = (*claims_of(context), D.org_id == organization.org_id, D.domain_id == domain_id)
    row = (
        context.work.one(select(*COLUMNS).where(*where))
        if organization_names.is_id(organization_names.DOMAIN, domain_id)
        else None
    )
    if row is None:
        raise errors.UnknownOrganizationDomain
    return domain_of(row)


def by_name(context: Context, organization: OrganizationRecord, domain: str) -> OrganizationDomain | None:
    """Return a domain of the organization by its normalized name."""
    row = context.work.one(
        select(*COLUMNS).where(*claims_of(context), D.org_id == organization.org_id, D.domain == domain)
    )
    return domain_of(row) if row is not None else None


def verified(context: Context, domain: str) -> OrganizationDomain | None:
    """Return the verified claim to a domain."""
    row = context.work.one(select(*COLUMNS).where(*claims_of(context), D.verified_domain == domain))
    return domain_of(row) if row is not None else None


def add_all(
    context: Context, organization: OrganizationRecord, requested: Mapping[str, bool], *, by: str | None = None
) -> None:
    """Add domains; True states that the domain is verified. Raises DomainTaken."""
    for domain in sorted(requested):
        add(context, organization, domain, is_verified=requested[domain], by=by)


def add(
    context: Context, organization: OrganizationRecord, domain: str, *, is_verified: bool = False, by: str | None = None
) -> OrganizationDomain:
    """Add a domain. `by`: the uid of the owner who does it; None: a server of the tenant, here and below.

    Raises DomainTaken if the organization has it, or another one has verified it.
    """
    if verified(context, domain) is not None:
        raise errors.DomainTaken
    values: dict[str, Any] = {
        "tenant_id": context.tenant.tenant_id,
        "domain_id": organization_names.mint(organization_names.DOMAIN),
        "org_id": organization.org_id,
        "domain": domain,
        "verified_domain": domain if is_verified else None,
        "state": VERIFIED if is_verified else PENDING,
        "strategy": MANUAL if is_verified else DNS,
        "token": randomness.alphanumeric(_TOKEN_LENGTH),
        "created_at": context.now,
        "verified_at": context.now if is_verified else None,
    }
    try:
        row = context.work.run(insert(organization_domains).values(values).returning(*COLUMNS)).one()
    except IntegrityError:
        raise errors.DomainTaken from None
    if is_verified:
        membership_domains.forget_of(context, organization.org_id)
    facts = {"org_id": organization.org_id, "domain": domain}
    context.audit.record("organization.domain_added", uid=by, **facts, verified=is_verified)
    return domain_of(row)


def replace_all(
    context: Context, organization: OrganizationRecord, requested: Mapping[str, bool], *, by: str | None = None
) -> None:
    """Replace the domains of an organization; those that it has keep their proof. Raises DomainInUse, DomainTaken."""
    stored = {domain.domain: domain for domain in of_organizations(context, [organization.org_id])[organization.org_id]}
    dropped = [element for name, element in stored.items() if name not in requested]
    restated = [
        stored[name]
        for name, is_verified in requested.items()
        if name in stored and is_verified and not stored[name].is_verified
    ]
    for item in (*dropped, *restated):
        remove(context, item, is_retained=item in restated, by=by)
    missing = {
        name: is_verified for name, is_verified in requested.items() if name not in stored or stored[name] in restated
    }
    add_all(context, organization, missing, by=by)


def remove(context: Context, domain: OrganizationDomain, *, is_retained: bool = False, by: str | None = None) -> None:
    """Delete a domain. Raises DomainInUse if a connection uses it, unless it is added again at once."""
    if not is_retained and _is_in_use(context, domain):
        raise errors.DomainInUse
    context.work.run(delete(organization_domains).where(*claims_of(context), D.domain_id == domain.domain_id))
    if domain.is_verified:
        membership_domains.forget_of(context, domain.org_id)
        connection_ends.announce(context, domain.org_id)
    context.audit.record("organization.domain_removed", uid=by, org_id=domain.org_id, domain=domain.domain)


def _is_in_use(context: Context, domain: OrganizationDomain) -> bool:
    return domain.domain in used_by_connections(context, domain.org_id)


def used_by_connections(context: Context, org_id: str) -> set[str]:
    """Return the domains of an organization that its connections use."""
    c = organization_connections.c
    where = (c.tenant_id == context.tenant.tenant_id, c.org_id == org_id)
    return {row.domain for row in context.work.all(select(c.domain).where(*where).distinct())}


def claims_of(context: Context) -> tuple[ColumnElement[bool], ...]:
    return (D.tenant_id == context.tenant.tenant_id,)
