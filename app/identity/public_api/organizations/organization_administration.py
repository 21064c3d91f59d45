"""The operations of organizations and their policies."""

from __future__ import annotations

from app.contract.organizations import organization_operations
from app.contract.organizations.models import IsActive, OrgPath, Policies
from app.contract.shared_responses import Deleted
from app.identity.directory.organizations import organization_powers, organization_store, organizations, policies
from app.identity.platform.context import Context
from app.identity.platform.powers import require_powers
from app.identity.public_api.organizations import organization_views
from app.identity.public_api.organizations.feature import requires_organizations


@organization_operations.list_all.implements
@requires_organizations
def list_all(context: Context, req: organization_operations.ListOrganizations) -> organization_operations.Organizations:
    found = organization_store.page(context, req.name, *req.window)
    return organization_operations.Organizations(data=organization_views.organizations(context, found))


@organization_operations.create.implements
@requires_organizations
def create(context: Context, req: organization_operations.CreateOrganization) -> organization_operations.Organization:
    organization = organizations.create(
        context, req.name, display=req.display, metadata=req.metadata, new_domains=req.domains or ()
    )
    return organization_views.organization(context, organization)


@organization_operations.read.implements
@requires_organizations
def read(context: Context, req: OrgPath) -> organization_operations.Organization:
    return organization_views.organization(context, organizations.require_active(context, req.org_id))


@organization_operations.update.implements
@requires_organizations
def update(context: Context, req: organization_operations.UpdateOrganization) -> organization_operations.Organization:
    if req.domains is not None:
        requested = {domain.domain_name: domain.is_verified for domain in req.domains}
        require_powers(context, organization_powers.of_domains(context, req.org_id, requested))
    return organization_views.organization(context, organizations.update(context, req))


@organization_operations.delete.implements
@requires_organizations
def delete(context: Context, req: OrgPath) -> Deleted:
    require_powers(context, organization_powers.of_connections(context, req.org_id))
    organizations.delete(context, req.org_id)
    return Deleted()


@organization_operations.set_status.implements
@requires_organizations
def set_status(context: Context, req: organization_operations.SetOrganizationStatus) -> IsActive:
    require_powers(context, organization_powers.of_connections(context, req.org_id))
    organizations.set_status(context, req.org_id, req.is_active)
    return IsActive(is_active=req.is_active)


@organization_operations.read_policies.implements
@requires_organizations
def read_policies(context: Context, req: OrgPath) -> Policies:
    return organizations.require_active(context, req.org_id).policy


@organization_operations.set_policies.implements
@requires_organizations
def set_policies(context: Context, req: organization_operations.SetPolicies) -> Policies:
    require_powers(context, organization_powers.of_policies(context, req))
    return policies.change(context, req)
