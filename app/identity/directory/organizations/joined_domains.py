"""The verified domains whose accounts join an organization, cached with the tenant's version."""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy import select

from app.contract.organizations_models import Policies
from app.identity.directory.organizations import store
from app.identity.directory.organizations.tables import organization_domains, organizations
from app.identity.directory.tenants import changes
from app.identity.platform.context import Context

O, D = organizations.c, organization_domains.c  # noqa: E741 - short names of columns, as in all stores


def by_domain(context: Context) -> Mapping[str, str]:
    """Return the ids of the active organizations that accounts join, by verified domain. Usually makes no query."""
    key = (context.tenant.tenant_id, context.tenant.version)
    cached = context.services.joined_domains.get(key)
    if cached is None:
        joined = organization_domains.join(organizations, (O.tenant_id == D.tenant_id) & (O.org_id == D.org_id))
        where = (D.tenant_id == context.tenant.tenant_id, D.verified_domain.is_not(None), O.is_active)
        rows = context.work.all(select(D.verified_domain, D.org_id, O.policies).select_from(joined).where(*where))
        cached = {
            row.verified_domain: row.org_id for row in rows if Policies.model_validate(row.policies).jit_policy.enabled
        }
        context.services.joined_domains.put(key, cached)
    return cached


def forget(context: Context) -> None:
    """Let every process read the domains again once this transaction is committed."""
    changes.change(context.work)
    context.services.directory.clear_cache()


def forget_of(context: Context, org_id: str) -> None:
    """The same after a change of a domain, if accounts join its organization."""
    organization = store.by_id(context, org_id)
    if organization is not None and organization.policy.jit_policy.enabled:
        forget(context)
