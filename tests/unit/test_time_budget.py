"""Time budgets of requests, and when the circuit of a dependency opens and stays closed."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextvars import copy_context
from typing import Any

import pytest
from sqlalchemy import bindparam, func, select, text

from app.identity.platform.store.compiled import Compiled
from app.identity.platform.store.database import Database, StoreUnavailable
from app.identity.platform.store.unit import UnitOfWork
from app.kit import time_budget
from tests.support.servers import Postgres

on_postgres = pytest.mark.parametrize("own_database", ["postgres"], indirect=True)


def within(seconds: float, work: Callable[[], Any]) -> Any:
    """Run the work as a request with this time budget."""

    def request() -> Any:
        time_budget.begin(seconds)
        return work()

    return copy_context().run(request)


def ask(database: Database, *statements: str) -> Any:
    work = UnitOfWork(database, "tenant")
    try:
        return [work.run(text(statement)).scalar_one() for statement in statements][-1]
    finally:
        work.rollback()


@on_postgres
def test_slow_statement_is_cancelled_by_the_server(own_database: Database) -> None:
    backend = ask(own_database, "SELECT pg_backend_pid()")
    with pytest.raises(StoreUnavailable, match="statement timeout"):
        within(1.0, lambda: ask(own_database, "SELECT pg_sleep(60)"))
    assert ask(own_database, "SELECT pg_backend_pid()") == backend, "a connection was given up for no reason"


@on_postgres
def test_slow_first_statement_is_cancelled_too(own_database: Database) -> None:
    """It runs in one round trip with the setting of its timeout."""
    work = UnitOfWork(own_database, "tenant")
    with pytest.raises(StoreUnavailable, match="statement timeout"):
        within(
            1.0, lambda: work.one(Compiled(select(func.pg_sleep(bindparam("seconds")).label("slept"))), {"seconds": 60})
        )
    work.rollback()
    assert ask(own_database, "SELECT 1") == 1


@on_postgres
def test_slow_statements_of_a_tenant_block_no_other(own_database: Database) -> None:
    slow = ("SELECT pg_sleep(0.7)", "SELECT pg_sleep(0.7)", "SELECT pg_sleep(0.7)")
    with pytest.raises(StoreUnavailable):
        within(1.2, lambda: ask(own_database, *slow))
    assert within(1.2, lambda: ask(own_database, "SELECT 1")) == 1


@on_postgres
def test_timeouts_end_with_their_transaction(own_database: Database) -> None:
    assert within(2.5, lambda: ask(own_database, "SHOW statement_timeout")) != "0"
    with own_database.connect() as connection:
        assert connection.execute(text("SHOW statement_timeout")).scalar() == "0"


@on_postgres
def test_wait_for_a_lock_ends_within_the_budget(own_database: Database) -> None:
    holder = UnitOfWork(own_database, "tenant")
    holder.run(text("LOCK TABLE tenants IN ACCESS EXCLUSIVE MODE"))
    with pytest.raises(StoreUnavailable):
        within(1.0, lambda: ask(own_database, "SELECT count(*) FROM tenants"))
    holder.rollback()
    assert within(1.0, lambda: ask(own_database, "SELECT count(*) FROM tenants")) == 0


def test_hanging_server_is_waited_for_once(own_postgres: Postgres) -> None:
    database = Database(own_postgres.database("hanging").runtime_url.replace("postgresql:", "postgresql+psycopg:"))
    assert ask(database, "SELECT 1") == 1
    own_postgres.freeze()
    begun = time.monotonic()
    with pytest.raises(StoreUnavailable):
        within(1.5, lambda: ask(database, "SELECT 1"))
    assert time.monotonic() - begun < 20
    with pytest.raises(StoreUnavailable, match="recently"):
        within(1.5, lambda: ask(database, "SELECT 1"))
    own_postgres.thaw()
    time.sleep(time_budget.RETRY_SECONDS)
    assert within(1.5, lambda: ask(database, "SELECT 1")) == 1
    database.dispose()


def test_open_circuit_admits_one_trial() -> None:
    circuit = time_budget.CircuitBreaker()
    assert circuit.admit() is False
    circuit.record_timeout()
    with pytest.raises(time_budget.CircuitOpen):
        circuit.admit()
    time.sleep(time_budget.RETRY_SECONDS)
    assert circuit.admit() is True
    with pytest.raises(time_budget.CircuitOpen):
        circuit.admit()
    circuit.record_answer()
    assert circuit.admit() is False


def test_only_waits_count_against_the_budget() -> None:
    def request() -> tuple[float, float]:
        time_budget.begin(1.0)
        time.sleep(0.05)
        untouched = time_budget.remaining_seconds(9.0)
        with time_budget.Measured():
            time.sleep(0.05)
        return untouched, time_budget.remaining_seconds(9.0)

    untouched, after = copy_context().run(request)
    assert (untouched, after <= 0.95) == (1.0, True)
    assert time_budget.remaining_seconds(9.0) == 9.0
