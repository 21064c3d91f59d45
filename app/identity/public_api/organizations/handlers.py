"""The operations of organizations and their policies."""

from __future__ import annotations

from app.contract.organizations import operations as contract
from app.contract.organizations.models import IsActive, OrgPath, Policies
from app.contract.shared_responses import Deleted
from app.identity.directory.organizations import policies
from app.identity.directory.organizations import powers as organization_powers
from app.identity.directory.organizations import service as organizations
from app.identity.directory.organizations import store as organization_store
from app.identity.platform.context import Context
from app.identity.platform.powers import require as require_powers
from app.identity.public_api.organizations import views
from app.identity.public_api.organizations.feature import requires_organizations


@contract.list_all.implements
@requires_organizations
def list_all(context: Context, req: contract.ListOrganizations) -> contract.Organizations:
    found = organization_store.page(context, req.name, *req.window)
    return contract.Organizations(data=views.organizations(context, found))


@contract.create.implements
@requires_organizations
def create(context: Context, req: contract.CreateOrganization) -> contract.Organization:
    organization = organizations.create(
        context, req.name, display=req.display, metadata=req.metadata, new_domains=req.domains or ()
    )
    return views.organization(context, organization)


@contract.read.implements
@requires_organizations
def read(context: Context, req: OrgPath) -> contract.Organization:
    return views.organization(context, organizations.require_active(context, req.org_id))


@contract.update.implements
@requires_organizations
def update(context: Context, req: contract.UpdateOrganization) -> contract.Organization:
    if req.domains is not None:
        requested = {domain.domain_name: domain.is_verified for domain in req.domains}
        require_powers(context, organization_powers.of_domains(context, req.org_id, requested))
    return views.organization(context, organizations.update(context, req))


@contract.delete.implements
@requires_organizations
def delete(context: Context, req: OrgPath) -> Deleted:
    require_powers(context, organization_powers.of_connections(context, req.org_id))
    organizations.delete(context, req.org_id)
    return Deleted()


@contract.set_status.implements
@requires_organizations
def set_status(context: Context, req: contract.SetOrganizationStatus) -> IsActive:
    require_powers(context, organization_powers.of_connections(context, req.org_id))
    organizations.set_status(context, req.org_id, req.is_active)
    return IsActive(is_active=req.is_active)


@contract.read_policies.implements
@requires_organizations
def read_policies(context: Context, req: OrgPath) -> Policies:
    return organizations.require_active(context, req.org_id).policy


@contract.set_policies.implements
@requires_organizations
def set_policies(context: Context, req: contract.SetPolicies) -> Policies:
    require_powers(context, organization_powers.of_policies(context, req))
    return policies.change(context, req)
