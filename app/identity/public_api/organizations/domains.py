"""The operations of the domains of organizations."""

from __future__ import annotations

from app.contract.organizations import organization_domain_operations
from app.contract.organizations.models import Domain
from app.contract.shared_responses import Deleted
from app.identity.directory.organizations import organization_powers, organizations
from app.identity.directory.organizations.domains import domain_verification, domains
from app.identity.platform.context import Context
from app.identity.platform.powers import require_powers
from app.identity.public_api.organizations import organization_views
from app.identity.public_api.organizations.feature import requires_organizations
from app.identity.use_cases.organizations import verify_domain


@organization_domain_operations.list_all.implements
@requires_organizations
def list_all(
    context: Context, req: organization_domain_operations.ListDomains
) -> organization_domain_operations.Domains:
    org_id = organizations.require(context, req.org_id).org_id
    found = domains.of_organizations(context, [org_id], req.window)[org_id]
    return organization_domain_operations.Domains(data=[organization_views.domain(domain) for domain in found])


@organization_domain_operations.create.implements
@requires_organizations
def create(context: Context, req: organization_domain_operations.CreateDomain) -> Domain:
    organization = organizations.require_active(context, req.org_id)
    require_powers(context, organization_powers.of_new_domain_members(context, organization.org_id))
    name = domains.checked(req.domain_name)
    domain_verification.require_mail_servers(context, [name])
    organizations.lock_active(context, organization.org_id)
    return organization_views.domain(domains.add(context, organization, name))


@organization_domain_operations.read.implements
@requires_organizations
def read(context: Context, req: organization_domain_operations.DomainPath) -> Domain:
    return organization_views.domain(
        domains.require(context, organizations.require(context, req.org_id), req.domain_id)
    )


@organization_domain_operations.verify.implements
@requires_organizations
def verify(context: Context, req: organization_domain_operations.DomainPath) -> Domain:
    organization = organizations.require_active(context, req.org_id)
    require_powers(context, organization_powers.of_new_domain_members(context, organization.org_id))
    domain = domains.require(context, organization, req.domain_id)
    return organization_views.domain(verify_domain.verify(context, domain))


@organization_domain_operations.delete.implements
@requires_organizations
def delete(context: Context, req: organization_domain_operations.DomainPath) -> Deleted:
    domains.remove(context, domains.require(context, organizations.require(context, req.org_id), req.domain_id))
    return Deleted()
