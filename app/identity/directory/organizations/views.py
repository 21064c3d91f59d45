"""Builds the responses of organizations, their roles and members."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from app.contract import organizations as contract
from app.contract import organizations_members as members_contract
from app.contract import organizations_models as models
from app.contract import organizations_roles as roles_contract
from app.identity.directory.organizations import connection_views, domains, role_store
from app.identity.directory.organizations.organization import Organization, Permission, Role, UserRole
from app.identity.platform.context import Context
from app.kit.clock import iso

_BATCH: Final = 10_000  # databases limit the number of parameters of a statement


def organizations(context: Context, found: Sequence[Organization]) -> list[contract.Organization]:
    """Return organizations with their parts, which takes the same number of statements for each 10,000 of them."""
    return [
        one for start in range(0, len(found), _BATCH) for one in _organizations(context, found[start : start + _BATCH])
    ]


def _organizations(context: Context, found: Sequence[Organization]) -> list[contract.Organization]:
    ids = [one.org_id for one in found]
    of_domains = domains.of_organizations(context, ids)
    of_connections = connection_views.by_organization(context, ids)
    return [
        contract.Organization(
            id=one.org_id,
            name=one.name,
            display=models.Display.model_validate(one.display),
            is_active=one.is_active,
            created_date=iso(one.created_at) or "",
            modified_date=iso(one.modified_at) or "",
            metadata=one.metadata,
            domains=[domain(held) for held in of_domains[one.org_id]],
            connections=of_connections[one.org_id],
            policies=one.policy,
        )
        for one in found
    ]


def organization(context: Context, one: Organization) -> contract.Organization:
    return organizations(context, [one])[0]


def domain(one: domains.OrganizationDomain) -> models.Domain:
    return models.Domain(
        id=one.domain_id,
        domain_name=one.domain,
        is_verified=one.is_verified,
        verification_strategy=one.strategy,  # type: ignore[arg-type] # only these are stored
        verification_token=one.token,
        status=one.state,  # type: ignore[arg-type] # only these are stored
        reason=one.problem,
    )


def permission(one: Permission) -> roles_contract.Permission:
    return roles_contract.Permission(
        id=one.permission_id,
        name=one.name,
        description=one.description,
        created_date=iso(one.created_at) or "",
        modified_date=iso(one.modified_at) or "",
    )


def roles(context: Context, found: Sequence[Role]) -> list[roles_contract.Role]:
    """Return roles with their permissions, in one statement for each 10,000 of them."""
    return [one for start in range(0, len(found), _BATCH) for one in _roles(context, found[start : start + _BATCH])]


def _roles(context: Context, found: Sequence[Role]) -> list[roles_contract.Role]:
    permissions = role_store.permissions_of(context, [one.role_id for one in found])
    return [
        roles_contract.Role(
            id=one.role_id,
            name=one.name,
            description=one.description,
            level="tenant" if one.is_of_tenant else "org",
            org_id=one.org_id,
            permissions=[_of_role(held) for held in permissions[one.role_id]],
            created_date=iso(one.created_at) or "",
            modified_date=iso(one.modified_at) or "",
            original_name=one.original_name,
        )
        for one in found
    ]


def role(context: Context, one: Role) -> roles_contract.Role:
    return roles(context, [one])[0]


def _of_role(one: Permission) -> roles_contract.RolePermission:
    return roles_contract.RolePermission(
        id=one.permission_id, name=one.name, description=one.description, original_name=one.original_name
    )


def member_roles(found: Sequence[UserRole]) -> members_contract.UserRoles:
    return members_contract.UserRoles(
        data=[
            members_contract.UserRole(
                id=one.user_role_id,
                uid=one.uid,
                role_id=one.role_id,
                org_id=one.org_id,
                email=one.email or "",
                created_date=iso(one.created_at) or "",
            )
            for one in found
        ]
    )
