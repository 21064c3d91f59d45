"""Takes the roles back that a connection of an organization granted, when the connection or one of its group roles is deleted."""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import ColumnElement, delete, select, update

from app.identity.directory.organizations import active_policies
from app.identity.directory.organizations.memberships import membership_store
from app.identity.directory.organizations.organization import OWN
from app.identity.directory.organizations.roles import organization_role_store
from app.identity.directory.organizations.tables import organization_user_roles
from app.identity.platform.context import Context

M = organization_user_roles.c


def take_back(context: Context, org_id: str, connection_id: str, role_ids: Collection[str] | None = None) -> None:
    """Take all roles that a connection granted, or these of them. The caller locked the organization alone.

    Where no owner who can sign in would be left, the owners keep their roles, as if people had given them.
    """
    of_connection = (M.tenant_id == context.tenant.tenant_id, M.org_id == org_id, M.connection_id == connection_id)
    where = (*of_connection, *([M.role_id.in_(role_ids)] if role_ids is not None else []))
    if (owning := _last_owning(context, org_id, where)) is not None:
        kept = (*where, M.role_id.in_(owning))
        for row in context.work.all(
            update(organization_user_roles).where(*kept).values(connection_id=None).returning(M.uid)
        ):
            context.audit.record("organization.last_owner_kept", uid=row.uid, org_id=org_id)
    context.work.run(delete(organization_user_roles).where(*where))
    active_policies.invalidate(context)


def _last_owning(context: Context, org_id: str, where: Collection[ColumnElement[bool]]) -> set[str] | None:
    """Return the roles of owners among these grants, if the organization has no owner who can sign in without them."""
    owners = membership_store.owners(context, [org_id])[org_id]
    if not owners.able:
        return None
    lost = {(row.uid, row.role_id) for row in context.work.all(select(M.uid, M.role_id).where(*where))}
    held = membership_store.roles_of(context, org_id, owners.able)
    every = {role.role_id for roles in held.values() for role in roles}
    permissions = organization_role_store.permissions_of(context, every)
    owning = {role_id for role_id in every if any(item.name == OWN for item in permissions[role_id])}
    remains = any(
        role.role_id in owning and (uid, role.role_id) not in lost for uid, roles in held.items() for role in roles
    )
    return None if remains else owning
