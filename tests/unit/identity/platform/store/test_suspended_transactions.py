"""A transaction that waits for another system holds nothing meanwhile, and goes on as if it had not waited."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import delete, select

from app.identity.platform.continuation_tokens import token_table
from app.identity.platform.store.compiled_statements import Compiled
from app.identity.platform.store.database import Database, StoreContended
from app.identity.platform.store.unit_of_work import UnitOfWork
from tests.support.database.continuation_rows import ADD, KEY, T, row

READ = Compiled(select(token_table).where(*KEY))
SPEND = Compiled(delete(token_table).where(*KEY).returning(T.facts))
ONE = {"tenant": "acme", "hash": "one"}
pytestmark = pytest.mark.parametrize("own_database", ["sqlite", "postgres"], indirect=True)


@pytest.fixture
def work(own_database: Database) -> UnitOfWork:
    return UnitOfWork(own_database, "acme")


@pytest.fixture
def other(own_database: Database) -> UnitOfWork:
    """The unit of work of another request."""
    return UnitOfWork(own_database, "acme")


def commit(work: UnitOfWork, statement: Compiled, parameters: dict[str, Any]) -> None:
    assert work.changed(statement, parameters) == 1
    work.commit()


def stored(work: UnitOfWork) -> int:
    return len(work.all(select(T.token_hash).where(T.tenant_id == "acme")))


def test_other_requests_write_meanwhile(work: UnitOfWork, other: UnitOfWork) -> None:
    work.run(ADD, row())
    with work.suspended():
        assert stored(other) == 0
        commit(other, ADD, row("two"))
    assert stored(work) == 2
    work.commit()
    assert stored(other) == 2


def test_row_locks_are_given_up_meanwhile(work: UnitOfWork, other: UnitOfWork) -> None:
    work.run(ADD, row())
    work.commit()
    assert work.changed(SPEND, ONE) == 1
    with work.suspended():
        assert other.changed(SPEND, ONE) == 1
        other.rollback()
    work.commit()
    assert stored(work) == 0


def test_what_is_found_must_stay_the_same(work: UnitOfWork, other: UnitOfWork) -> None:
    work.run(ADD, row())
    work.commit()
    assert work.changed(SPEND, ONE) == 1
    with pytest.raises(StoreContended), work.suspended():
        commit(other, SPEND, ONE)
    assert not work.is_writing


def test_what_is_read_must_stay_the_same(work: UnitOfWork, other: UnitOfWork) -> None:
    work.run(ADD, row("two"))
    assert work.one(READ, ONE) is None
    with pytest.raises(StoreContended), work.suspended():
        commit(other, ADD, row())
    assert stored(work) == 1


def test_key_that_is_taken_meanwhile_ends_it(work: UnitOfWork, other: UnitOfWork) -> None:
    work.run(ADD, row())
    with pytest.raises(StoreContended), work.suspended():
        commit(other, ADD, row())
    assert stored(work) == 1


def test_error_of_the_block_leaves_the_writes(work: UnitOfWork) -> None:
    work.run(ADD, row())
    with pytest.raises(ValueError, match="no answer"), work.suspended():
        raise ValueError("no answer")
    work.commit()
    assert stored(work) == 1


def test_transaction_is_suspended_twice(work: UnitOfWork, other: UnitOfWork) -> None:
    work.run(ADD, row())
    work.locked["ada"] = True
    for name in ("two", "three"):
        with work.suspended():
            commit(other, ADD, row(name))
        work.run(ADD, row(f"after {name}"))
    assert (work.locked, work.changed_tables) == ({"ada": True}, {token_table.name})
    work.commit()
    assert stored(work) == 5


def test_reading_unit_gives_its_connection_back(work: UnitOfWork, other: UnitOfWork) -> None:
    assert stored(work) == 0
    with work.suspended():
        commit(other, ADD, row())
    assert stored(work) == 1


def test_committed_statements_are_not_repeated(work: UnitOfWork) -> None:
    work.run(ADD, row())
    work.commit()
    work.run(ADD, row("two"))
    with work.suspended():
        pass
    work.commit()
    assert stored(work) == 2


def test_endless_transaction_is_not_suspended(work: UnitOfWork) -> None:
    for number in range(1_000):
        work.run(ADD, row(str(number)))
    with pytest.raises(RuntimeError, match="too many"), work.suspended():
        pytest.fail("it was suspended")
    work.rollback()
