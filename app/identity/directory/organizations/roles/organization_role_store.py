"""Queries of permissions and organization roles, always within the tenant."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from sqlalchemy import ColumnElement, delete, insert, select, update
from sqlalchemy.engine import Row
from sqlalchemy.exc import IntegrityError

from app.contract import errors
from app.identity.directory.organizations import active_policies, organization_names
from app.identity.directory.organizations.organization import PermissionRecord, RoleRecord
from app.identity.directory.organizations.tables import (
    organization_group_roles,
    organization_permissions,
    organization_role_permissions,
    organization_roles,
    organization_user_roles,
)
from app.identity.platform.context import Context

P, R, H = organization_permissions.c, organization_roles.c, organization_role_permissions.c
_PERMISSION = tuple(P[name] for name in PermissionRecord.__dataclass_fields__)
_ROLE = (R.role_id, R.org_id, R.name, R.original_name, R.description, R.default_for, R.created_at, R.modified_at)
_OF_TENANT = "tenant"


def permissions(context: Context, limit: int | None, offset: int) -> list[PermissionRecord]:
    """Return permissions, by name."""
    ordered = select(*_PERMISSION).where(P.tenant_id == context.tenant.tenant_id).order_by(P.name_key)
    return [PermissionRecord(**row._mapping) for row in context.work.all(ordered.limit(limit).offset(offset))]


def permission(context: Context, permission_id: str) -> PermissionRecord | None:
    found = permissions_of_ids(context, [permission_id])
    return found[0] if found else None


def permissions_of_ids(context: Context, ids: Collection[str]) -> list[PermissionRecord]:
    """Return those permissions that exist."""
    where = (P.tenant_id == context.tenant.tenant_id, P.permission_id.in_(ids))
    return [PermissionRecord(**row._mapping) for row in context.work.all(select(*_PERMISSION).where(*where))]


def lock_permissions(context: Context, ids: Collection[str]) -> int:
    """Keep these permissions from being deleted before the commit. Return how many there are."""
    context.work.begin()
    where = (P.tenant_id == context.tenant.tenant_id, P.permission_id.in_(ids))
    return len(context.work.all(select(P.permission_id).where(*where).with_for_update(read=True)))


def add_permission(context: Context, name: str, description: str) -> PermissionRecord:
    """Add a permission. Raises PermissionTaken."""
    values = {
        **_new(context, name, description),
        "permission_id": organization_names.mint(organization_names.PERMISSION),
    }
    try:
        row = context.work.run(insert(organization_permissions).values(values).returning(*_PERMISSION)).one()
    except IntegrityError:
        raise errors.PermissionTaken from None
    return PermissionRecord(**row._mapping)


def change_permission(context: Context, permission_id: str, name: str, description: str) -> PermissionRecord | None:
    """Change a permission. Raises PermissionTaken."""
    where = (P.tenant_id == context.tenant.tenant_id, P.permission_id == permission_id)
    statement = update(organization_permissions).where(*where).values(_changed(context, name, description))
    try:
        row = context.work.one(statement.returning(*_PERMISSION))
    except IntegrityError:
        raise errors.PermissionTaken from None
    return PermissionRecord(**row._mapping) if row is not None else None


def remove_permission(context: Context, permission_id: str) -> bool:
    """Delete a permission, and remove it from every role. Return whether it existed."""
    tenant_id = context.tenant.tenant_id
    where = (P.tenant_id == tenant_id, P.permission_id == permission_id)
    if not context.work.changed(delete(organization_permissions).where(*where)):
        return False
    of_roles = (H.tenant_id == tenant_id, H.permission_id == permission_id)
    context.work.run(delete(organization_role_permissions).where(*of_roles))
    return True


def roles(context: Context, org_ids: Collection[str], limit: int | None = None, offset: int = 0) -> list[RoleRecord]:
    """Return the roles of these organizations, by level and name; the empty id means the roles of the tenant."""
    ordered = select(*_ROLE).where(*_in_tenant(context), R.org_id.in_(org_ids)).order_by(R.org_id, R.name_key)
    return [_role(row) for row in context.work.all(ordered.limit(limit).offset(offset))]


def by_id(context: Context, role_id: str) -> RoleRecord | None:
    found = by_ids(context, [role_id])
    return found[0] if found else None


def by_ids(context: Context, role_ids: Collection[str], *, is_locked: bool = False) -> list[RoleRecord]:
    """Return those roles that exist; `is_locked` keeps them from being deleted before the commit."""
    statement = select(*_ROLE).where(*_in_tenant(context), R.role_id.in_(role_ids)).order_by(R.role_id)
    if is_locked:
        context.work.begin()
        statement = statement.with_for_update(read=True)
    return [_role(row) for row in context.work.all(statement)]


def by_name(context: Context, name: str, org_ids: Collection[str]) -> list[RoleRecord]:
    """Return the roles with this name, in any letter case; the organization's before the tenant's."""
    where = (*_in_tenant(context), R.org_id.in_(org_ids), R.name_key == organization_names.key_of(name))
    return [_role(row) for row in context.work.all(select(*_ROLE).where(*where).order_by(R.org_id.desc()))]


def default_role(context: Context) -> RoleRecord | None:
    """Return the tenant's default role."""
    row = context.work.one(select(*_ROLE).where(*_in_tenant(context), R.default_for == _OF_TENANT))
    return _role(row) if row is not None else None


def add_role(context: Context, org_id: str, name: str, description: str, permission_ids: Sequence[str]) -> RoleRecord:
    """Add a role; an empty `org_id` makes it one of the tenant. Raises OrganizationRoleTaken."""
    values = {
        **_new(context, name, description),
        "role_id": organization_names.mint(organization_names.ROLE),
        "org_id": org_id,
    }
    try:
        role = _role(context.work.run(insert(organization_roles).values(values).returning(*_ROLE)).one())
    except IntegrityError:
        raise errors.OrganizationRoleTaken from None
    add_permissions(context, role.role_id, permission_ids)
    return role


def change_role(
    context: Context, role_id: str, name: str, description: str, permission_ids: Sequence[str]
) -> RoleRecord | None:
    """Change a role and replace its permissions. Raises OrganizationRoleTaken."""
    statement = update(organization_roles).where(*_in_tenant(context), R.role_id == role_id)
    try:
        row = context.work.one(statement.values(_changed(context, name, description)).returning(*_ROLE))
    except IntegrityError:
        raise errors.OrganizationRoleTaken from None
    if row is None:
        return None
    where = (H.tenant_id == context.tenant.tenant_id, H.role_id == role_id)
    context.work.run(delete(organization_role_permissions).where(*where))
    add_permissions(context, role_id, permission_ids)
    return _role(row)


def set_default(context: Context, role_id: str) -> bool:
    """Make a role of the tenant its default role, in place of the former one. Return whether the role existed."""
    context.work.begin()
    tenant_roles = select(R.role_id).where(*_in_tenant(context), R.org_id == "").order_by(R.role_id)
    context.work.all(tenant_roles.with_for_update())  # two at once would each see the former default
    former = (*_in_tenant(context), R.default_for == _OF_TENANT, R.role_id != role_id)
    context.work.run(update(organization_roles).where(*former).values(default_for=None))
    where = (*_in_tenant(context), R.role_id == role_id, R.org_id == "")
    statement = update(organization_roles).where(*where).values(default_for=_OF_TENANT)
    return context.work.changed(statement) > 0


def remove_role(context: Context, role_id: str) -> bool:
    """Delete a role, and take it from members, groups and permissions. Return whether it existed."""
    if not context.work.changed(delete(organization_roles).where(*_in_tenant(context), R.role_id == role_id)):
        return False
    active_policies.invalidate(context)
    for table in (organization_user_roles, organization_group_roles, organization_role_permissions):
        where = (table.c.tenant_id == context.tenant.tenant_id, table.c.role_id == role_id)
        context.work.run(delete(table).where(*where))
    return True


def permissions_of(context: Context, role_ids: Collection[str]) -> dict[str, list[PermissionRecord]]:
    """Return the permissions of these roles by role, each list by name."""
    by_role: dict[str, list[PermissionRecord]] = {role_id: [] for role_id in role_ids}
    joined = organization_role_permissions.join(
        organization_permissions, (P.tenant_id == H.tenant_id) & (P.permission_id == H.permission_id)
    )
    where = (H.tenant_id == context.tenant.tenant_id, H.role_id.in_(role_ids))
    for row in context.work.all(select(H.role_id, *_PERMISSION).select_from(joined).where(*where).order_by(P.name_key)):
        by_role[row.role_id].append(
            PermissionRecord(**{name: row._mapping[name] for name in PermissionRecord.__dataclass_fields__})
        )
    return by_role


def add_permissions(context: Context, role_id: str, permission_ids: Sequence[str]) -> None:
    """Give a role permissions that it lacks."""
    key = {"tenant_id": context.tenant.tenant_id, "role_id": role_id}
    rows = [{**key, "permission_id": permission_id} for permission_id in permission_ids]
    if rows:
        context.work.run(insert(organization_role_permissions), rows)


def _new(context: Context, name: str, description: str) -> dict[str, Any]:
    key = {"tenant_id": context.tenant.tenant_id, "original_name": name, "created_at": context.now}
    return {**key, **_changed(context, name, description)}


def _changed(context: Context, name: str, description: str) -> dict[str, Any]:
    return {
        "name": name,
        "name_key": organization_names.key_of(name),
        "description": description,
        "modified_at": context.now,
    }


def _role(row: Row[Any]) -> RoleRecord:
    values = {**row._mapping, "is_default": row.default_for is not None}
    del values["default_for"]
    return RoleRecord(**values)


def _in_tenant(context: Context) -> tuple[ColumnElement[bool], ...]:
    return (R.tenant_id == context.tenant.tenant_id,)
