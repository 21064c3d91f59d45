"""PostgreSQL connections whose every wait has a timeout, even if the server or the network hangs.

Server-side timeouts end slow statements; the client-side ones here end the wait for a server that is stopped, frozen or
unreachable and therefore neither responds nor closes the connection.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any, Final, Self, cast

import psycopg
from psycopg.abc import RV, PQGen, PQGenConn
from psycopg.errors import ConnectionTimeout, InFailedSqlTransaction, _WaitTimeout
from psycopg.pq.abc import PGresult
from sqlalchemy import event
from sqlalchemy.engine import Engine, make_url

from app.identity.platform.store.distribution import HAS_CITUS
from app.identity.platform.store.first_statement import FirstStatement
from app.identity.platform.store.pipeline import Overdue, Pipelines, Statement
from app.kit.clock import monotonic
from app.kit.limits import time_budget
from app.settings import SettingsError

HANGS_AFTER_SECONDS: Final = 1.0
"""A server that sends nothing for this long counts as hanging, unless it may be executing a statement."""
_ANSWER_SHARE: Final = 0.8
"""The share of the remaining time that becomes `statement_timeout`, so that its error arrives before we give up."""
_IDLE_SECONDS: Final = 10
_SETTINGS: Final = b"""SELECT set_config('gatehouse.tenant', $1, true), set_config('statement_timeout', $2, true),
set_config('idle_in_transaction_session_timeout', $3, true)"""
"""Sets values that last until the transaction ends; local settings also work through PgBouncer."""
_BEGIN: Final = Statement(b"BEGIN")
_COMMIT: Final = Statement(b"COMMIT")
_ROLLBACK: Final = Statement(b"ROLLBACK")
_HAS_CITUS: Final = Statement(HAS_CITUS.encode(), is_prepared=False)
_PARAMETERS: Final[dict[str, Any]] = {
    "connect_timeout": 2,
    "application_name": "gatehouse",
    "client_encoding": "UTF8",  # whatever the role, the database or PGCLIENTENCODING set
    "tcp_user_timeout": 3_000,  # milliseconds that sent bytes may stay unacknowledged
    "keepalives": 1,
    "keepalives_idle": 5,
    "keepalives_interval": 2,
    "keepalives_count": 2,
}


class NoAnswer(psycopg.OperationalError):
    """The server did not respond in time. The connection is closed, because its state is unknown.

    `is_hang` distinguishes a silent server from a server that is only too slow for this request.
    """

    is_hang = False


class BoundedConnection(psycopg.Connection[Any]):
    """A connection whose waits are limited by the request's time budget."""

    patience_seconds = 30.0
    statement_seconds = HANGS_AFTER_SECONDS
    """The `statement_timeout` of the current transaction, in seconds."""
    is_distributed = False
    """Whether Citus distributes the tables: its nodes learn the tenant from a SET in an open transaction only."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._deferred: list[Statement] = []

    def wait(self, gen: PQGen[RV], interval: float = 0.1, timeout: float | None = None) -> RV:
        """As the base class; raises NoAnswer if nothing arrives in the remaining time."""
        allowed = time_budget.remaining_seconds(self.patience_seconds)
        started = monotonic()
        try:
            return super().wait(gen, interval, allowed if timeout is None else min(timeout, allowed))
        except _WaitTimeout:
            self.close()
            raise self._no_answer(started) from None
        finally:
            time_budget.subtract(monotonic() - started)

    def recognize_citus(self) -> None:
        """Set `is_distributed`. Raises psycopg.Error."""
        self.is_distributed = self._together(_HAS_CITUS)[0].ntuples > 0

    def begin(self, tenant_id: str) -> None:
        """Begin a transaction of the tenant, with its timeouts."""
        self._transact((), FirstStatement(tenant_id, begins=True))

    def command(self, sql: str) -> None:
        """Execute a statement without parameters and rows."""
        self._together(Statement(sql.encode()))

    def set_tenant(self, tenant_id: str) -> None:
        """Continue the transaction as another tenant."""
        self._together(_tenant(tenant_id))

    def end(self, sql: str) -> None:
        """Commit or roll back. Raises psycopg.Error, also where the server rolls back instead, because a statement had failed."""
        if sql == "ROLLBACK":
            self._deferred = []
        result = self._together(Statement(sql.encode()))[-1]
        if result.command_status != sql.encode():
            raise InFailedSqlTransaction("a statement had failed, so the transaction was rolled back")

    def rows(
        self, sql: bytes, values: Sequence[Any], first: FirstStatement | None = None
    ) -> tuple[list[tuple[Any, ...]], int]:
        """Execute a statement; return its rows, and how many it returned or changed.

        Args:
            first: what begins the transaction with it, in one round trip.
        """
        (result,) = self._transact((Statement(sql, values),), first)
        return self._pipelines.rows(result), result.command_tuples or 0

    def change_many(self, sql: bytes, rows: Iterable[Sequence[Any]], first: FirstStatement | None = None) -> int:
        """Execute a statement that returns no rows with each of these values, in one round trip; return how many rows it changed."""
        results = self._transact([Statement(sql, values) for values in rows], first)
        return sum(result.command_tuples or 0 for result in results)

    def defer(self, sql: bytes, rows: Iterable[Sequence[Any]]) -> None:
        """Execute a statement that returns no rows with each of these values, with the next statement of the transaction or its end."""
        self._deferred += [Statement(sql, values) for values in rows]

    def execute_deferred(self) -> None:
        """Execute what is deferred."""
        if self._deferred:
            self._together()

    def _transact(self, statements: Sequence[Statement], first: FirstStatement | None) -> list[PGresult]:
        """Execute statements with what begins their transaction; without `begins`, they are a transaction of their own."""
        if first is None:
            return self._together(*statements)
        before = [self._settings(first.tenant_id)]
        if self.is_distributed:
            before = [_BEGIN, _tenant(first.tenant_id), *before]
        elif first.begins:
            before = [_BEGIN, *before]
        if first.begins or not self.is_distributed:
            return self._together(*before, *statements)[len(before) :]
        try:
            return self._together(*before, *statements, _COMMIT)[len(before) : -1]
        except psycopg.Error:
            if not self.closed:
                self._together(_ROLLBACK)
            raise

    def _settings(self, tenant_id: str) -> Statement:
        seconds = time_budget.remaining_seconds(self.patience_seconds)
        self.statement_seconds = seconds * _ANSWER_SHARE
        statement_ms = max(1, int(self.statement_seconds * 1000))
        idle_ms = int(max(_IDLE_SECONDS, seconds) * 1000)
        return Statement(_SETTINGS, (tenant_id, str(statement_ms), str(idle_ms)))

    def _together(self, *statements: Statement) -> list[PGresult]:
        started, deferred = monotonic(), self._deferred
        try:
            within_seconds = time_budget.remaining_seconds(self.patience_seconds)
            results = self._pipelines.run((*deferred, *statements) if deferred else statements, within_seconds)
        except Overdue:
            raise self._no_answer(started) from None
        if not deferred:
            return results
        self._deferred = []  # not after an error: else a COMMIT could succeed without them
        return results[len(deferred) :]

    @cached_property
    def _pipelines(self) -> Pipelines:
        return Pipelines(self, prepares=self.prepare_threshold is not None)

    def _no_answer(self, started: float) -> NoAnswer:
        waited_seconds = monotonic() - started
        problem = NoAnswer(f"no answer in {waited_seconds:.1f} s")
        # the coordinator of Citus may wait for one node while it answers others; a probe tells
        problem.is_hang = not self.is_distributed and waited_seconds >= max(self.statement_seconds, HANGS_AFTER_SECONDS)
        return problem

    @classmethod
    def connect(cls, conninfo: str = "", **parameters: Any) -> Self:
        """As the base class; raises NoAnswer if the server does not respond within `connect_timeout` and the remaining time."""
        started = monotonic()
        try:
            with time_budget.Measured():
                return super().connect(conninfo, **parameters)
        except ConnectionTimeout as timeout:
            problem = NoAnswer(str(timeout))
            problem.is_hang = monotonic() - started >= HANGS_AFTER_SECONDS
            raise problem from None

    @classmethod
    def _connect_gen(cls, conninfo: str = "") -> PQGenConn[Self]:
        """As the base class, which is asked ten times a second while nothing happens; ends with the request's time budget."""
        ends_at = monotonic() + time_budget.remaining_seconds(cls.patience_seconds)
        connecting = super()._connect_gen(conninfo)
        state: Any = None
        while True:
            try:
                waited_for = connecting.send(state)
            except StopIteration as done:
                return cast(Self, done.value)
            state = yield waited_for
            if monotonic() >= ends_at:
                raise ConnectionTimeout("the request has used up its time for the database")


def _tenant(tenant_id: str) -> Statement:
    """Return the setting of the tenant as Citus passes it on; the caller has checked the id."""
    return Statement(b"SET LOCAL gatehouse.tenant = '%b'" % tenant_id.encode(), is_prepared=False)


def connect_parameters(url: str, *, prepares: bool = True) -> dict[str, Any]:
    """Return the driver's connection parameters; those in the URL take precedence."""
    in_url = make_url(url).query
    defaults = {name: value for name, value in _PARAMETERS.items() if name not in in_url}
    return {**defaults, "prepare_threshold": 3 if prepares else None}


def use_bounded_connections(engine: Engine, patience_seconds: float) -> None:
    """Make the engine open BoundedConnections."""

    @event.listens_for(engine, "do_connect")
    def connect(_dialect: Any, _record: Any, args: Any, kwargs: Any) -> BoundedConnection:
        connection = BoundedConnection.connect(*args, **kwargs)
        require_readable(connection)
        connection.patience_seconds = patience_seconds
        connection.recognize_citus()
        return connection


def require_readable(connection: psycopg.Connection[Any]) -> None:
    """Raise SettingsError for a database that cannot store every name, or writes times as the driver cannot read."""
    encoding, style = (connection.info.parameter_status(name) for name in ("server_encoding", "DateStyle"))
    name = connection.info.dbname
    problem = None
    if encoding not in (None, "UTF8"):
        problem = (
            f"The database {name!r} has the encoding {encoding}, but names need UTF8. "
            f"Create it with: createdb --encoding UTF8 --template template0 {name}"
        )
    elif style is not None and not style.startswith("ISO"):
        problem = (
            f"The database {name!r} has DateStyle {style!r}. Set it: ALTER DATABASE \"{name}\" SET DateStyle = 'ISO'"
        )
    if problem:
        connection.close()
        raise SettingsError(problem)
