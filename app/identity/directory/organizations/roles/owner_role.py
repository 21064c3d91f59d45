"""The tenant's role of owners, for organizations that people create; it is made where the tenant has none."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from sqlalchemy import Table

from app.contract import errors
from app.identity.directory.organizations import organization_names
from app.identity.directory.organizations.organization import MANAGE, OWN, RoleRecord
from app.identity.directory.organizations.roles import organization_role_store
from app.identity.directory.organizations.tables import organization_permissions, organization_roles
from app.identity.platform.context import Context
from app.identity.platform.store import upserts

_NAME: Final = "Owner"
_MAX_NAMES: Final = 50
_DESCRIPTION: Final = "Owns the organization."


def find_or_create(context: Context) -> RoleRecord:
    """Return the tenant's role with the permission to own an organization: of several the one with the fewest permissions.

    Without one it is created, once also if several people create their first organization at the same time. A role that has
    the name but not the permission stays as it is, because its members would become owners. Raises OrganizationRoleTaken if
    the tenant has used up every name.
    """
    role = _find(context)
    if role is not None:
        return role
    context.work.begin()
    permissions = [_ensure_permission(context, name) for name in (OWN, MANAGE)]
    organization_role_store.lock_permissions(context, permissions)
    for name in _names():
        role_id = organization_names.mint(organization_names.ROLE)
        if _add(context, organization_roles, name, role_id=role_id, org_id="", description=_DESCRIPTION):
            organization_role_store.add_permissions(context, role_id, permissions)
            context.audit.record("organization.role_created", role_id=role_id, org_id="")
        role = _find(context)
        if role is not None:
            return role
    raise errors.OrganizationRoleTaken


def _find(context: Context) -> RoleRecord | None:
    tenant_roles = organization_role_store.roles(context, [""])
    stored = (
        organization_role_store.permissions_of(context, [role.role_id for role in tenant_roles]) if tenant_roles else {}
    )
    owning = [role for role in tenant_roles if any(permission.name == OWN for permission in stored[role.role_id])]
    return min(owning, key=lambda role: (len(stored[role.role_id]), role.created_at, role.role_id), default=None)


def _ensure_permission(context: Context, name: str) -> str:
    """Return the id of a permission; it is created where the tenant has none of this name."""
    key = organization_names.key_of(name)
    _add(
        context,
        organization_permissions,
        name,
        permission_id=organization_names.mint(organization_names.PERMISSION),
        description="",
    )
    return next(
        permission.permission_id
        for permission in organization_role_store.permissions(context, None, 0)
        if organization_names.key_of(permission.name) == key
    )


def _add(context: Context, table: Table, name: str, **values: Any) -> bool:
    """Add a row unless a row of this name exists or a concurrent transaction adds it; return whether it was added."""
    row = {
        "tenant_id": context.tenant.tenant_id,
        "name": name,
        "name_key": organization_names.key_of(name),
        "original_name": name,
        "created_at": context.now,
        "modified_at": context.now,
        **values,
    }
    statement = (
        upserts.insert(table, is_sqlite=context.services.database.is_sqlite)
        .values(row)
        .on_conflict_do_nothing()
        .returning(table.c.name)
    )
    return context.work.one(statement) is not None


def _names() -> Iterator[str]:
    yield from (_NAME, f"Organization {_NAME.lower()}")
    yield from (f"{_NAME} {number}" for number in range(2, _MAX_NAMES))
