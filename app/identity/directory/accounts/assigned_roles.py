"""Table and queries of the roles that accounts have, by name; a role may be of one context (decision 0187)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from sqlalchemy import (
    CTE,
    Column,
    ColumnClause,
    ColumnElement,
    Index,
    String,
    Table,
    delete,
    insert,
    literal_column,
    null,
    select,
    type_coerce,
)
from sqlalchemy.engine import Dialect
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
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


class RolesOf(FunctionElement[list[str]]):
    """The role names of an account in one context; the arguments are tenant id, account id and context, as in the row.

    Written as text, because SQLAlchemy omits table names in a RETURNING clause of SQLite, where the names inside the query would
    then be ambiguous.
    """

    type = _Names()
    inherit_cache = True

    def rows(self, compiler: SQLCompiler, **options: Any) -> str:
        """Return the FROM and WHERE clauses."""
        columns = ("tenant_id", "uid", "context")
        values = (_qualified(value) or compiler.process(value, **options) for value in self.clauses)
        same = (f"account_roles.{name} = {value}" for name, value in zip(columns, values, strict=True))
        return f"FROM account_roles WHERE {' AND '.join(same)}"


def _qualified(value: ColumnElement[Any]) -> str | None:
    """Return a column with the name of its table; None for other values."""
    table = value.table if isinstance(value, ColumnClause) else None
    return f"{table.name}.{value.key}" if isinstance(table, Table | CTE) else None


@compiles(RolesOf, "sqlite")
def _in_sqlite(element: RolesOf, compiler: SQLCompiler, **options: Any) -> str:
    return f"(SELECT group_concat(account_roles.role, char(10)) {element.rows(compiler, **options)})"


@compiles(RolesOf)
def _in_postgresql(element: RolesOf, compiler: SQLCompiler, **options: Any) -> str:
    return f"(SELECT string_agg(account_roles.role, chr(10)) {element.rows(compiler, **options)})"


def outside_contexts(tenant_id: Any, uid: Any) -> ColumnElement[list[str]]:
    """Return a column of a statement: the roles of its row's account outside contexts.

    Args:
        tenant_id: of a row that exists, also where that of an outer join does not: Citus must know the tenant.
    """
    return RolesOf(tenant_id, uid, literal_column("''")).label("roles")


OF_NEW_ACCOUNT = type_coerce(null(), _Names()).label("roles")
"""The roles of an account that is inserted: none."""


def of_account(work: UnitOfWork, uid: str) -> dict[str, list[str]]:
    """Return the account's role names by context, sorted; outside contexts under `EVERYWHERE`."""
    where = (A.tenant_id == work.tenant_id, A.uid == uid)
    found: dict[str, list[str]] = {}
    for row in work.all(select(A.context, A.role).where(*where)):
        found.setdefault(row.context, []).append(row.role)
    return {context: sorted(names) for context, names in found.items()}


def holders(work: UnitOfWork, name: str) -> list[str]:
    """Return the ids of the accounts that have a role outside contexts, sorted."""
    where = (A.tenant_id == work.tenant_id, A.role == name, A.context == EVERYWHERE)
    return sorted(row.uid for row in work.all(select(A.uid).where(*where)))


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
