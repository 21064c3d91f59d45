"""Statements that go to PostgreSQL together: sent at once, awaited once, received at once (decision 0303).

psycopg's cursors send and wait for each statement of a pipeline on its own, which costs several times what libpq does. This uses
the interface to libpq beneath them, `psycopg.pq`, and their conversion of values and rows, `psycopg.adapt.Transformer`.
"""

from __future__ import annotations

import select
from collections.abc import Sequence
from itertools import count
from typing import Any, Final, NamedTuple

import psycopg
from psycopg.adapt import PyFormat, Transformer
from psycopg.errors import InvalidSqlStatementName, error_from_result
from psycopg.pq import ConnStatus, ExecStatus
from psycopg.pq.abc import PGresult

from app.kit.clock import monotonic
from app.kit.limits import time_budget

MAX_PREPARED: Final = 200
"""Prepared statements of one connection; others are parsed each time."""
_SYNC: Final = ExecStatus.PIPELINE_SYNC
_DONE: Final = frozenset({ExecStatus.COMMAND_OK, ExecStatus.TUPLES_OK})


_Key = tuple[bytes, tuple[int, ...]]
"""SQL, and the types of its parameters."""
_Prepared = tuple[_Key, bytes]


class Statement(NamedTuple):
    """SQL with its parameters as `$1`, `$2`, …"""

    sql: bytes
    values: Sequence[Any] = ()
    is_prepared: bool = True
    """False where each execution has another text."""


class Overdue(Exception):
    """The server did not answer in time."""


class Pipelines:
    """The pipelines of one connection.

    Args:
        prepares: whether statements are prepared; not where a pooler knows none.
    """

    def __init__(self, connection: psycopg.Connection[Any], *, prepares: bool) -> None:
        self._connection = connection
        self._server = connection.pgconn
        self._values = Transformer(connection)
        self._readable, self._usable = select.poll(), select.poll()
        self._readable.register(connection.fileno(), select.POLLIN)
        self._usable.register(connection.fileno(), select.POLLIN | select.POLLOUT)
        self._prepares = prepares
        self._names: dict[_Key, bytes] = {}
        self._numbers = count()

    def run(self, statements: Sequence[Statement], within_seconds: float) -> list[PGresult]:
        """Execute statements and return their results; without `BEGIN`, they are a transaction of their own.

        The first that fails is raised, and what follows it is not executed. Where the answer is not read to its end, the
        connection is closed, because its state is unknown.

        Raises:
            psycopg.Error: the server refused a statement, or the connection is lost.
            Overdue: it sent nothing for so long.
        """
        written = [
            (statement.sql, *self._written(statement.values), statement.is_prepared) for statement in statements
        ]  # raises before anything is sent
        started = monotonic()
        try:
            self._server.enter_pipeline_mode()
            sent = self._send(written)
            self._server.pipeline_sync()
            results = self._received(started + within_seconds)
            self._server.exit_pipeline_mode()
        except BaseException:
            self._connection.close()
            raise
        finally:
            time_budget.subtract(monotonic() - started)
        return self._checked(sent, results)

    def rows(self, result: PGresult) -> list[tuple[Any, ...]]:
        """Return the rows of a result."""
        self._values.set_pgresult(result)
        return self._values.load_rows(0, result.ntuples, tuple)

    def _written(self, values: Sequence[Any]) -> tuple[Any, Any, Any]:
        """Return values, types and formats as libpq takes them. Raises psycopg.Error for a value that PostgreSQL has not."""
        if not values:
            return (), (), ()
        written = self._values.dump_sequence(values, [PyFormat.AUTO] * len(values))
        return written, self._values.types, self._values.formats

    def _send(self, written: list[tuple[bytes, Any, Any, Any, bool]]) -> list[_Prepared | None]:
        """Send statements; return for each result the name that it prepares, or None for an execution."""
        sent: list[_Prepared | None] = []
        new: dict[_Key, bytes] = {}
        for sql, values, types, formats, is_prepared in written:
            key = (sql, types)
            name = self._names.get(key) or new.get(key)
            if name is None and is_prepared and self._prepares and len(self._names) < MAX_PREPARED:
                name = new[key] = b"gatehouse_%d" % next(self._numbers)
                self._server.send_prepare(name, sql, types)
                sent.append((key, name))
            if name is None:
                self._server.send_query_params(sql, values, types, formats)
            else:
                self._server.send_query_prepared(name, values, formats)
            sent.append(None)
        return sent

    def _received(self, ends_at: float) -> list[PGresult]:
        """Return all results before the end of the pipeline. Raises what `run` raises where the connection is lost."""
        server = self._server
        results: list[PGresult] = []
        while server.flush():  # more than the socket takes at once: the server may wait until its answers are read
            _wait(self._usable, ends_at)
            server.consume_input()
        try:
            while True:
                while server.is_busy():
                    _wait(self._readable, ends_at)
                    server.consume_input()
                result = server.get_result()
                if result is not None and result.status == _SYNC:
                    return results
                if result is not None:
                    results.append(result)
                elif server.status == ConnStatus.BAD:
                    raise psycopg.OperationalError("the connection is lost")  # noqa: TRY301 - as `consume_input` does
        except psycopg.OperationalError:
            for result in results:
                self._succeeded(result)  # else it says why the server has hung up
            raise

    def _checked(self, sent: list[_Prepared | None], results: list[PGresult]) -> list[PGresult]:
        """Return the results of the statements, and keep the names of prepared ones, which a rollback does not undo."""
        checked = []
        for prepared, result in zip(sent, results, strict=True):
            self._succeeded(result)
            if prepared is None:
                checked.append(result)
            else:
                key, name = prepared
                self._names[key] = name
        return checked

    def _succeeded(self, result: PGresult) -> PGresult:
        if result.status in _DONE:
            return result
        error = error_from_result(result)
        if isinstance(error, InvalidSqlStatementName):
            self._connection.close()  # its prepared statements were deallocated
        raise error


def _wait(poll: select.poll, ends_at: float) -> None:
    if not poll.poll(max(0.0, ends_at - monotonic()) * 1000):
        raise Overdue
