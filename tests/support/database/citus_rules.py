"""The rules that let tables and statements run on Citus, read from SQLAlchemy's form of them (decision 0390).

A statement is of one tenant if each distributed table, also of each subquery, is bound to the tenant: its `tenant_id` equals a
parameter, or the `tenant_id` of a table of the same part that is bound. What Citus refuses of such statements is named here, too.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from sqlalchemy import CTE, ColumnElement, CompoundSelect, Join, Select, Table, UniqueConstraint
from sqlalchemy.sql import operators
from sqlalchemy.sql.dml import Delete, Insert, Update
from sqlalchemy.sql.elements import BinaryExpression, BindParameter, BooleanClauseList, ColumnClause, Grouping
from sqlalchemy.sql.selectable import FromGrouping, SelectBase, Subquery

from app.identity.directory.accounts.assigned_roles import RolesOf
from app.identity.platform.store.distribution import REFERENCE_TABLES

OTHER_TENANTS: Final = "a table that is not bound to the tenant"
ANOTHER_TENANT: Final = "a parameter of another tenant"
RETURNS_SUBQUERY: Final = "a subquery in RETURNING"
INSERTS_SUBQUERY: Final = "a subquery in VALUES"
SELECTS_FROM_NOTHING: Final = "a table that is a SELECT without FROM"
RECURSIVE: Final = "a recursive query"
CORRELATED: Final = "a correlated subquery over all tenants"
MOVES_TENANT: Final = "a change of tenant_id"


@dataclass
class Findings:
    """What Citus would refuse of a statement, and the parameters that name its tenant."""

    refused: set[str] = field(default_factory=set)
    tenants: list[BindParameter[Any]] = field(default_factory=list)


@dataclass(frozen=True)
class _Outer:
    """The tables of the parts around a subquery. By their columns Citus does not see the tenant, and asks all nodes."""

    tables: frozenset[Any] = frozenset()

    def within(self, tables: Iterable[Any]) -> _Outer:
        return _Outer(self.tables | set(tables))


def check(statement: Any) -> Findings:
    """Return the findings about a statement."""
    findings = Findings()
    _check(statement, _Outer(), findings)
    return findings


def table_faults(table: Table) -> list[str]:
    """Return why Citus could not distribute a table by tenant, or keep it alike on every node."""
    faults = [f"{table.name}: a foreign key" for _ in table.foreign_keys]
    if table.name in REFERENCE_TABLES:
        return faults
    if next(iter(table.primary_key.columns)).name != "tenant_id":
        faults.append(f"{table.name}: a primary key without the tenant")
    unique: list[Any] = [item for item in table.constraints if isinstance(item, UniqueConstraint)]
    unique += [item for item in table.indexes if item.unique]
    faults += [
        f"{table.name}: {item.name} is unique without the tenant" for item in unique if "tenant_id" not in item.columns
    ]
    generated = (
        column for column in table.columns if column.identity or column.computed or column.autoincrement is True
    )
    return faults + [f"{table.name}: {column.name} is generated" for column in generated]


def _check(statement: Any, outer: _Outer, findings: Findings) -> None:
    """Check one part of a statement."""
    if isinstance(statement, CompoundSelect):
        for part in statement.selects:
            _check(part, outer, findings)
    elif isinstance(statement, Select):
        _check_select(statement, outer, findings)
    elif isinstance(statement, Update | Delete):
        _check_change(statement, outer, findings)
    elif isinstance(statement, Insert):
        _check_insert(statement, outer, findings)
    elif isinstance(statement, Grouping | FromGrouping):
        _check(statement.element, outer, findings)


def _check_select(statement: Select[Any], outer: _Outer, findings: Findings) -> None:
    named = statement.get_final_froms()
    froms = [item for item in named if item not in outer.tables]
    leaves, conditions = _flattened(froms)
    conditions += [*statement._where_criteria]
    bound = _bound(leaves, conditions, findings)
    is_correlated = len(froms) < len(named)
    if is_correlated and any(_is_open(leaf) for leaf in leaves if leaf not in bound):
        findings.refused.add(CORRELATED)
    _check_derived(leaves, findings)
    columns: list[Any] = [*statement._raw_columns, *statement._having_criteria, *statement._order_by_clauses]
    _check_subqueries([*columns, *conditions], outer.within(leaves), findings)


def _check_change(statement: Any, outer: _Outer, findings: Findings) -> None:
    conditions = [*statement._where_criteria]
    bound = _bound([statement.table], conditions, findings)
    values = dict(getattr(statement, "_values", None) or {})
    if any(getattr(column, "key", column) == "tenant_id" for column in values):
        findings.refused.add(MOVES_TENANT)
    _check_subqueries([*conditions, *values.values()], outer.within(bound), findings)
    if any(_subqueries(column) for column in statement._returning):
        findings.refused.add(RETURNS_SUBQUERY)


def _check_insert(statement: Any, outer: _Outer, findings: Findings) -> None:
    rows = [dict(statement._values or {}), *(dict(row) for rows in statement._multi_values for row in rows)]
    for row in rows:
        if any(_subqueries(value) for value in row.values()):
            findings.refused.add(INSERTS_SUBQUERY)
        tenants = [value for column, value in row.items() if getattr(column, "key", column) == "tenant_id"]
        findings.tenants += [value for value in tenants if isinstance(value, BindParameter)]
    if statement.select is not None:
        _check(statement.select, outer, findings)
    if any(_subqueries(column) for column in statement._returning):
        findings.refused.add(RETURNS_SUBQUERY)


def _flattened(froms: Iterable[Any]) -> tuple[list[Any], list[Any]]:
    """Return the tables of a FROM clause, and the conditions of its joins."""
    leaves: list[Any] = []
    conditions: list[Any] = []
    for item in froms:
        if not isinstance(item, Join):
            leaves.append(item.element if isinstance(item, FromGrouping) else item)
            continue
        for side in (item.left, item.right):
            inner, inner_conditions = _flattened([side])
            leaves += inner
            conditions += inner_conditions
        conditions.append(item.onclause)
    return leaves, conditions


def _bound(leaves: list[Any], conditions: list[Any], findings: Findings) -> set[Any]:
    """Return the tables that are bound to the tenant; the others are a finding."""
    bound: set[Any] = {leaf for leaf in leaves if isinstance(leaf, CTE | Subquery)}
    pairs = [pair for condition in conditions for pair in _equal_tenants(condition)]
    left = {leaf for leaf in leaves if leaf not in bound}
    while left:
        found = {column.table for column, value in pairs if column.table in left and _is_bound(value, bound)}
        if not found:
            break
        bound |= found
        left -= found
    findings.tenants += [value for _, value in pairs if isinstance(value, BindParameter)]
    if any(_is_open(leaf) for leaf in left):
        findings.refused.add(OTHER_TENANTS)
    return bound


def _is_open(leaf: Any) -> bool:
    """Return whether a table that is not bound has rows of one tenant on one node."""
    return _name(leaf) not in REFERENCE_TABLES


def _is_bound(value: Any, bound: Collection[Any]) -> bool:
    return isinstance(value, BindParameter) or (isinstance(value, ColumnClause) and value.table in bound)


def _equal_tenants(condition: Any) -> Iterator[tuple[Any, Any]]:
    """Yield each `tenant_id` that a condition demands to equal a value, with the value."""
    if isinstance(condition, BooleanClauseList) and condition.operator is operators.and_:
        for part in condition.clauses:
            yield from _equal_tenants(part)
    elif isinstance(condition, Grouping):
        yield from _equal_tenants(condition.element)
    elif isinstance(condition, BinaryExpression) and condition.operator is operators.eq:
        for column, value in ((condition.left, condition.right), (condition.right, condition.left)):
            if isinstance(column, ColumnClause) and column.key == "tenant_id" and column.table is not None:
                yield column, value


def _check_derived(leaves: list[Any], findings: Findings) -> None:
    for leaf in leaves:
        if not isinstance(leaf, CTE | Subquery):
            continue
        if isinstance(leaf, CTE) and leaf.recursive:
            findings.refused.add(RECURSIVE)
            continue
        if isinstance(leaf.element, Select) and not leaf.element.get_final_froms():
            findings.refused.add(SELECTS_FROM_NOTHING)
        _check(leaf.element, _Outer(), findings)


def _check_subqueries(expressions: Iterable[Any], outer: _Outer, findings: Findings) -> None:
    for expression in expressions:
        for found in _subqueries(expression):
            if not isinstance(found, RolesOf):
                _check(found, outer, findings)
            elif not isinstance(next(iter(found.clauses)), BindParameter):
                findings.refused.add(OTHER_TENANTS)


def _subqueries(expression: Any) -> list[Any]:
    """Return the subqueries of an expression, without those within them."""
    if isinstance(expression, SelectBase | RolesOf):
        return [expression]
    if not isinstance(expression, ColumnElement):
        return []
    return [found for child in expression.get_children() for found in _subqueries(child)]


def _name(leaf: Any) -> str:
    """Return the name of a table, also under an alias."""
    return str(getattr(getattr(leaf, "element", leaf), "name", ""))
