"""Queries of organizations, always within the tenant."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sqlalchemy import ColumnElement, delete, func, insert, select, update
from sqlalchemy.engine import Row
from sqlalchemy.exc import IntegrityError

from app.contract import errors
from app.identity.directory.organizations import active_policies, organization_names
from app.identity.directory.organizations.organization import OrganizationRecord
from app.identity.directory.organizations.tables import OF_ORGANIZATION, organization_role_permissions, organizations
from app.identity.directory.organizations.tables import organization_roles as roles
from app.identity.directory.provisioning import connection_store
from app.identity.platform.context import Context

O = organizations.c  # noqa: E741 - short names of columns, as in all stores
COLUMNS = tuple(O[name] for name in OrganizationRecord.__dataclass_fields__)


def organization(row: Row[Any]) -> OrganizationRecord:
    """Return the organization in a row that begins with COLUMNS."""
    return OrganizationRecord(*row[: len(COLUMNS)])


def by_id(context: Context, org_id: str) -> OrganizationRecord | None:
    return _one(context, O.org_id == org_id)


def by_name(context: Context, name: str) -> OrganizationRecord | None:
    """Return the organization with this name, in any letter case."""
    return _one(context, O.name_key == organization_names.key_of(name))


def locked(context: Context, org_id: str, *, is_alone: bool = False) -> OrganizationRecord | None:
    """Return the organization, which cannot be deleted or deactivated before the commit.

    `is_alone`: no other transaction can hold this lock on it either.
    """
    context.work.begin()
    statement = select(*COLUMNS).where(*_in_tenant(context), O.org_id == org_id).with_for_update(read=not is_alone)
    row = context.work.one(statement)
    return organization(row) if row is not None else None


def by_ids(context: Context, org_ids: Iterable[str]) -> list[OrganizationRecord]:
    """Return these organizations, the oldest first."""
    rows = context.work.all(
        select(*COLUMNS).where(*_in_tenant(context), O.org_id.in_(set(org_ids))).order_by(O.created_at, O.org_id)
    )
    return [organization(row) for row in rows]


def page(context: Context, search: str | None, limit: int | None, offset: int) -> list[OrganizationRecord]:
    """Return organizations, the oldest first; `search` is a part of the name."""
    where = [
        *_in_tenant(context),
        *([O.name_key.contains(organization_names.key_of(search), autoescape=True)] if search else []),
    ]
    ordered = select(*COLUMNS).where(*where).order_by(O.created_at, O.org_id)
    return [organization(row) for row in context.work.all(ordered.limit(limit).offset(offset))]


def count(context: Context) -> int:
    row = context.work.one(select(func.count()).select_from(organizations).where(*_in_tenant(context)))
    return int(row[0]) if row else 0


def add(context: Context, name: str, display: dict[str, Any], metadata: dict[str, Any]) -> OrganizationRecord:
    """Add an organization. Raises OrganizationNameTaken."""
    values = {
        "tenant_id": context.tenant.tenant_id,
        "org_id": organization_names.mint(organization_names.ORGANIZATION),
        "name": name,
        "name_key": organization_names.key_of(name),
        "display": display,
        "metadata": metadata,
        "policies": {},
        "is_active": True,
        "created_at": context.now,
        "modified_at": context.now,
    }
    try:
        return organization(context.work.run(insert(organizations).values(values).returning(*COLUMNS)).one())
    except IntegrityError:
        raise errors.OrganizationNameTaken from None


def change(context: Context, org_id: str, values: dict[str, Any]) -> OrganizationRecord | None:
    """Update columns and return the changed organization. Raises OrganizationNameTaken."""
    if "name" in values:
        values = {**values, "name_key": organization_names.key_of(values["name"])}
    statement = update(organizations).where(*_in_tenant(context), O.org_id == org_id)
    try:
        row = context.work.one(statement.values(modified_at=context.now, **values).returning(*COLUMNS))
    except IntegrityError:
        raise errors.OrganizationNameTaken from None
    active_policies.invalidate(context)
    return organization(row) if row is not None else None


def set_active(context: Context, org_id: str, is_active: bool) -> bool:
    """Activate or deactivate an organization. Return whether that changed it."""
    active_policies.invalidate(context)
    where = (*_in_tenant(context), O.org_id == org_id, O.is_active != is_active)
    return (
        context.work.changed(update(organizations).where(*where).values(is_active=is_active, modified_at=context.now))
        > 0
    )


def remove(context: Context, org_id: str) -> bool:
    """Delete an organization with everything that belongs to it. Return whether it existed."""
    if not context.work.changed(delete(organizations).where(*_in_tenant(context), O.org_id == org_id)):
        return False
    active_policies.invalidate(context)
    tenant_id = context.tenant.tenant_id
    own_roles = select(roles.c.role_id).where(roles.c.tenant_id == tenant_id, roles.c.org_id == org_id)
    permissions = organization_role_permissions.c
    context.work.run(
        delete(organization_role_permissions).where(
            permissions.tenant_id == tenant_id, permissions.role_id.in_(own_roles)
        )
    )
    for table in OF_ORGANIZATION:
        context.work.run(delete(table).where(table.c.tenant_id == tenant_id, table.c.org_id == org_id))
    connection_store.remove_of_organization(context, org_id)
    return True


def of_default_role(context: Context, role_id: str) -> bool:
    """Return whether an organization gives this role to new members."""
    setting = O.policies["MemberPolicy"]["DefaultMemberRole"].as_string()
    statement = select(O.org_id).where(*_in_tenant(context), setting == role_id).limit(1)
    return context.work.one(statement) is not None


def _one(context: Context, *where: ColumnElement[bool]) -> OrganizationRecord | None:
    row = context.work.one(select(*COLUMNS).where(*_in_tenant(context), *where))
    return organization(row) if row is not None else None


def _in_tenant(context: Context) -> tuple[ColumnElement[bool], ...]:
    return (O.tenant_id == context.tenant.tenant_id,)
