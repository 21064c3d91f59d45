"""Statements that go to PostgreSQL together: no tenant, no answer and no transaction reaches the next unit of work."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from time import sleep
from typing import Any

import pytest
from psycopg import OperationalError
from psycopg.errors import InFailedSqlTransaction
from psycopg.pq import PipelineStatus, TransactionStatus
from sqlalchemy import String, bindparam, cast, func, literal, select, text
from sqlalchemy.exc import DBAPIError, IntegrityError

from app.identity.platform.continuation_tokens import token_table
from app.identity.platform.store import pipeline
from app.identity.platform.store.compiled_statements import Compiled, Rows, insert_row
from app.identity.platform.store.database import Database, StoreContended, StoreUnavailable
from app.identity.platform.store.unit_of_work import UnitOfWork
from app.kit.limits import time_budget
from tests.support.database.continuation_rows import ADD, KEY, row

pytestmark = pytest.mark.parametrize("own_database", ["postgres"], indirect=True)
ADD_LATER = insert_row(token_table, is_deferred=True)
READ = Compiled(select(token_table).where(*KEY))
ALL = Compiled(select(token_table.c.tenant_id))
READ_EACH = Compiled(select(token_table.c.token_hash, token_table.c.facts))
TENANT = "SELECT current_setting('gatehouse.tenant', true)"
ECHO = Compiled(select(cast(bindparam("word"), String).label("word")))
SLOW = Compiled(select(func.pg_sleep(20).label("nothing")))
BROKEN = Compiled(select((literal(1) / func.length(cast(bindparam("word"), String))).label("share")))
"""Divides by zero for an empty word."""


def driver(work: UnitOfWork) -> Any:
    borrowed = work._borrowed
    assert borrowed is not None
    return borrowed.driver


def forgotten(connection: Any) -> bool:
    """Whether the connection has no tenant, no transaction and no pipeline."""
    status = connection.info.transaction_status, connection.pgconn.pipeline_status
    is_idle = status == (TransactionStatus.IDLE, PipelineStatus.OFF)
    return is_idle and not connection.execute(TENANT).fetchone()[0]


def record_round_trips(pipelines: Any) -> list[int]:
    """Return a list that gets the number of statements of each round trip from now on."""
    sent: list[int] = []
    run = pipelines.run

    def record(statements: Any, within_seconds: float) -> Any:
        sent.append(len(statements))
        return run(statements, within_seconds)

    pipelines.run = record
    return sent


def ends() -> list[Callable[[UnitOfWork], object]]:
    def broken_write(work: UnitOfWork) -> None:
        work.begin()
        with pytest.raises(DBAPIError):
            work.one(BROKEN, {"word": ""})
        work.rollback()

    def broken_read(work: UnitOfWork) -> None:
        with pytest.raises(DBAPIError):
            work.one(BROKEN, {"word": ""})

    def impossible_value(work: UnitOfWork) -> None:
        with pytest.raises(DBAPIError):
            work.one(ECHO, {"word": "a\0b"})

    def write(work: UnitOfWork) -> None:
        work.run(ADD, row())
        work.commit()

    def write_taken_back(work: UnitOfWork) -> None:
        work.run(ADD, [row("two"), row("three")])
        work.rollback()

    def read_by_sqlalchemy(work: UnitOfWork) -> None:
        work.one(text("SELECT 1"))
        work.rollback()

    return [broken_write, broken_read, impossible_value, write, write_taken_back, read_by_sqlalchemy]


@pytest.mark.parametrize("end", ends(), ids=lambda item: item.__name__)
def test_connection_comes_back_without_tenant(own_database: Database, end: Callable[[UnitOfWork], object]) -> None:
    work = UnitOfWork(own_database, "acme")
    assert work.all(ALL) == []
    connection = driver(work)
    assert forgotten(connection)
    end(work)
    assert forgotten(connection)
    work.rollback()
    other = UnitOfWork(own_database, "other")
    assert other.all(ALL) == []
    assert driver(other) is connection
    other.rollback()


def test_tenant_that_is_refused_reads_nothing(own_database: Database) -> None:
    work = UnitOfWork(own_database, "acme")
    work.run(ADD, row())
    work.commit()
    assert len(work.all(ALL)) == 1
    work.tenant_id = "ac\0me"
    with pytest.raises(DBAPIError):
        work.all(ALL)
    work.tenant_id = "acme"
    connection = driver(work)
    connection._settings = lambda _tenant: pipeline.Statement(
        b"SELECT set_config('gatehouse.tenant', $1, 1/0 = 0)", ("acme",)
    )
    with pytest.raises(DBAPIError):
        work.all(ALL)
    del connection._settings
    assert len(work.all(ALL)) == 1
    work.rollback()


def test_late_answer_reaches_no_other_unit(own_database: Database) -> None:
    """The connection that still owes one is closed."""
    work = UnitOfWork(own_database, "acme")
    assert work.one(ECHO, {"word": "first"}) == ("first",)
    work.begin()
    assert work.one(ECHO, {"word": "mine"}) == ("mine",)
    expired = driver(work)
    expired.patience_seconds = 0.05
    with pytest.raises(StoreUnavailable, match="no answer"):
        work.one(SLOW)
    assert expired.closed
    work.rollback()
    other = UnitOfWork(own_database, "other")
    assert other.one(ECHO, {"word": "second"}) == ("second",)
    other.rollback()


@pytest.mark.parametrize("problem", [KeyboardInterrupt, MemoryError])
def test_interrupted_answer_reaches_no_other_unit(
    own_database: Database, problem: type[BaseException], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise problem

    work = UnitOfWork(own_database, "acme")
    assert work.one(ECHO, {"word": "first"}) == ("first",)
    connection = driver(work)
    with monkeypatch.context() as patch:
        patch.setattr(pipeline, "_wait", interrupted)
        with pytest.raises(problem):
            work.one(ECHO, {"word": "mine"})
    work.rollback()
    assert connection.closed
    other = UnitOfWork(own_database, "other")
    assert other.one(ECHO, {"word": "second"}) == ("second",)
    other.rollback()


def test_prepared_statements_outlive_rollbacks_and_failures(own_database: Database) -> None:
    work = UnitOfWork(own_database, "acme")
    work.run(ADD, row())
    work.commit()
    for _ in range(3):
        with pytest.raises(IntegrityError):
            work.run(ADD, row())
        work.rollback()
    assert work.one(READ, {"tenant": "acme", "hash": "one"}) is not None
    prepared = driver(work).execute("SELECT count(*), count(DISTINCT statement) FROM pg_prepared_statements").fetchone()
    assert prepared[0] == prepared[1]
    work.rollback()


def test_statement_that_another_deallocated_is_prepared_anew(own_database: Database) -> None:
    work = UnitOfWork(own_database, "acme")
    assert work.one(ECHO, {"word": "first"}) == ("first",)
    driver(work).execute("DEALLOCATE ALL")
    assert work.one(ECHO, {"word": "second"}) == ("second",)
    work.rollback()


def test_number_of_prepared_statements_is_bounded(own_database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pipeline, "MAX_PREPARED", 3)
    work = UnitOfWork(own_database, "acme")
    for number in range(6):
        assert work.one(Compiled(select(literal(number).label(f"n{number}")))) == (number,)
    assert driver(work).execute("SELECT count(*) FROM pg_prepared_statements").fetchone()[0] == 3
    work.rollback()


def test_more_than_the_sockets_take_is_written_and_read(own_database: Database) -> None:
    work = UnitOfWork(own_database, "acme")
    rows = [row(f"row {number}", facts={"long": "é" * 500}) for number in range(10_000)]
    assert work.changed(ADD, rows) == len(rows)
    assert len(work.all(READ_EACH)) == len(rows)
    work.rollback()
    work.begin()
    taken = [*rows, row("row 3")]
    with pytest.raises(IntegrityError):
        work.run(ADD, taken)
    work.rollback()
    assert work.all(ALL) == []


def test_reason_of_a_server_that_hangs_up_is_reported(own_database: Database) -> None:
    work = UnitOfWork(own_database, "acme")
    work.begin()
    assert work.one(ECHO, {"word": "first"}) == ("first",)
    connection = driver(work)
    with pytest.raises(StoreUnavailable, match="terminating connection"):
        work.one(Compiled(select(func.pg_terminate_backend(func.pg_backend_pid()).label("done"))))
    assert connection.closed
    with pytest.raises(OperationalError):
        connection.command("COMMIT")
    work.rollback()
    assert work.one(ECHO, {"word": "second"}) == ("second",)
    work.rollback()


def test_transaction_ended_for_idling_is_unavailable(own_database: Database) -> None:
    """A thread that gets no CPU for long finds its transaction ended by the server."""
    work = UnitOfWork(own_database, "acme")
    work.begin()
    work.one(ECHO, {"word": "zero"})
    driver(work).command("SET LOCAL idle_in_transaction_session_timeout = 20")
    sleep(0.3)
    with pytest.raises(StoreUnavailable, match="idle-in-transaction"):
        work.one(ECHO, {"word": "first"})
    work.rollback()
    assert work.one(ECHO, {"word": "second"}) == ("second",)
    work.rollback()


def test_failed_transaction_is_never_taken_for_committed(own_database: Database) -> None:
    work = UnitOfWork(own_database, "acme")
    work.run(ADD, row())
    with pytest.raises(IntegrityError):
        work.run(ADD, row())
    with pytest.raises(InFailedSqlTransaction):
        driver(work).end("COMMIT")
    work.rollback()
    assert work.all(ALL) == []
    work.rollback()


def test_lost_transaction_goes_on_over_no_other_connection(own_database: Database) -> None:
    work = UnitOfWork(own_database, "acme")
    work.run(ADD, row())
    with pytest.raises(StoreUnavailable):
        work.one(Compiled(select(func.pg_terminate_backend(func.pg_backend_pid()).label("done"))))
    with pytest.raises(StoreUnavailable):
        work.one(ECHO, {"word": "more"})
    with pytest.raises(StoreUnavailable, match="lost within the transaction"):
        work.one(text(TENANT))
    with pytest.raises(StoreUnavailable):
        work.commit()
    assert work.all(ALL) == []
    work.rollback()


def test_percent_sign_and_repeated_name_keep_their_meaning(own_database: Database) -> None:
    word = cast(bindparam("word"), String)
    twice = Compiled(
        select(word.label("a"), (word + "%").label("b"), literal("50 %s").label("c")).where(word.like("%"))
    )
    work = UnitOfWork(own_database, "acme")
    assert work.one(twice, {"word": "x%(y)s"}) == ("x%(y)s", "x%(y)s%", "50 %s")
    work.rollback()


def test_time_that_a_request_waits_is_taken_from_its_budget(own_database: Database) -> None:
    def left_seconds() -> float:
        time_budget.begin(5)
        work = UnitOfWork(own_database, "acme")
        work.one(Compiled(select(func.pg_sleep(0.2).label("nothing"))))
        work.rollback()
        return time_budget.remaining_seconds(9)

    assert copy_context().run(left_seconds) <= 4.8


@pytest.mark.parametrize("read", [ALL, select(token_table.c.tenant_id)], ids=["compiled", "built"])
def test_deferred_insert_precedes_next_statement(own_database: Database, read: Any) -> None:
    work = UnitOfWork(own_database, "acme")
    work.run(ADD, row())
    assert work.run(ADD_LATER, row("two")) == Rows([], 1)
    assert work.run(ADD_LATER, [row("three"), row("four")]) == Rows([], 2)
    assert len(work.all(read)) == 4
    work.rollback()
    assert work.all(read) == []
    work.rollback()


def test_deferred_inserts_and_commit_are_one_round_trip(own_database: Database) -> None:
    work = UnitOfWork(own_database, "acme")
    work.run(ADD_LATER, row())
    sent = record_round_trips(driver(work)._pipelines)
    work.run(ADD_LATER, row("two"))
    work.run(ADD_LATER, row("three"))
    assert sent == []
    work.commit()
    assert sent == [3]
    assert len(work.all(ALL)) == 3
    work.rollback()


@pytest.mark.parametrize(("end", "statements"), [("rollback", 1), ("commit", 2)])
def test_deferred_insert_reaches_no_other_unit(own_database: Database, end: str, statements: int) -> None:
    work = UnitOfWork(own_database, "acme")
    work.run(ADD, row())
    connection = driver(work)
    work.run(ADD_LATER, row("two"))
    sent = record_round_trips(connection._pipelines)
    getattr(work, end)()
    assert sent == [statements]
    assert connection._deferred == []
    assert forgotten(connection)


def test_refused_deferred_insert_fails_every_commit(own_database: Database) -> None:
    work = UnitOfWork(own_database, "acme")
    work.run(ADD, row())
    work.run(ADD_LATER, row())
    with pytest.raises(IntegrityError):
        work.all(ALL)
    with pytest.raises(StoreUnavailable):
        work.commit()
    assert UnitOfWork(own_database, "acme").all(ALL) == []


def test_deadlock_at_commit_lets_the_request_run_again(own_database: Database) -> None:
    """The deferred insert of each transaction waits for the row of the other."""
    works = {name: UnitOfWork(own_database, "acme") for name in ("one", "two")}
    for name, work in works.items():
        work.run(ADD, row(name))
        work.run(ADD_LATER, row("two" if name == "one" else "one"))

    def commit(work: UnitOfWork) -> Exception | None:
        try:
            work.commit()
        except StoreUnavailable as problem:
            work.rollback()
            return problem
        return None

    with ThreadPoolExecutor(2) as threads:
        refused = [problem for problem in threads.map(commit, works.values()) if problem is not None]
    assert [type(problem) for problem in refused] == [StoreContended]
    assert sorted(work.cost.commits for work in works.values()) == [0, 1]
    assert len(UnitOfWork(own_database, "acme").all(ALL)) == 2


def test_deferred_value_that_is_impossible_fails_commit(own_database: Database) -> None:
    work = UnitOfWork(own_database, "acme")
    work.run(ADD, row())
    work.run(ADD_LATER, row("a\0b"))
    with pytest.raises(DBAPIError):
        work.all(ALL)
    with pytest.raises(StoreUnavailable):
        work.commit()
    assert UnitOfWork(own_database, "acme").all(ALL) == []


def test_suspended_transaction_repeats_deferred_inserts(own_database: Database) -> None:
    work = UnitOfWork(own_database, "acme")
    work.run(ADD, row())
    work.run(ADD_LATER, row("two"))
    with work.suspended():
        assert UnitOfWork(own_database, "acme").all(ALL) == []
    work.commit()
    assert len(work.all(ALL)) == 2
    work.rollback()
