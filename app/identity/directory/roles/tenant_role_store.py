"""Tables and queries of roles and role contexts, always within the tenant."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import Column, Index, String, delete, insert, select, update
from sqlalchemy.engine import Row

from app.identity.directory.accounts import assigned_roles
from app.identity.directory.accounts.assigned_roles import NAME
from app.identity.platform.context import Context
from app.identity.platform.store import upserts
from app.identity.platform.store.compiled_statements import TENANT
from app.identity.platform.store.tables import Id, Instant, Json, tenant_table
from app.identity.platform.store.unit_of_work import UnitOfWork

roles = tenant_table(
    "roles",
    Column("name", NAME, primary_key=True),
    Column("skeleton", String(200), nullable=False),  # equal for names that look alike or differ only in case
    Column("permissions", Json, nullable=False),  # sorted names
    Column("created_at", Instant, nullable=False),
    Column("modified_at", Instant, nullable=False),
    Index("uq_roles_skeleton", "tenant_id", "skeleton", unique=True),
)

role_contexts = tenant_table(
    "role_contexts",
    Column("uid", Id, primary_key=True),
    Column("context", NAME, primary_key=True),
    Column("additional_permissions", Json, nullable=False),  # sorted names
    Column("ends_at", Instant),  # not `expires_at`: the cleaner deletes what expired, but a context may be extended
    Index("ix_role_contexts_context", "tenant_id", "context", "uid"),
)

R, C = roles.c, role_contexts.c


# The tenant's roles.


def all_roles(work: UnitOfWork) -> Sequence[Row[Any]]:
    """Return every role, sorted by name."""
    rows = work.all(
        select(R.name, R.skeleton, R.permissions, R.created_at, R.modified_at).where(R.tenant_id == work.tenant_id)
    )
    return sorted(rows, key=lambda row: row.name)  # databases sort by different rules


def add_roles(work: UnitOfWork, new: Sequence[Mapping[str, Any]]) -> None:
    """Add roles. Raises IntegrityError where a name or skeleton is taken."""
    if new:
        work.run(insert(roles), [{"tenant_id": work.tenant_id, **item} for item in new])


def lock_role(work: UnitOfWork, name: str) -> Row[Any] | None:
    """Lock a role against changes and assignments until the commit, and return its permissions."""
    work.begin()
    return work.one(select(R.permissions).where(*_named(work, name)).with_for_update())


def set_permissions(work: UnitOfWork, name: str, permissions: Collection[str], now: Any) -> None:
    """Replace the permissions of a role."""
    values = {"permissions": sorted(permissions), "modified_at": now}
    work.run(update(roles).where(*_named(work, name)).values(values))


def remove_role(work: UnitOfWork, name: str) -> bool:
    """Delete a role, and take it from accounts and contexts. Return whether it existed.

    The role goes first: assignments lock it, so that none can follow the second statement.
    """
    if not work.changed(delete(roles).where(*_named(work, name))):
        return False
    assigned_roles.take_from_all(work, name)
    return True


def existing(work: UnitOfWork, names: Iterable[str]) -> frozenset[str]:
    """Return those of the names that are roles, and lock these against deletion until the commit.

    They are locked in sorted order, so that concurrent transactions cannot deadlock.
    """
    work.begin()
    where = (R.tenant_id == work.tenant_id, R.name.in_(sorted(names)))
    rows = work.all(select(R.name).where(*where).order_by(R.name).with_for_update(read=True))
    return frozenset(row.name for row in rows)


def permissions_of(work: UnitOfWork, names: Iterable[str]) -> frozenset[str]:
    """Return the permissions of these roles."""
    where = (R.tenant_id == work.tenant_id, R.name.in_(sorted(names)))
    rows = work.all(select(R.permissions).where(*where))
    return frozenset(permission for row in rows for permission in row.permissions)


def _named(work: UnitOfWork, name: str) -> tuple[Any, ...]:
    return R.tenant_id == work.tenant_id, R.name == name


# Role contexts of accounts.

_ROLES = assigned_roles.RolesOf(TENANT, C.uid, C.context).label("roles")
_CONTEXT = (C.uid, C.context, C.additional_permissions, C.ends_at, _ROLES)


def contexts_of(work: UnitOfWork, uid: str) -> Sequence[Row[Any]]:
    """Return the account's contexts with their roles, sorted by name."""
    rows = work.all(select(*_CONTEXT).where(C.tenant_id == TENANT, C.uid == uid), {"tenant": work.tenant_id})
    return sorted(rows, key=lambda row: row.context)


def context_of(work: UnitOfWork, uid: str, context: str) -> Row[Any] | None:
    """Return one context of the account with its roles."""
    where = (C.tenant_id == TENANT, C.uid == uid, C.context == context)
    return work.one(select(*_CONTEXT).where(*where), {"tenant": work.tenant_id})


def contexts_named(work: UnitOfWork, context: str, *, after: str | None, limit: int) -> Sequence[Row[Any]]:
    """Return this context of every account, by account id; `after`: the last id of the previous page."""
    where = [C.tenant_id == TENANT, C.context == context]
    if after is not None:
        where.append(C.uid > after)
    return work.all(select(*_CONTEXT).where(*where).order_by(C.uid).limit(limit), {"tenant": work.tenant_id})


def put_contexts(context: Context, uid: str, contents: Mapping[str, Mapping[str, Any]]) -> None:
    """Add contexts, by name, to an account, or change those that it has; the caller has locked the account."""
    key = {"tenant_id": context.tenant.tenant_id, "uid": uid}
    statement = upserts.insert(role_contexts, is_sqlite=context.services.database.is_sqlite).values(
        [{**key, "context": name, **values} for name, values in sorted(contents.items())]
    )
    changed = {name: statement.excluded[name] for name in ("additional_permissions", "ends_at")}
    context.work.run(statement.on_conflict_do_update(index_elements=[C.tenant_id, C.uid, C.context], set_=changed))


def remove_context(work: UnitOfWork, uid: str, name: str) -> bool:
    """Delete a context of an account and its roles there. Return whether it existed."""
    assigned_roles.clear(work, uid, [name])
    where = (C.tenant_id == work.tenant_id, C.uid == uid, C.context == name)
    return work.changed(delete(role_contexts).where(*where)) > 0
