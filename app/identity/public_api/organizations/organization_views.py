"""Builds the responses of organizations, their roles and members."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from app.contract.organizations import member_operations, models, organization_operations, organization_role_operations
from app.identity.directory.organizations.domains import domains
from app.identity.directory.organizations.organization import (
    AccountRoleRecord,
    OrganizationRecord,
    PermissionRecord,
    RoleRecord,
)
from app.identity.directory.organizations.roles import organization_role_store
from app.identity.platform.context import Context
from app.identity.public_api.organizations import connection_views
from app.kit.clock import iso

_BATCH: Final = 10_000  # databases limit the number of parameters of a statement


def organizations(
    context: Context, records: Sequence[OrganizationRecord]
) -> list[organization_operations.Organization]:
    """Return organizations with their parts, which takes the same number of statements for each 10,000 of them."""
    return [
        item
        for start in range(0, len(records), _BATCH)
        for item in _organizations(context, records[start : start + _BATCH])
    ]


def _organizations(
    context: Context, records: Sequence[OrganizationRecord]
) -> list[organization_operations.Organization]:
    ids = [item.org_id for item in records]
    of_domains = domains.of_organizations(context, ids)
    of_connections = connection_views.by_organization(context, ids)
    return [
        organization_operations.Organization(
            id=item.org_id,
            name=item.name,
            display=models.Display.model_validate(item.display),
            is_active=item.is_active,
            created_date=iso(item.created_at) or "",
            modified_date=iso(item.modified_at) or "",
            metadata=item.metadata,
            domains=[domain(element) for element in of_domains[item.org_id]],
            connections=of_connections[item.org_id],
            policies=item.policy,
        )
        for item in records
    ]


def organization(context: Context, item: OrganizationRecord) -> organization_operations.Organization:
    return organizations(context, [item])[0]


def domain(item: domains.OrganizationDomain) -> models.Domain:
    return models.Domain(
        id=item.domain_id,
        domain_name=item.domain,
        is_verified=item.is_verified,
        verification_strategy=item.strategy,  # type: ignore[arg-type] # only these are stored
        verification_token=item.token,
        status=item.state,  # type: ignore[arg-type] # only these are stored
        reason=item.problem,
    )


def permission(item: PermissionRecord) -> organization_role_operations.Permission:
    return organization_role_operations.Permission(
        id=item.permission_id,
        name=item.name,
        description=item.description,
        created_date=iso(item.created_at) or "",
        modified_date=iso(item.modified_at) or "",
    )


def roles(context: Context, records: Sequence[RoleRecord]) -> list[organization_role_operations.Role]:
    """Return roles with their permissions, in one statement for each 10,000 of them."""
    return [
        item for start in range(0, len(records), _BATCH) for item in _roles(context, records[start : start + _BATCH])
    ]


def _roles(context: Context, records: Sequence[RoleRecord]) -> list[organization_role_operations.Role]:
    permissions = organization_role_store.permissions_of(context, [item.role_id for item in records])
    return [
        organization_role_operations.Role(
            id=item.role_id,
            name=item.name,
            description=item.description,
            level="tenant" if item.is_of_tenant else "org",
            org_id=item.org_id,
            permissions=[_of_role(element) for element in permissions[item.role_id]],
            created_date=iso(item.created_at) or "",
            modified_date=iso(item.modified_at) or "",
            original_name=item.original_name,
        )
        for item in records
    ]


def role(context: Context, item: RoleRecord) -> organization_role_operations.Role:
    return roles(context, [item])[0]


def _of_role(item: PermissionRecord) -> organization_role_operations.RolePermission:
    return organization_role_operations.RolePermission(
        id=item.permission_id, name=item.name, description=item.description, original_name=item.original_name
    )


def member_roles(records: Sequence[AccountRoleRecord]) -> member_operations.UserRoles:
    return member_operations.UserRoles(
        data=[
            member_operations.UserRole(
                id=item.user_role_id,
                uid=item.uid,
                role_id=item.role_id,
                org_id=item.org_id,
                email=item.email or "",
                created_date=iso(item.created_at) or "",
            )
            for item in records
        ]
    )
