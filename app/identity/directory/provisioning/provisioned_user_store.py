"""Queries of what identity providers wrote about accounts and roles, within the tenant and one scope: an organization, or all."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from sqlalchemy import ColumnElement, Select, delete, false, func, insert, select, union, update
from sqlalchemy.exc import IntegrityError

from app.identity.directory.accounts import account_search_rows, account_store
from app.identity.directory.accounts.account import Account
from app.identity.directory.provisioning.tables import scim_groups, scim_users
from app.identity.platform.context import Context
from app.identity.platform.store import upserts

ACTIVE, INACTIVE, DELETED = "active", "inactive", "deleted"
U, G = scim_users.c, scim_groups.c


class UserNameTaken(Exception):
    """Another person of the scope has the `userName`."""


@dataclass(frozen=True)
class ProvisionedUser:
    """What an identity provider wrote about an account."""

    uid: str
    state: str
    named: str | None
    external_id: str | None
    content: dict[str, Any]
    role_ids: list[str]
    is_created: bool
    is_blocked: bool
    created_at: datetime
    modified_at: datetime


@dataclass(frozen=True)
class ProvisionedGroup:
    """What an identity provider wrote about a role."""

    group_id: str
    display_name: str | None = None
    external_id: str | None = None
    created_at: datetime | None = None
    modified_at: datetime | None = None


@dataclass(frozen=True)
class ListedUser:
    """An account of a scope, with what an identity provider wrote about it, if one did."""

    account: Account
    written: ProvisionedUser | None = field(default=None)
    is_member: bool = False
    """Whether the account has a role in the organization, whatever the identity provider wrote: people may have given it one."""

    @property
    def uid(self) -> str:
        return self.account.uid


_COLUMNS = tuple(U[name] for name in ProvisionedUser.__dataclass_fields__)
_NAMED: Final = tuple(column.label(f"scim_{column.name}") for column in _COLUMNS)
_GROUP = tuple(G[name] for name in ProvisionedGroup.__dataclass_fields__)


def listed(
    context: Context,
    org_id: str,
    members: Select[Any] | None,
    *,
    uids: Collection[str] | None = None,
    window: tuple[int | None, int] = (None, 0),
) -> list[ListedUser]:
    """Return the accounts of a scope by uid.

    Args:
        members: a query for the `uid` of each member; None: all accounts of the tenant.
        uids: of these alone.
        window: the number of entries, None for all, and of those before them.
    """
    limit, offset = window
    ids = _ids(context, org_id, members)
    is_member = ids.c.uid.in_(members) if members is not None else false()
    statement = select(ids.c.uid.label("listed_uid"), is_member.label("is_member"), *_NAMED).select_from(
        ids.outerjoin(
            scim_users,
            (U.tenant_id == context.tenant.tenant_id) & (U.org_id == org_id) & (U.uid == ids.c.uid),
        )
    )
    if uids is not None:
        statement = statement.where(ids.c.uid.in_(sorted(uids)))
    statement = account_store.with_account(statement, ids.c.uid).order_by(ids.c.uid).limit(limit).offset(offset)
    rows = context.work.all(statement, {"tenant": context.tenant.tenant_id})
    found = ((account_store.account_in(context, row), row) for row in rows)
    return [ListedUser(account, _written(row), bool(row.is_member)) for account, row in found if account is not None]


def count(context: Context, org_id: str, members: Select[Any] | None) -> int:
    """Return how many accounts a scope has."""
    row = context.work.one(select(func.count()).select_from(_ids(context, org_id, members)))
    return int(row[0]) if row else 0


def _ids(context: Context, org_id: str, members: Select[Any] | None) -> Any:
    if members is None:
        return account_search_rows.uids(context.tenant.tenant_id).subquery("ids")
    written = select(U.uid).where(*_in(context, org_id), U.state != DELETED)
    return union(members, written).subquery("ids")


def _written(row: Any) -> ProvisionedUser | None:
    if row.scim_uid is None:
        return None
    return ProvisionedUser(*(row._mapping[column.name] for column in _NAMED))


def uids_named(context: Context, org_id: str, *, named: str = "", external_id: str = "") -> set[str]:
    """Return the accounts with a normalized `userName`, or with an `externalId`."""
    chosen = U.named == named if named else U.external_id == external_id
    return {row.uid for row in context.work.all(select(U.uid).where(*_in(context, org_id), chosen))}


def is_closed_to(context: Context, org_id: str, uid: str) -> bool:
    """Return whether an identity provider deactivated or deleted the account here, so that it may not join on its own."""
    where = (*_in(context, org_id), U.uid == uid, U.state != ACTIVE)
    return context.work.one(select(U.uid).where(*where)) is not None


def by_uid(context: Context, org_id: str, uid: str) -> ProvisionedUser | None:
    row = context.work.one(select(*_COLUMNS).where(*_in(context, org_id), U.uid == uid))
    return ProvisionedUser(**row._mapping) if row is not None else None


def put(context: Context, org_id: str, uid: str, **values: Any) -> ProvisionedUser:
    """Change what is written of an account, or add it. Raises UserNameTaken."""
    key = (*_in(context, org_id), U.uid == uid)
    try:
        row = context.work.one(
            update(scim_users).where(*key).values(**values, modified_at=context.now).returning(*_COLUMNS)
        )
        if row is None:
            empty = {"state": ACTIVE, "role_ids": [], "is_created": False, "is_blocked": False, "content": {}}
            own = {"tenant_id": context.tenant.tenant_id, "org_id": org_id, "uid": uid}
            instants = {"created_at": context.now, "modified_at": context.now}
            added = insert(scim_users).values({**empty, **own, **instants, **values}).returning(*_COLUMNS)
            row = context.work.run(added).one()
    except IntegrityError:
        raise UserNameTaken from None
    return ProvisionedUser(**row._mapping)


def forget_blocks(context: Context, uid: str) -> None:
    """Let no identity provider unblock an account that it blocked: somebody else has blocked or unblocked it since."""
    where = (U.tenant_id == context.tenant.tenant_id, U.uid == uid, U.is_blocked)
    context.work.run(update(scim_users).where(*where).values(is_blocked=False))


def groups(context: Context, org_id: str, ids: Iterable[str] | None = None) -> dict[str, ProvisionedGroup]:
    """Return what is written of roles, by id."""
    where = [G.tenant_id == context.tenant.tenant_id, G.org_id == org_id]
    where += [G.group_id.in_(sorted(ids))] if ids is not None else []
    rows = context.work.all(select(*_GROUP).where(*where))
    return {row.group_id: ProvisionedGroup(**row._mapping) for row in rows}


def put_group(context: Context, org_id: str, group_id: str, external_id: str | None, display_name: str | None) -> None:
    """Store that a role was written, with the identity provider's own id and name for it."""
    values = {"external_id": external_id, "display_name": display_name, "modified_at": context.now}
    key = {"tenant_id": context.tenant.tenant_id, "org_id": org_id, "group_id": group_id}
    added = upserts.insert(scim_groups, is_sqlite=context.services.database.is_sqlite).values(
        **key, **values, created_at=context.now
    )
    context.work.run(added.on_conflict_do_update(index_elements=list(key), set_=values))


def remove_group(context: Context, org_id: str, group_id: str) -> None:
    where = (G.tenant_id == context.tenant.tenant_id, G.org_id == org_id, G.group_id == group_id)
    context.work.run(delete(scim_groups).where(*where))


def _in(context: Context, org_id: str) -> tuple[ColumnElement[bool], ...]:
    return U.tenant_id == context.tenant.tenant_id, U.org_id == org_id
