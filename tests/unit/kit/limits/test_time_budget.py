"""Time budgets of requests, and when the circuit of a dependency opens and stays closed."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextvars import copy_context
from typing import Any

import pytest
from sqlalchemy import bindparam, func, select, text

from app.identity.platform.store.compiled_statements import Compiled
from app.identity.platform.store.database import Database, StoreUnavailable
from app.identity.platform.store.unit_of_work import UnitOfWork
from app.kit.limits import time_budget
from tests.support.processes.installation import eventually
from tests.support.services.servers import Postgres

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
    eventually(lambda: not database.is_hanging)
    assert within(1.5, lambda: ask(database, "SELECT 1")) == 1
    database.dispose()


def test_open_circuit_refuses_until_a_probe_is_answered() -> None:
    hangs, probes = threading.Event(), []

    def probe() -> None:
        probes.append(threading.current_thread().name)
        if not hangs.is_set():
            raise TimeoutError

    circuit = time_budget.CircuitBreaker(probe)
    circuit.admit()
    circuit.record_timeout()
    for _ in range(3):
        circuit.record_timeout()
        with pytest.raises(time_budget.CircuitOpen):
            circuit.admit()
    eventually(lambda: len(probes) >= 2)
    with pytest.raises(time_budget.CircuitOpen):
        circuit.admit()
    hangs.set()
    eventually(lambda: not circuit.is_open)
    circuit.admit()
    assert set(probes) == {"probe"}, "a caller has waited for the dependency"


def test_doubt_opens_the_circuit_of_what_hangs_alone() -> None:
    answers, probed = True, threading.Event()

    def probe() -> None:
        probed.set()
        if not answers:
            raise TimeoutError

    circuit = time_budget.CircuitBreaker(probe)
    circuit.record_doubt()
    assert probed.wait(30)
    eventually(lambda: not circuit._is_watched)
    circuit.admit()
    answers = False
    circuit.record_doubt()
    eventually(lambda: circuit.is_open)
    answers = True
    eventually(lambda: not circuit.is_open)


@on_postgres
def test_wait_for_a_connection_ends_with_the_budget(own_database: Database) -> None:
    stored = [own_database.connect() for _ in range(40)]
    begun = time.monotonic()
    with pytest.raises(StoreUnavailable, match="in use"):
        within(0.2, lambda: ask(own_database, "SELECT 1"))
    assert time.monotonic() - begun < 1.5
    for connection in stored:
        connection.close()
    assert within(1.0, lambda: ask(own_database, "SELECT 1")) == 1


def test_connecting_ends_with_the_budget(own_postgres: Postgres) -> None:
    database = Database(own_postgres.database("slow").runtime_url.replace("postgresql:", "postgresql+psycopg:"))
    own_postgres.freeze()
    begun = time.monotonic()
    with pytest.raises(StoreUnavailable):
        within(0.3, lambda: ask(database, "SELECT 1"))
    took = time.monotonic() - begun
    own_postgres.thaw()
    assert took < 1.5, "psycopg waits for at least two seconds"
    database.dispose()


def test_nested_waits_count_once() -> None:
    def request() -> float:
        time_budget.begin(1.0)
        with time_budget.Measured(), time_budget.Measured():
            time.sleep(0.1)
        return time_budget.remaining_seconds(9.0)

    assert 0.5 < copy_context().run(request) <= 0.9


def test_part_of_the_budget_is_taken_from_the_whole() -> None:
    def request() -> tuple[float, float]:
        time_budget.begin(1.0)
        with time_budget.at_most(0.3):
            within_part = time_budget.remaining_seconds(9.0)
            time_budget.subtract(0.2)
        return within_part, time_budget.remaining_seconds(9.0)

    part, complete = copy_context().run(request)
    assert (part, round(complete, 3)) == (0.3, 0.8)


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
