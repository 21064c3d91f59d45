"""Verifies the domains of organizations by DNS (RFC 1035 TXT records), and the mail servers of new domains.

The first proof wins. A proof that is gone is noticed at the next verification: of the organization, or of another one that proves the
domain and takes it over. The organization that loses a domain, or whose domain another one claims, finds it in the audit log.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from sqlalchemy import update
from sqlalchemy.exc import IntegrityError

from app.contract import errors as e
from app.identity.directory.organizations import domains, joined_domains
from app.identity.directory.organizations.domains import D, OrganizationDomain, mine
from app.identity.directory.organizations.tables import organization_domains
from app.identity.platform.context import Context
from app.kit.clock import monotonic
from app.kit.dns_records import SECONDS, DnsRecords, DnsUnavailable
from app.kit.limits import Rate

PREFIX: Final = "gatehouse-domain-verification="
_LOOKUPS: Final = Rate(60, 3600)
"""DNS look-ups of a tenant."""


def require_mail_servers(context: Context, names: Iterable[str]) -> None:
    """Refuse domains without a mail server, if the tenant asks DNS. All look-ups together have one deadline.

    Raises BadField, also if DNS does not answer. Must precede the first write of the request.
    """
    if not context.tenant.settings.organizations.dns:
        return
    ends = monotonic() + SECONDS
    for name in names:
        context.spend("organizations.dns", _LOOKUPS)
        context.work.release_connection()
        try:
            found = DnsRecords(context.services.settings.dns_servers, max(ends - monotonic(), 0.01)).mail_servers(name)
        except DnsUnavailable:
            raise e.BadField(f"The DomainName cannot be checked: DNS gave no answer for {name}; try again.") from None
        if not found:
            raise e.BadField(f"The DomainName is not accepted: {name} has no mail server (MX record).")


def verify(context: Context, domain: OrganizationDomain) -> OrganizationDomain:
    """Verify a domain by its TXT record and return it.

    Raises:
        DomainVerified: it was verified before, and its proof is still there or was an administrator's.
        DomainNotProven: the record is missing, DNS does not answer, or the tenant does not ask DNS. A domain that the record
            verified before is no longer verified.
        DomainTaken: another organization has verified it and still proves it.
    """
    if domain.is_verified and (domain.strategy == domains.MANUAL or not context.tenant.settings.organizations.dns):
        raise e.DomainVerified
    texts = _texts(context, domain)
    if PREFIX + domain.token not in texts:
        raise _record_missing_record(context, domain)
    if domain.is_verified:
        raise e.DomainVerified
    return _take(context, domain, texts)


def _texts(context: Context, domain: OrganizationDomain) -> list[str]:
    if not context.tenant.settings.organizations.dns:
        raise e.DomainNotProven(
            "The tenant does not ask DNS: `organizations.dns` is off. An administrator can verify the domain."
        )
    context.spend("organizations.dns", _LOOKUPS)
    context.work.release_connection()
    try:
        return DnsRecords(context.services.settings.dns_servers).texts(domain.domain)
    except DnsUnavailable:
        raise e.DomainNotProven(f"DNS gave no answer for {domain.domain}; try again.") from None


def _record_missing_record(context: Context, domain: OrganizationDomain) -> e.DomainNotProven:
    """Record that the proof is missing, and return the error, which keeps what was written."""
    _change(context, domain, {"state": domains.FAILED, "verified_domain": None, "verified_at": None})
    if domain.is_verified:
        joined_domains.forget_of(context, domain.org_id)
    event = "organization.domain_lost" if domain.is_verified else "organization.domain_not_proven"
    context.audit.record(event, org_id=domain.org_id, domain=domain.domain)
    sentence = (
        f"DNS has no TXT record {PREFIX}{domain.token} at {domain.domain}. New records may take hours to be seen."
    )
    return e.DomainNotProven(sentence, commit_on_raise=True)


def _take(context: Context, domain: OrganizationDomain, texts: list[str]) -> OrganizationDomain:
    """Give the domain to the organization that proved it, unless another one still does."""
    owner = domains.verified(context, domain.domain)
    if owner is not None:
        facts = {"org_id": owner.org_id, "domain": domain.domain}
        if owner.strategy == domains.MANUAL or PREFIX + owner.token in texts:
            context.audit.record("organization.domain_contested", **facts)
            raise e.DomainTaken
        _change(context, owner, {"state": domains.FAILED, "verified_domain": None, "verified_at": None})
        joined_domains.forget_of(context, owner.org_id)
        context.audit.record("organization.domain_lost", **facts)
    values = {"state": domains.VERIFIED, "verified_domain": domain.domain, "verified_at": context.now}
    try:
        changed = _change(context, domain, values)
    except IntegrityError:
        raise e.DomainTaken from None
    joined_domains.forget_of(context, domain.org_id)
    context.audit.record("organization.domain_verified", org_id=domain.org_id, domain=domain.domain)
    return changed


def _change(context: Context, domain: OrganizationDomain, values: dict[str, Any]) -> OrganizationDomain:
    where = (*mine(context), D.domain_id == domain.domain_id)
    statement = update(organization_domains).where(*where).values(checked_at=context.now, **values)
    row = context.work.one(statement.returning(*domains.COLUMNS))
    if row is None:
        raise e.UnknownOrganizationDomain
    return OrganizationDomain(**row._mapping)
