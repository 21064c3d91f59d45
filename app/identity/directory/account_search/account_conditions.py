"""The conditions of a search, each as the accounts that an index finds and as a condition on one account."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Boolean, ColumnElement, Select, and_, literal_column, or_, select, text, union_all
from sqlalchemy.sql.selectable import CompoundSelect

from app.contract.accounts.account_list_operations import AccountFilters
from app.identity.directory.account_search import text_prefixes
from app.identity.directory.account_search.text_prefixes import TextRange
from app.identity.directory.accounts.assigned_roles import EVERYWHERE, account_roles
from app.identity.directory.accounts.identifiers import IDENTITY
from app.identity.directory.accounts.tables import IS_BLOCKED, IS_UNVERIFIED, IS_VERIFIED, accounts, identifiers
from app.identity.directory.organizations.tables import organization_user_roles

A, I, R, M = accounts.c, identifiers.c, account_roles.c, organization_user_roles.c  # noqa: E741 - short names, as in all stores
Columns = Any
"""The columns of `accounts`, or of a subquery with those of them that the condition reads."""
_NAMES: Final = ("name_key", "last_name_key")


@dataclass(frozen=True)
class Condition:
    """A condition on accounts.

    `uids` selects the accounts that meet it by an index; None if most accounts do. `reads` names the columns of `accounts` that
    `is_met` reads; `sort` is the column that it is a range of.
    """

    uids: Select[Any] | CompoundSelect[Any] | None
    is_met: Callable[[Columns], ColumnElement[bool]]
    reads: tuple[str, ...]
    sort: str | None = None


def conditions(filters: AccountFilters, tenant_id: str, *, is_sqlite: bool) -> list[Condition]:
    """Return the conditions that the filters state."""
    found = [
        *_times(tenant_id, "created_at", filters.created_from, filters.created_to),
        *_times(tenant_id, "last_login_key", filters.last_login_from, filters.last_login_to),
    ]
    if filters.text is not None:
        found.append(_text(tenant_id, filters.text, is_sqlite=is_sqlite))
    if filters.provider is not None:
        found.append(_provider(tenant_id, filters.provider, is_sqlite=is_sqlite))
    if filters.role is not None:
        found.append(_role(tenant_id, filters.role))
    if filters.organization is not None:
        found.append(_organization(tenant_id, filters.organization))
    if filters.blocked is not None:
        found.append(_blocked(tenant_id, is_blocked=filters.blocked))
    if filters.verified is not None:
        found.append(_verified(tenant_id, is_verified=filters.verified))
    return found


def _times(tenant_id: str, column: str, start: datetime | None, end: datetime | None) -> Iterator[Condition]:
    if start is None and end is None:
        return

    def is_met(c: Columns) -> ColumnElement[bool]:
        return and_(*([c[column] >= start] if start else []), *([c[column] < end] if end else []))

    yield Condition(_of_tenant(tenant_id).where(is_met(A)), is_met, (column,), sort=column)


def _text(tenant_id: str, typed: str, *, is_sqlite: bool) -> Condition:
    by_kind, by_name = text_prefixes.of_identifiers(typed), text_prefixes.of_names(typed)
    selects = [
        select(I.uid).where(I.tenant_id == tenant_id, I.kind == kind, _in_range(_by_code_point(is_sqlite), item))
        for kind, item in by_kind.items()
    ]
    selects += [_of_tenant(tenant_id).where(_in_range(A[key], item)) for key in _NAMES for item in by_name]

    def is_met(c: Columns) -> ColumnElement[bool]:
        names = [_in_range(c[key], item) for key in _NAMES for item in by_name]
        return or_(*names, _has_identifier(c, tenant_id, by_kind, is_sqlite=is_sqlite))

    return Condition(union_all(*selects) if selects else _of_none(), is_met, _NAMES)


def _provider(tenant_id: str, name: str, *, is_sqlite: bool) -> Condition:
    item = text_prefixes.beginning_with(f"{name.lower()} ")  # as `identity_value` writes it
    where = (I.tenant_id == tenant_id, I.kind == IDENTITY, _in_range(_by_code_point(is_sqlite), item))
    return Condition(
        select(I.uid).where(*where), lambda c: _has_identifier(c, tenant_id, {IDENTITY: item}, is_sqlite=is_sqlite), ()
    )


def _role(tenant_id: str, name: str) -> Condition:
    assigned = select(R.uid).where(R.tenant_id == tenant_id, R.role == name, R.context == EVERYWHERE)
    return Condition(assigned, lambda c: assigned.where(R.uid == c.uid).exists(), ())


def _organization(tenant_id: str, org_id: str) -> Condition:
    members = select(M.uid).where(M.tenant_id == tenant_id, M.org_id == org_id)
    return Condition(members, lambda c: members.where(M.uid == c.uid).exists(), ())


def _blocked(tenant_id: str, *, is_blocked: bool) -> Condition:
    reads = ("is_active", "is_locked", "lock_type")
    if not is_blocked:
        return Condition(None, lambda _: literal_column(f"NOT ({IS_BLOCKED})", Boolean), reads)
    return _by_part(tenant_id, IS_BLOCKED, reads)


def _verified(tenant_id: str, *, is_verified: bool) -> Condition:
    return _by_part(tenant_id, IS_VERIFIED if is_verified else IS_UNVERIFIED, ("email_verified", "phone_verified"))


def _by_part(tenant_id: str, rows: str, reads: tuple[str, ...]) -> Condition:
    """Return the condition of a partial index."""
    condition: Any = text(f"({rows})")
    return Condition(_of_tenant(tenant_id).where(condition), lambda _: condition, reads)


def _of_tenant(tenant_id: str) -> Select[Any]:
    return select(A.uid).where(A.tenant_id == tenant_id)


def _of_none() -> Select[Any]:
    return select(A.uid).where(text("1 = 0"))


def _has_identifier(
    c: Columns, tenant_id: str, by_kind: Mapping[str, TextRange], *, is_sqlite: bool
) -> ColumnElement[bool]:
    """Return whether the account has an identifier in one of the ranges, in one search of its own."""
    value = _by_code_point(is_sqlite)
    own = select(I.uid).where(I.tenant_id == tenant_id, I.uid == c.uid)
    # The concatenation keeps SQLite from searching the identifiers of all accounts.
    return own.where(
        or_(*(and_(I.kind.concat("") == kind, _in_range(value, by_kind[kind])) for kind in by_kind))
    ).exists()


def _by_code_point(is_sqlite: bool) -> ColumnElement[str]:
    return I.value if is_sqlite else I.value.collate("C")


def _in_range(column: ColumnElement[str], item: TextRange) -> ColumnElement[bool]:
    return and_(column >= item.first, column < item.end)
