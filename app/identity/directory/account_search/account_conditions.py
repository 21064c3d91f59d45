"""The conditions of a search, each as the accounts that an index finds and as a check of one account."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Boolean, ColumnElement, Select, and_, literal_column, or_, select, text, union_all
from sqlalchemy.sql.selectable import CompoundSelect

from app.contract.accounts.account_list_operations import AccountFilters
from app.identity.directory.account_search import text_prefixes
from app.identity.directory.account_search.account_order import LAST_LOGIN, Order, order_of
from app.identity.directory.account_search.text_prefixes import TextRange
from app.identity.directory.accounts.assigned_roles import EVERYWHERE, account_roles
from app.identity.directory.accounts.identifiers import IDENTITY
from app.identity.directory.accounts.tables import IS_BLOCKED, account_search, accounts, identifiers
from app.identity.directory.organizations.tables import organization_user_roles

A, S, I = accounts.c, account_search.c, identifiers.c  # noqa: E741 - short names, as in all stores
R, M = account_roles.c, organization_user_roles.c
_IS_BLOCKED: Final[Any] = text(f"({IS_BLOCKED})")
"""In the words of the partial index."""
FEW: Final = 2_000
"""Up to so many accounts of one condition are read and sorted for a page."""


@dataclass(frozen=True)
class Condition:
    """A condition on accounts.

    Attributes:
        uids: selects the ids of the accounts that meet it, in the order of an index, so that no planner reads the table until it has
            found enough; None if most accounts meet it.
        is_met: the condition on one account, by its id.
        sort: the order that it is a range of, and the keys where the range begins and ends.
        searches: how many indexes the check searches.
    """

    uids: Select[Any] | CompoundSelect[Any] | None
    is_met: Callable[[Any], ColumnElement[bool]]
    sort: str | None = None
    start: Any = None
    end: Any = None
    searches: int = 1


def conditions(filters: AccountFilters, tenant_id: str, *, is_sqlite: bool) -> list[Condition]:
    """Return the conditions that the filters state."""
    found = [
        *_times(tenant_id, order_of("created", is_sqlite=is_sqlite), filters.created_from, filters.created_to),
        *_times(tenant_id, order_of(LAST_LOGIN, is_sqlite=is_sqlite), filters.last_login_from, filters.last_login_to),
    ]
    if filters.verified is not None:
        found.append(_one(select(S.uid).where(S.tenant_id == tenant_id, S.is_verified == filters.verified), S.uid))
    if filters.blocked is not None:
        found.append(_blocked(tenant_id, is_blocked=filters.blocked))
    if filters.role is not None:
        where = (R.tenant_id == tenant_id, R.role == filters.role, R.context == EVERYWHERE)
        found.append(_one(select(R.uid).where(*where), R.uid))
    if filters.organization is not None:
        found.append(_one(select(M.uid).where(M.tenant_id == tenant_id, M.org_id == filters.organization), M.uid))
    if filters.provider is not None:
        found.append(_provider(tenant_id, filters.provider, is_sqlite=is_sqlite))
    if filters.text is not None:
        found.append(_text(tenant_id, filters.text, is_sqlite=is_sqlite))
    return found


def _times(tenant_id: str, order: Order, start: datetime | None, end: datetime | None) -> Iterator[Condition]:
    if start is None and end is None:
        return

    uids = select(order.uid).where(order.tenant_id == tenant_id, *order.between(start, end))
    in_order = uids.order_by(order.key, order.uid)
    yield Condition(in_order, lambda uid: _exists(uids, order.uid, uid), order.name, start, end)


def _text(tenant_id: str, typed: str, *, is_sqlite: bool) -> Condition:
    by_kind, by_name = text_prefixes.of_identifiers(typed), text_prefixes.of_names(typed)
    selects = [_identified(tenant_id, kind, item, is_sqlite=is_sqlite) for kind, item in by_kind.items()]
    keys = (S.name_key, S.last_name_key)
    named = [(key, _in_range(key, by_name)) for key in keys] if by_name is not None else []
    selects += [select(S.uid).where(S.tenant_id == tenant_id, condition).order_by(key) for key, condition in named]
    if not selects:
        return Condition(select(A.uid).where(text("1 = 0")), lambda _: literal_column("(1 = 0)", Boolean))
    is_named = (
        select(S.uid).where(S.tenant_id == tenant_id, or_(*(condition for _, condition in named))) if named else None
    )

    def is_met(uid: Any) -> ColumnElement[bool]:
        checks = [_exists(is_named, S.uid, uid)] if is_named is not None else []
        return or_(*checks, _has_identifier(uid, tenant_id, by_kind, is_sqlite=is_sqlite))

    parts = (item.limit(FEW + 1).subquery(f"part_{at}") for at, item in enumerate(selects))
    return Condition(union_all(*(select(part.c.uid) for part in parts)), is_met, searches=2)


def _provider(tenant_id: str, name: str, *, is_sqlite: bool) -> Condition:
    item = text_prefixes.beginning_with(f"{name.lower()} ")  # as `identity_value` writes it

    def is_met(uid: Any) -> ColumnElement[bool]:
        return _has_identifier(uid, tenant_id, {IDENTITY: item}, is_sqlite=is_sqlite)

    return Condition(_identified(tenant_id, IDENTITY, item, is_sqlite=is_sqlite), is_met)


def _identified(tenant_id: str, kind: str, item: TextRange, *, is_sqlite: bool) -> Select[Any]:
    """Return the query for the accounts that have an identifier in a range."""
    value = _by_code_point(is_sqlite)
    return select(I.uid).where(I.tenant_id == tenant_id, I.kind == kind, _in_range(value, item)).order_by(value)


def _blocked(tenant_id: str, *, is_blocked: bool) -> Condition:
    blocked = select(A.uid).where(A.tenant_id == tenant_id, _IS_BLOCKED)
    return _one(blocked, A.uid) if is_blocked else Condition(None, lambda uid: ~_exists(blocked, A.uid, uid))


def _one(uids: Select[Any], column: ColumnElement[Any]) -> Condition:
    """Return the condition that a query for ids states."""
    return Condition(uids.order_by(column), lambda uid: _exists(uids, column, uid))


def _exists(uids: Select[Any], column: ColumnElement[Any], uid: Any) -> ColumnElement[bool]:
    """Return whether the query finds the account.

    As a scalar, which PostgreSQL computes for one account at a time: it turns EXISTS into a join, and may read all accounts for it.
    """
    return uids.where(column == uid).limit(1).scalar_subquery().is_not(None)


def _has_identifier(
    uid: Any, tenant_id: str, by_kind: Mapping[str, TextRange], *, is_sqlite: bool
) -> ColumnElement[bool]:
    """Return whether the account has an identifier in one of the ranges, in one search of its own."""
    value = _by_code_point(is_sqlite)
    # The concatenation keeps databases from searching the identifiers of all accounts.
    ranges = (and_(I.kind.concat("") == kind, _in_range(value, by_kind[kind])) for kind in by_kind)
    return _exists(select(I.uid).where(I.tenant_id == tenant_id, or_(*ranges)), I.uid, uid)


def _by_code_point(is_sqlite: bool) -> ColumnElement[str]:
    return I.value if is_sqlite else I.value.collate("C")


def _in_range(column: ColumnElement[str], item: TextRange) -> ColumnElement[bool]:
    return and_(column >= item.first, column < item.end)
