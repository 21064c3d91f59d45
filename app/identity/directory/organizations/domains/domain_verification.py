"""Verifies the domains of organizations by DNS (RFC 1035 TXT records), and the mail servers of new domains.

The first verified claim wins. A removed record is noticed at the next verification: of the organization, or of another that verifies the
domain and takes it over. Every organization whose claim changed by that has the reason in `problem`, and its owners are notified.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import timedelta
from typing import Any, Final

from sqlalchemy import or_, select, update
from sqlalchemy.exc import IntegrityError

from app.contract import errors
from app.contract.organizations.models import DomainProblem
from app.identity.directory.organizations import connection_ends
from app.identity.directory.organizations.domains import domains, membership_domains
from app.identity.directory.organizations.domains.domains import D, OrganizationDomain, claims_of
from app.identity.directory.organizations.tables import organization_domains
from app.identity.platform.context import Context
from app.kit.clock import monotonic
from app.kit.limits.rate_limits import Rate
from app.kit.outbound.dns_records import SECONDS, DnsRecords, DnsUnavailable

PREFIX: Final = "gatehouse-domain-verification="
"""Of the TXT record; the token of the claim follows."""
_LOOKUPS: Final = Rate(60, 3600)
"""DNS look-ups of a tenant."""
_MAX_CLAIMS: Final = 100
"""Other organizations that are notified when a domain is verified."""
_NOTICE_INTERVAL: Final = timedelta(days=1)
Notify = Callable[[Context, OrganizationDomain], None]
"""Notifies the owners of an organization whose domain has a new `problem`."""


def require_mail_servers(context: Context, names: Iterable[str]) -> None:
    """Refuse domains without a mail server, if the tenant asks DNS. All look-ups together have one deadline.

    Raises BadField, also if DNS does not answer. Must precede the first write of the request.
    """
    if not context.tenant.settings.organizations.dns:
        return
    ends = monotonic() + SECONDS
    for name in names:
        context.count_against("organizations.dns", _LOOKUPS)
        context.work.release_connection()
        try:
            mail_servers = DnsRecords(
                context.services.settings.dns_servers, max(ends - monotonic(), 0.01)
            ).mail_servers(name)
        except DnsUnavailable:
            raise errors.BadField(
                f"The DomainName cannot be checked: DNS gave no answer for {name}; try again."
            ) from None
        if not mail_servers:
            raise errors.BadField(f"The DomainName is not accepted: {name} has no mail server (MX record).")


def verify(
    context: Context, domain: OrganizationDomain, notify: Notify, *, by: str | None = None
) -> OrganizationDomain:
    """Verify a domain by its TXT record and return it.

    Args:
        by: the uid of the owner who does it; None: a server of the tenant.
        notify: called for each organization whose domain got a problem, at most once a day for each domain.

    Raises:
        DomainVerified: it was verified before, and its proof is still there or was an administrator's.
        DomainNotProven: the record is missing, DNS does not answer, or the tenant does not ask DNS. A domain that the record
            verified before is no longer verified.
        DomainTaken: another organization has verified it, and its record is still there.
    """
    if domain.is_verified and (domain.strategy == domains.MANUAL or not context.tenant.settings.organizations.dns):
        raise errors.DomainVerified
    texts = _texts(context, domain)
    claims = _locked_claims(context, domain)
    current = next((claim for claim in claims if claim.domain_id == domain.domain_id), None)
    if current is None:  # removed meanwhile
        raise errors.UnknownOrganizationDomain
    if PREFIX + current.token not in texts:
        raise _record_unproven(context, current, notify, by)
    if current.is_verified:
        if current.problem is not None:
            _change(context, current, {"problem": None})
        raise errors.DomainVerified(commit_on_raise=True)
    others = [claim for claim in claims if claim.domain_id != current.domain_id]
    changed = _take(context, current, others, texts, notify)
    context.audit.record("organization.domain_verified", uid=by, org_id=domain.org_id, domain=domain.domain)
    return changed


def _texts(context: Context, domain: OrganizationDomain) -> list[str]:
    if not context.tenant.settings.organizations.dns:
        raise errors.DomainNotProven(
            "The tenant does not ask DNS: `organizations.dns` is off. An administrator can verify the domain."
        )
    context.count_against("organizations.dns", _LOOKUPS)
    context.work.release_connection()
    try:
        return DnsRecords(context.services.settings.dns_servers).texts(domain.domain)
    except DnsUnavailable:
        raise errors.DomainNotProven(f"DNS gave no answer for {domain.domain}; try again.") from None


def _locked_claims(context: Context, domain: OrganizationDomain) -> list[OrganizationDomain]:
    """Return the claims of all organizations to a domain, locked in one order: those that are verified at once change one by one."""
    context.work.begin()
    statement = select(*domains.COLUMNS).where(*claims_of(context), D.domain == domain.domain).order_by(D.domain_id)
    return [domains.domain_of(row) for row in context.work.all(statement.with_for_update())]


def _record_unproven(
    context: Context, domain: OrganizationDomain, notify: Notify, by: str | None
) -> errors.DomainNotProven:
    """Record that the DNS record is missing, and return the error, which commits that change."""
    is_lost = domain.is_verified or domain.problem == DomainProblem.RECORD_LOST
    _fail(context, domain, DomainProblem.RECORD_LOST if is_lost else DomainProblem.RECORD_MISSING)
    event = "organization.domain_lost" if domain.is_verified else "organization.domain_not_proven"
    context.audit.record(event, uid=by, org_id=domain.org_id, domain=domain.domain)
    if domain.is_verified:
        _notify(context, domain, notify)
    sentence = (
        f"DNS has no TXT record {PREFIX}{domain.token} at {domain.domain}. New records may take hours to be seen."
    )
    return errors.DomainNotProven(sentence, commit_on_raise=True)


def _take(
    context: Context, domain: OrganizationDomain, others: list[OrganizationDomain], texts: list[str], notify: Notify
) -> OrganizationDomain:
    """Give the domain to the organization that verified it, unless the record of another organization is still there."""
    owner = next((item for item in others if item.is_verified), None)
    if owner is not None and (owner.strategy == domains.MANUAL or PREFIX + owner.token in texts):
        _fail(context, domain, DomainProblem.VERIFIED_ELSEWHERE)
        _change(context, owner, {"problem": DomainProblem.CONTESTED})
        context.audit.record("organization.domain_contested", org_id=owner.org_id, domain=domain.domain)
        _notify(context, owner, notify)
        raise errors.DomainTaken(f"Another organization has verified {domain.domain}.", commit_on_raise=True)
    position = context.audit.position()
    others.sort(key=lambda item: item is not owner)
    for other in others[:_MAX_CLAIMS]:  # the owner first: a domain has one verified claim at a time
        _fail(context, other, DomainProblem.RECORD_LOST if other is owner else DomainProblem.VERIFIED_ELSEWHERE)
        event = "organization.domain_lost" if other is owner else "organization.domain_verified_elsewhere"
        context.audit.record(event, org_id=other.org_id, domain=domain.domain)
        _notify(context, other, notify)
    values = {"state": domains.VERIFIED, "verified_domain": domain.domain, "verified_at": context.now, "problem": None}
    try:
        changed = _change(context, domain, values)
    except (
        IntegrityError
    ):  # added as verified for another organization since the claims were locked; nothing was changed
        context.audit.drop_since(position)
        raise errors.DomainTaken(f"Another organization has verified {domain.domain}.") from None
    membership_domains.forget_of(context, domain.org_id)
    return changed


def _fail(context: Context, domain: OrganizationDomain, problem: DomainProblem) -> None:
    _change(
        context, domain, {"state": domains.FAILED, "verified_domain": None, "verified_at": None, "problem": problem}
    )
    if domain.is_verified:
        membership_domains.forget_of(context, domain.org_id)
        connection_ends.announce(context, domain.org_id)


def _notify(context: Context, domain: OrganizationDomain, notify: Notify) -> None:
    """Notify the owners, at most once a day: another organization can verify as often as it likes."""
    is_due = or_(D.notified_at.is_(None), D.notified_at <= context.now - _NOTICE_INTERVAL)
    where = (*claims_of(context), D.domain_id == domain.domain_id, is_due)
    row = context.work.one(
        update(organization_domains).where(*where).values(notified_at=context.now).returning(*domains.COLUMNS)
    )
    if row is not None:
        notify(context, domains.domain_of(row))


def _change(context: Context, domain: OrganizationDomain, values: dict[str, Any]) -> OrganizationDomain:
    where = (*claims_of(context), D.domain_id == domain.domain_id)
    statement = update(organization_domains).where(*where).values(checked_at=context.now, **values)
    row = context.work.one(statement.returning(*domains.COLUMNS))
    if row is None:
        raise errors.UnknownOrganizationDomain
    return domains.domain_of(row)
