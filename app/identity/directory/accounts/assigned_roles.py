"""Table and queries of the roles that accounts have, by name; a role may be of one context (decision 0187)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, ClassVar

from sqlalchemy import Column, Index, String, delete, insert, select
from sqlalchemy.engine import Dialect
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import FunctionElement
from sqlalchemy.types import TypeDecorator

from app.identity.platform.store.tables import Id, tenant_table
from app.identity.platform.store.unit_of_work import UnitOfWork

NAME = String(64)
EVERYWHERE = ""
"""The context of roles that an account has outside contexts."""
_SEPARATOR = "\n"  # no role's name contains it

account_roles = tenant_table(
    "account_roles",
    Column("uid", Id, primary_key=True),
    Column("context", NAME, primary_key=True),  # empty: outside contexts
    Column("role", NAME, primary_key=True),
    Index("ix_account_roles_accounts", "tenant_id", "role", "context", "uid"),
)

A = account_roles.c


class _Names(TypeDecorator[list[str]]):
    """Names in one text, read as a sorted list."""

    impl = String
    cache_ok = True

    def result_processor(self, dialect: Dialect, coltype: object) -> Callable[[Any], list[str]]:  # noqa: ARG002 - SQLAlchemy's signature
        return lambda text: sorted(text.split(_SEPARATOR)) if text else []


class RolesOfRow(FunctionElement[list[str]]):
    """The role names of an account, to be read with a row that has its `uid`.

    Written as text, because SQLAlchemy omits table names in a RETURNING clause of SQLite, where the names inside the query would
    then be ambiguous.
    """

    type = _Names()
    table: ClassVar[str]
    context: ClassVar[str]

    @classmethod
    def rows(cls) -> str:
        """Return the FROM and WHERE clauses."""
        same = " AND ".join(f"account_roles.{name} = {cls.table}.{name}" for name in ("tenant_id", "uid"))
        return f"FROM account_roles WHERE {same} AND account_roles.context = {cls.context}"


class _OfAccount(RolesOfRow):
    inherit_cache = True
    table, context = "accounts", "''"


@compiles(RolesOfRow, "sqlite")
def _in_sqlite(element: RolesOfRow, *_: Any, **__: Any) -> str:
    return f"(SELECT group_concat(account_roles.role, char(10)) {element.rows()})"


@compiles(RolesOfRow, "postgresql")
def _in_postgresql(element: RolesOfRow, *_: Any, **__: Any) -> str:
    return f"(SELECT string_agg(account_roles.role, chr(10)) {element.rows()})"


OF_ACCOUNT = _OfAccount().label("roles")
"""A column of `accounts`: the roles of the account outside contexts."""


def of_account(work: UnitOfWork, uid: str) -> dict[str, list[str]]:
    """Return the account's role names by context, sorted; outside contexts under `EVERYWHERE`."""
    where = (A.tenant_id == work.tenant_id, A.uid == uid)
    found: dict[str, list[str]] = {}
    for row in work.all(select(A.context, A.role).where(*where)):
        found.setdefault(row.context, []).append(row.role)
    return {context: sorted(names) for context, names in found.items()}


def assign(work: UnitOfWork, uid: str, names: Mapping[str, Iterable[str]]) -> None:
    """Give an account roles, by context, that it does not have; the caller has locked the account."""
    key = {"tenant_id": work.tenant_id, "uid": uid}
    rows = [{**key, "context": context, "role": name} for context in sorted(names) for name in sorted(names[context])]
    if rows:
        work.run(insert(account_roles), rows)


def unassign(work: UnitOfWork, uid: str, names: Iterable[str], context: str = EVERYWHERE) -> int:
    """Take roles from an account; return how many it had."""
    where = (A.tenant_id == work.tenant_id, A.uid == uid, A.context == context, A.role.in_(sorted(names)))
    return work.changed(delete(account_roles).where(*where))


def clear(work: UnitOfWork, uid: str, contexts: Iterable[str]) -> None:
    """Take all roles of these contexts from an account."""
    where = (A.tenant_id == work.tenant_id, A.uid == uid, A.context.in_(sorted(contexts)))
    work.run(delete(account_roles).where(*where))


def take_from_all(work: UnitOfWork, name: str) -> None:
    """Take a role from every account, in every context."""
    work.run(delete(account_roles).where(A.tenant_id == work.tenant_id, A.role == name))
