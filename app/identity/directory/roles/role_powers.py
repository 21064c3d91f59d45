"""Powers of the tenant's roles, and of the items that give accounts permissions (decision 0316)."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from app.identity.directory.roles import tenant_role_store
from app.identity.directory.roles.role_names import can_exist
from app.identity.platform.context import Context
from app.identity.platform.powers import GIVES_ROLES, Power


def of_permissions(permissions: Collection[str]) -> Iterator[Power]:
    """Yield the powers of a role, or a context, with these permissions."""
    if permissions:
        yield Power(GIVES_ROLES, "roles with permissions")


def of_roles(context: Context, role_names: Collection[str]) -> Iterator[Power]:
    """Yield the powers of roles; a name of none has no power."""
    found = [name for name in role_names if can_exist(name)]
    yield from of_permissions(tenant_role_store.permissions_of(context.work, found) if found else ())


def of_context(context: Context, uid: str, name: str) -> Iterator[Power]:
    """Yield the powers that an account has by one of its contexts."""
    row = tenant_role_store.context_of(context.work, uid, name) if can_exist(name) else None
    if row is not None:
        yield from of_permissions(row.additional_permissions)
        yield from of_roles(context, row.roles)
