"""Statements that are compiled once give what SQLAlchemy gives."""

from __future__ import annotations

import pytest
from psycopg.pq import TransactionStatus
from sqlalchemy import JSON, Column, MetaData, String, Table, bindparam, select, text, update
from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite
from sqlalchemy.exc import IntegrityError, NoResultFound

from app.identity.platform.continuation_tokens import token_table
from app.identity.platform.store.compiled_statements import Compiled, insert_row
from app.identity.platform.store.database import Database, StoreUnavailable
from app.identity.platform.store.unit_of_work import UnitOfWork
from tests.support.database.continuation_rows import ADD, AT, KEY, T, row

READ = Compiled(select(token_table).where(*KEY))
LOCKING = Compiled(select(token_table).where(*KEY).with_for_update(key_share=True))
both = pytest.mark.parametrize("own_database", ["sqlite", "postgres"], indirect=True)


@pytest.fixture
def work(own_database: Database) -> UnitOfWork:
    return UnitOfWork(own_database, "acme")


@both
def test_rows_equal_those_of_sqlalchemy(work: UnitOfWork) -> None:
    work.run(ADD, [row(), row("two")])
    own = work.one(READ, {"tenant": "acme", "hash": "one"})
    theirs = work.one(select(token_table).where(T.tenant_id == "acme", T.token_hash == "one"))
    assert own is not None
    assert theirs is not None
    assert tuple(own) == tuple(theirs)
    assert own._mapping == {key: getattr(theirs, key) for key in row()} == row()
    assert work.cost.statements == 3


@both
def test_update_returns_rows_and_counts_them(work: UnitOfWork) -> None:
    work.run(ADD, row())
    spend = Compiled(
        update(token_table).where(*KEY, T.state == "open").values(state="used").returning(T.facts, T.created_at)
    )
    found = work.run(spend, {"tenant": "acme", "hash": "one"})
    assert (found.rowcount, found.one()) == (1, ({"é": [1, None]}, AT))
    assert work.changed(spend, {"tenant": "acme", "hash": "one"}) == 0
    with pytest.raises(NoResultFound):
        work.run(READ, {"tenant": "acme", "hash": "none"}).one()


@both
def test_taken_key_and_broken_statement_raise_as_others(work: UnitOfWork) -> None:
    work.run(ADD, row())
    work.commit()
    with pytest.raises(IntegrityError) as taken:
        work.run(ADD, row())
    assert "ada" not in str(taken.value)  # parameters contain personal data
    work.rollback()
    gone = Compiled(select(Column("x", String)).select_from(text("nowhere")))
    with pytest.raises(Exception) as broken:  # noqa: PT011 - the driver's error differs by database
        work.run(gone)
    assert isinstance(broken.value, StoreUnavailable) or "nowhere" in str(broken.value)
    work.rollback()


@both
def test_first_statement_that_fails_leaves_a_usable_unit(work: UnitOfWork) -> None:
    work.run(ADD, row())
    work.commit()
    for _ in range(4):  # prepared from the fourth time on
        with pytest.raises(IntegrityError):
            work.run(ADD, row())
        work.rollback()
        assert not work.is_writing
    assert work.one(READ, {"tenant": "acme", "hash": "one"}) is not None


@both
def test_writes_of_one_unit_are_rolled_back_together(work: UnitOfWork) -> None:
    work.run(ADD, row("one"))
    work.run(ADD, row("two"))
    work.rollback()
    assert [work.one(READ, {"tenant": "acme", "hash": name}) for name in ("one", "two")] == [None, None]
    work.begin()
    assert work.one(READ, {"tenant": "acme", "hash": "one"}) is None
    work.run(ADD, row("one"))
    work.commit()
    assert work.one(READ, {"tenant": "acme", "hash": "one"}) is not None


@pytest.mark.parametrize("own_database", ["postgres"], indirect=True)
def test_read_alone_is_a_transaction_of_its_own(work: UnitOfWork, own_database: Database) -> None:
    """It holds nothing while the request goes on, and sees its tenant's rows alone; a read that locks rows begins a transaction."""
    work.run(ADD, row())
    work.commit()
    for read, status in ((READ, TransactionStatus.IDLE), (LOCKING, TransactionStatus.INTRANS)):
        assert work.one(read, {"tenant": "acme", "hash": "one"}) is not None
        borrowed = work._borrowed
        assert borrowed is not None
        assert borrowed.driver.info.transaction_status is status
        work.rollback()
    other = UnitOfWork(own_database, "other")
    assert other.one(READ, {"tenant": "acme", "hash": "one"}) is None
    other.rollback()


def test_column_that_is_not_given_gets_its_default_or_null() -> None:
    """An upgrade adds columns that earlier code doesn't name."""
    things = Table(
        "things", MetaData(), Column("name", String, nullable=False), Column("kind", String, default="next", nullable=False),
        Column("facts", JSON), Column("made_at", String, server_default="now", nullable=False),
    )  # fmt: skip
    form = insert_row(things).driver_statement(SQLiteDialect_pysqlite())
    assert form.parameters({"name": "one", "made_at": "then"}) == ["one", "next", None, "then"]
    values = {"name": "one", "made_at": "then", "kind": "this", "facts": {"a": 1}}
    assert form.parameters(values) == ["one", "this", '{"a": 1}', "then"]
    with pytest.raises(KeyError):
        form.parameters({"name": "one"})


def test_expanding_parameter_is_no_compiled_statement() -> None:
    many = Compiled(select(T.uid).where(T.uid.in_(bindparam("uids", expanding=True))))
    with pytest.raises(ValueError, match="expanding"):
        many.driver_statement(SQLiteDialect_pysqlite())
