"""After a statement that failed, a transaction can only be rolled back: SQLite would commit what was before it, PostgreSQL nothing."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import func, select
from sqlalchemy.exc import DBAPIError, IntegrityError

from app.identity.platform.store.compiled_statements import Compiled
from app.identity.platform.store.database import Database, StoreUnavailable
from app.identity.platform.store.unit_of_work import UnitOfWork
from tests.support.database.continuation_rows import ADD, T, row

pytestmark = pytest.mark.parametrize("own_database", ["sqlite", "postgres"], indirect=True)
ALL = select(T.token_hash).where(T.tenant_id == "acme")
FAILS = Compiled(select(func.no_such_function().label("nothing")))


@pytest.fixture
def work(own_database: Database) -> UnitOfWork:
    """A unit that has written one row."""
    work = UnitOfWork(own_database, "acme")
    work.run(ADD, row("first"))
    return work


def fail(work: UnitOfWork, statement: Any, parameters: Any = None) -> None:
    with pytest.raises((DBAPIError, StoreUnavailable)):
        work.run(statement, parameters)


@pytest.mark.parametrize(("statement", "parameters"), [(ADD, row("first")), (FAILS, None)], ids=["taken", "refused"])
def test_commit_after_a_failed_statement_is_refused(
    own_database: Database, work: UnitOfWork, statement: Any, parameters: Any
) -> None:
    fail(work, statement, parameters)
    with pytest.raises(StoreUnavailable, match="rolled back"):
        work.commit()
    assert UnitOfWork(own_database, "acme").all(ALL) == []


def test_statement_after_a_failed_one_is_refused(work: UnitOfWork) -> None:
    fail(work, ADD, row("first"))
    with pytest.raises(StoreUnavailable, match="rolled back"):
        work.run(ADD, row("second"))
    work.rollback()


def test_unit_goes_on_after_rolling_back(own_database: Database, work: UnitOfWork) -> None:
    with pytest.raises(IntegrityError):
        work.run(ADD, row("first"))
    work.rollback()
    work.run(ADD, row("second"))
    work.commit()
    assert [found.token_hash for found in UnitOfWork(own_database, "acme").all(ALL)] == ["second"]


def test_failed_read_before_any_write_hinders_nothing(own_database: Database) -> None:
    work = UnitOfWork(own_database, "acme")
    fail(work, FAILS)
    work.run(ADD, row("first"))
    work.commit()
    assert len(UnitOfWork(own_database, "acme").all(ALL)) == 1
