"""The verified domains whose accounts join an organization or ask to, cached with the tenant's version."""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy import select

from app.contract.organizations_models import JitPolicy, Policies
from app.identity.directory.organizations import store
from app.identity.directory.organizations.tables import organization_domains, organizations
from app.identity.directory.tenants import changes
from app.identity.platform.context import Context

O, D = organizations.c, organization_domains.c  # noqa: E741 - short names of columns, as in all stores


def by_domain(context: Context) -> Mapping[str, str]:
    """Return the ids of the active organizations that accounts join, by verified domain. Usually makes no query."""
    return {domain: org_id for domain, (org_id, needs_approval) in _all(context).items() if not needs_approval}


def with_approval(context: Context) -> Mapping[str, str]:
    """Return the ids of the active organizations that accounts ask to join, by verified domain. Usually makes no query."""
    return {domain: org_id for domain, (org_id, needs_approval) in _all(context).items() if needs_approval}


def concerns(policy: JitPolicy) -> bool:
    """Return whether accounts join an organization with this policy, or ask to."""
    return bool(policy.enabled or policy.require_approval)


def _all(context: Context) -> Mapping[str, tuple[str, bool]]:
    key = (context.tenant.tenant_id, context.tenant.version)
    cached = context.services.joined_domains.get(key)
    if cached is None:
        joined = organization_domains.join(organizations, (O.tenant_id == D.tenant_id) & (O.org_id == D.org_id))
        where = (D.tenant_id == context.tenant.tenant_id, D.verified_domain.is_not(None), O.is_active)
        rows = context.work.all(select(D.verified_domain, D.org_id, O.policies).select_from(joined).where(*where))
        found = [(row.verified_domain, row.org_id, Policies.model_validate(row.policies).jit_policy) for row in rows]
        cached = {
            domain: (org_id, bool(policy.require_approval)) for domain, org_id, policy in found if concerns(policy)
        }
        context.services.joined_domains.put(key, cached)
    return cached


def forget(context: Context) -> None:
    """Let every process read the domains again once this transaction is committed."""
    changes.change(context.work)
    context.services.directory.clear_cache()


def forget_of(context: Context, org_id: str) -> None:
    """The same after a change of a domain, if accounts join its organization or ask to."""
    organization = store.by_id(context, org_id)
    if organization is not None and concerns(organization.policy.jit_policy):
        forget(context)
