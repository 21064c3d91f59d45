"""Statements that are compiled once and run on the driver's cursor (decision 0268).

SQLAlchemy builds, compiles and types them; they skip its work around each execution, which takes several times as long as
the execution. `UnitOfWork` runs them as it runs others.
"""

from __future__ import annotations

import re
from collections import namedtuple
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from sqlalchemy import BindParameter, Column, ColumnElement, Table, bindparam, insert, select, update
from sqlalchemy.engine import Dialect
from sqlalchemy.exc import MultipleResultsFound, NoResultFound
from sqlalchemy.sql import Executable
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.schema import ScalarElementColumnDefault

Parameters = Mapping[str, Any] | Sequence[Mapping[str, Any]]
TENANT: BindParameter[Any] = bindparam("tenant")
"""The parameter that names the tenant. In each part of a statement, Citus must see this value, not a column of another part."""
_Processor = Callable[[Any], Any]


@dataclass(slots=True)
class Rows:
    """The rows of an execution, read completely; each has its columns as attributes, and `_mapping`."""

    rows: list[Any]
    rowcount: int

    def all(self) -> list[Any]:
        return self.rows

    def one_or_none(self) -> Any:
        if len(self.rows) > 1:
            raise MultipleResultsFound("more than one row")
        return self.rows[0] if self.rows else None

    def one(self) -> Any:
        if not self.rows:
            raise NoResultFound("no row")
        return self.one_or_none()

    def scalar_one(self) -> Any:
        return self.one()[0]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.rows)


class Compiled:
    """A statement whose changing values are named `bindparam`s, stated once in a module.

    An expanding IN is not possible.

    Args:
        changes: the table that a common table expression of the statement changes.
        is_deferred: an insert that nothing refuses, such as of a random key. Within a transaction, PostgreSQL gets it with the next
            statement or COMMIT, in one round trip (decision 0401).
    """

    def __init__(self, statement: Executable, *, changes: Table | None = None, is_deferred: bool = False) -> None:
        self.statement: Any = statement
        self.is_deferred = is_deferred
        self.changes = changes if changes is not None else changed_table(statement)
        self._driver_statements: dict[str, DriverStatement] = {}

    def driver_statement(self, dialect: Dialect) -> DriverStatement:
        """Return the statement for a dialect."""
        found = self._driver_statements.get(dialect.name)
        if found is None:
            compiled: Any = self.statement.compile(dialect=dialect)
            found = self._driver_statements[dialect.name] = DriverStatement(compiled, dialect)
        return found


def changed_table(statement: Executable | Compiled) -> Any:
    """Return the table that a statement changes, or None."""
    if isinstance(statement, Compiled):
        return statement.changes
    return getattr(statement, "table", None) if getattr(statement, "is_dml", False) else None


def insert_row(
    table: Table,
    *returned: ColumnElement[Any],
    computed: Mapping[str, ColumnElement[Any]] | None = None,
    where: Sequence[ColumnElement[bool]] = (),
    is_deferred: bool = False,
) -> Compiled:
    """Return the insert of one row, or of several; the parameters are the keys of its columns.

    A column without a value gets its default, or NULL if it is nullable; a column whose default is computed needs a value. The
    columns that the database computes have no parameter.

    Args:
        returned: columns that the insert of one row returns.
        computed: SQL expressions that are the values of columns: aggregates over the rows of another table with `where`, so that
            one row is inserted whether there are any or not. Citus refuses subqueries in VALUES.
        is_deferred: as in `Compiled`.
    """
    values: dict[str, ColumnElement[Any]] = {column.key: _parameter(column) for column in table.c}
    values |= computed or {}
    statement = insert(table)
    statement = (
        statement.from_select(list(values), select(*values.values()).where(*where))
        if where
        else statement.values(values)
    )
    return Compiled(statement.returning(*returned) if returned else statement, is_deferred=is_deferred)


@cache
def change_row(
    table: Table, key: tuple[str, ...], changed: frozenset[str], returned: tuple[ColumnElement[Any], ...] = ()
) -> Compiled:
    """Return the update of these columns in the row with this key; the parameters are those of `changes`."""
    where = (table.c[name] == bindparam(f"key_{name}") for name in key)
    values = {name: bindparam(f"new_{name}", type_=table.c[name].type) for name in sorted(changed)}
    statement = update(table).where(*where).values(values)
    return Compiled(statement.returning(*returned) if returned else statement)


def changes(key: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of `change_row`."""
    return {f"key_{name}": value for name, value in key.items()} | {
        f"new_{name}": value for name, value in values.items()
    }


def _parameter(column: Column[Any]) -> BindParameter[Any]:
    if isinstance(column.default, ScalarElementColumnDefault):
        return bindparam(column.key, column.default.arg, type_=column.type)
    if column.nullable and column.default is None and column.server_default is None:
        return bindparam(column.key, None, type_=column.type)
    return bindparam(column.key, type_=column.type)


_LOCK = re.compile(r"\bFOR (?:NO KEY UPDATE|UPDATE|KEY SHARE|SHARE)\b")


class DriverStatement:
    """A statement as one driver takes it.

    Args:
        values: parameters of each execution; any other parameter may keep the value that the statement was compiled with.
    """

    def __init__(self, compiled: SQLCompiler, dialect: Dialect, values: Collection[str] = ()) -> None:
        statement: Any = compiled.statement
        if compiled.post_compile_params:
            raise ValueError("an expanding parameter has no fixed SQL")
        self.sql, names = (
            (str(compiled), compiled.positiontup or ()) if compiled.positional else _numbered(str(compiled))
        )
        self.encoded = self.sql.encode()
        binds = {name: bind for bind, name in compiled.bind_names.items()}
        writers = {name: bind.type.dialect_impl(dialect).bind_processor(dialect) for name, bind in binds.items()}
        self._binds: list[tuple[str, _Processor | None]] = [(name, writers[name]) for name in names]
        self._constants: dict[str, Any] = {}
        for name, bind in binds.items():
            if name not in values and not bind.required:
                writer = writers[name] if bind.value is not None else None
                self._constants[name] = bind.value if writer is None else writer(bind.value)
        columns = list(statement.exported_columns) if hasattr(statement, "exported_columns") else []
        self.locks_rows = _LOCK.search(self.sql) is not None
        self._row = row_class(tuple(column.key for column in columns))
        readers = [column.type.dialect_impl(dialect).result_processor(dialect, None) for column in columns]
        self._from_driver = [(at, reader) for at, reader in enumerate(readers) if reader is not None]

    def parameters(self, values: Mapping[str, Any]) -> list[Any]:
        """Return parameters as the driver takes them. Raises KeyError for a missing one."""
        constants = self._constants
        return [
            constants[name] if name not in values else values[name] if to_driver is None else to_driver(values[name])
            for name, to_driver in self._binds
        ]

    def rows(self, fetched: Sequence[Sequence[Any]]) -> list[Any]:
        """Return rows of the driver with the columns' Python types."""
        make, processors = self._row._make, self._from_driver
        if not processors:
            return [make(row) for row in fetched]
        parsed_rows = []
        for row in fetched:
            values = list(row)
            for at, processor in processors:
                values[at] = processor(values[at])
            parsed_rows.append(make(values))
        return parsed_rows


_PLACE = re.compile(r"%(?:\((\w+)\)s|%)")


def _numbered(sql: str) -> tuple[str, tuple[str, ...]]:
    """Return SQL for psycopg with PostgreSQL's own places, `$1` for `%(name)s`, and their names in this order."""
    names: dict[str, int] = {}

    def place(found: re.Match[str]) -> str:
        return f"${names.setdefault(found[1], len(names) + 1)}" if found[1] else "%"

    return _PLACE.sub(place, sql), tuple(names)


def row_class(names: tuple[str, ...]) -> Any:
    """Return the class of rows with these columns. Its `_make` is that of a tuple: namedtuple's own is a function in Python."""
    base: Any = namedtuple("Row", names)  # type: ignore[misc]  # mypy wants the names in the code; the statement has them
    make: Any = classmethod(tuple.__new__)
    return type("Row", (base,), {"__slots__": (), "_mapping": property(base._asdict), "_make": make})
