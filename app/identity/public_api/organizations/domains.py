"""The operations of the domains of organizations."""

from __future__ import annotations

from app.contract.organizations import domains as contract
from app.contract.organizations.models import Domain
from app.contract.shared_responses import Deleted
from app.identity.directory.organizations import powers as organization_powers
from app.identity.directory.organizations import service as organizations
from app.identity.directory.organizations.domains import service as domains
from app.identity.directory.organizations.domains import verification as domain_verification
from app.identity.platform.context import Context
from app.identity.platform.powers import require as require_powers
from app.identity.public_api.organizations import views
from app.identity.public_api.organizations.feature import requires_organizations
from app.identity.use_cases.organizations import verify_domain


@contract.list_all.implements
@requires_organizations
def list_all(context: Context, req: contract.ListDomains) -> contract.Domains:
    org_id = organizations.require(context, req.org_id).org_id
    found = domains.of_organizations(context, [org_id], req.window)[org_id]
    return contract.Domains(data=[views.domain(domain) for domain in found])


@contract.create.implements
@requires_organizations
def create(context: Context, req: contract.CreateDomain) -> Domain:
    organization = organizations.require_active(context, req.org_id)
    require_powers(context, organization_powers.of_new_domain_members(context, organization.org_id))
    name = domains.checked(req.domain_name)
    domain_verification.require_mail_servers(context, [name])
    organizations.lock_active(context, organization.org_id)
    return views.domain(domains.add(context, organization, name))


@contract.read.implements
@requires_organizations
def read(context: Context, req: contract.DomainPath) -> Domain:
    return views.domain(domains.require(context, organizations.require(context, req.org_id), req.domain_id))


@contract.verify.implements
@requires_organizations
def verify(context: Context, req: contract.DomainPath) -> Domain:
    organization = organizations.require_active(context, req.org_id)
    require_powers(context, organization_powers.of_new_domain_members(context, organization.org_id))
    domain = domains.require(context, organization, req.domain_id)
    return views.domain(verify_domain.verify(context, domain))


@contract.delete.implements
@requires_organizations
def delete(context: Context, req: contract.DomainPath) -> Deleted:
    domains.remove(context, domains.require(context, organizations.require(context, req.org_id), req.domain_id))
    return Deleted()
