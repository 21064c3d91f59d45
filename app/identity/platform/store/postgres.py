"""The way to PostgreSQL: every wait has an end, whatever has become of the server or of the network on the way to it.

The server's own timeouts end what it knows of; the ones here end the wait for a server that is stopped, frozen or cut
off, which answers nothing and closes nothing.
"""

from __future__ import annotations

from typing import Any, Final, Self

import psycopg
from psycopg.abc import RV, PQGen
from psycopg.errors import ConnectionTimeout, _WaitTimeout
from sqlalchemy import event
from sqlalchemy.engine import Engine, make_url

from app.kit import time_budget
from app.kit.clock import monotonic

HANGS_AFTER_SECONDS: Final = 1.0
"""A server that leaves a question without any answer for this long hangs, if it was not computing one."""
_ANSWER_SHARE: Final = 0.8
"""Of the time that is left, the server gets this share for a statement: its refusal then arrives before we give up."""
_IDLE_SECONDS: Final = 10
_PARAMETERS: Final[dict[str, Any]] = {
    "connect_timeout": 2,
    "application_name": "gatehouse",
    "tcp_user_timeout": 3_000,  # milliseconds that sent bytes may stay unacknowledged
    "keepalives": 1,
    "keepalives_idle": 5,
    "keepalives_interval": 2,
    "keepalives_count": 2,
}


class NoAnswer(psycopg.OperationalError):
    """The server did not answer in time; the connection is closed, as nobody knows what it would say next.

    `is_hang` tells a server that says nothing at all from one whose answer would only have come too late for the request.
    """

    is_hang = False


class BoundedConnection(psycopg.Connection[Any]):
    """A connection whose waits take their time from the request's budget."""

    patience_seconds = 30.0
    statement_seconds = HANGS_AFTER_SECONDS
    """How long the server may compute one statement of the present transaction."""

    def wait(self, gen: PQGen[RV], interval: float = 0.1, timeout: float | None = None) -> RV:
        """As the base class; raises NoAnswer where nothing came in the time that is left."""
        allowed = time_budget.remaining_seconds(self.patience_seconds)
        begun = monotonic()
        try:
            return super().wait(gen, interval, allowed if timeout is None else min(timeout, allowed))
        except _WaitTimeout:
            self.close()
            problem = NoAnswer(f"no answer in {monotonic() - begun:.1f} s")
            problem.is_hang = monotonic() - begun >= max(self.statement_seconds, HANGS_AFTER_SECONDS)
            raise problem from None
        finally:
            time_budget.spend(monotonic() - begun)

    def timeouts(self) -> str:
        """Return the expressions that give the transaction its timeouts; they end with it, so they work through PgBouncer."""
        seconds = time_budget.remaining_seconds(self.patience_seconds)
        self.statement_seconds = seconds * _ANSWER_SHARE
        computing = max(1, int(self.statement_seconds * 1000))
        idle = int(max(_IDLE_SECONDS, seconds) * 1000)
        return (
            f"set_config('statement_timeout', '{computing}', true), "
            f"set_config('idle_in_transaction_session_timeout', '{idle}', true)"
        )

    @classmethod
    def connect(cls, conninfo: str = "", **parameters: Any) -> Self:
        """As the base class; raises NoAnswer where nobody answered in `connect_timeout`."""
        try:
            with time_budget.measured():
                return super().connect(conninfo, **parameters)
        except ConnectionTimeout as silence:
            problem = NoAnswer(str(silence))
            problem.is_hang = True
            raise problem from None


def connect_parameters(url: str, *, prepares: bool = True) -> dict[str, Any]:
    """Return what the driver is told beside the address; what the address itself says wins."""
    said = make_url(url).query
    ours = {name: value for name, value in _PARAMETERS.items() if name not in said}
    return {**ours, "prepare_threshold": 3 if prepares else None}


def use_bounded_connections(engine: Engine, patience_seconds: float) -> None:
    """Make the engine's connections bounded ones."""

    @event.listens_for(engine, "do_connect")
    def connect(_dialect: Any, _record: Any, given: Any, named: Any) -> BoundedConnection:
        made = BoundedConnection.connect(*given, **named)
        made.patience_seconds = patience_seconds
        return made
