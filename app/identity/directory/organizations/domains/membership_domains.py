"""The verified domains whose accounts join an organization or ask to, cached with the tenant's version."""

from __future__ import annotations

from sqlalchemy import select

from app.contract.organizations.models import JitPolicy, Policies
from app.identity.directory.organizations import organization_store
from app.identity.directory.organizations.tables import organization_domains, organizations
from app.identity.directory.tenants import tenant_writes
from app.identity.platform.context import Context
from app.identity.platform.services import MembershipDomains

O, D = organizations.c, organization_domains.c  # noqa: E741 - short names of columns, as in all stores


def of_tenant(context: Context) -> MembershipDomains:
    """Return the verified domains of active organizations that accounts join, or ask to join. Usually makes no query."""
    key = (context.tenant.tenant_id, context.tenant.version)
    cached = context.services.joined_domains.get(key)
    if cached is None:
        cached = _read(context)
        context.services.joined_domains.put(key, cached, context.work, organizations, organization_domains)
    return cached


def uses_domains(policy: JitPolicy) -> bool:
    """Return whether accounts of its domains join an organization with this policy, or ask to."""
    return bool(policy.enabled or policy.require_approval)


def _read(context: Context) -> MembershipDomains:
    joined = organization_domains.join(organizations, (O.tenant_id == D.tenant_id) & (O.org_id == D.org_id))
    where = (D.tenant_id == context.tenant.tenant_id, D.verified_domain.is_not(None), O.is_active)
    rows = context.work.all(select(D.verified_domain, D.org_id, O.policies).select_from(joined).where(*where))
    membership_domains = MembershipDomains({}, {})
    for row in rows:
        policy = Policies.model_validate(row.policies).jit_policy
        if uses_domains(policy):
            (membership_domains.by_request if policy.require_approval else membership_domains.automatic)[
                row.verified_domain
            ] = row.org_id
    return membership_domains


def forget(context: Context) -> None:
    """Let every process read the domains again once this transaction is committed, also those that lead to connections."""
    tenant_writes.change(context.work)
    context.services.directory.clear_cache()


def forget_of(context: Context, org_id: str) -> None:
    """The same after a change of a domain, if its organization uses them."""
    organization = organization_store.by_id(context, org_id)
    if organization is not None and _depends_on_domains(organization.policy):
        forget(context)


def _depends_on_domains(policies: Policies) -> bool:
    """Return whether accounts join an organization by its domains, or its domains may lead to its connections."""
    return uses_domains(policies.jit_policy) or bool(policies.method_policy.allowed_methods)
