"""A database that goes and comes back: refused meanwhile, served at once afterwards, whatever the pool still holds."""

from collections.abc import Iterator

import pytest
from sqlalchemy import text

from app.identity.platform.store.database import Database, StoreUnavailable
from app.identity.platform.store.unit import UnitOfWork
from tests.support.servers import Postgres


@pytest.fixture
def database(own_postgres: Postgres) -> Iterator[Database]:
    url = own_postgres.database("gatehouse").runtime_url.replace("postgresql://", "postgresql+psycopg://")
    made = Database(url)
    yield made
    made.dispose()


def asked(database: Database) -> int:
    work = UnitOfWork(database, "acme")
    try:
        row = work.one(text("SELECT 1"))
        return int(row[0]) if row else 0
    finally:
        work.rollback()


def test_connections_from_before_an_outage_fail_nobody_after_it(database: Database, own_postgres: Postgres) -> None:
    several = [UnitOfWork(database, "acme") for _ in range(5)]
    for work in several:
        work.one(text("SELECT 1"))
    for work in several:
        work.rollback()
    own_postgres.stop()
    with pytest.raises(StoreUnavailable):
        asked(database)
    own_postgres.start()
    assert [asked(database) for _ in range(6)] == [1] * 6


@pytest.mark.parametrize("writes", [False, True])
def test_a_transaction_that_the_outage_cut_is_refused_and_leaves_nothing_behind(
    database: Database, own_postgres: Postgres, writes: bool
) -> None:
    work = UnitOfWork(database, "acme")
    if writes:
        work.begin()
    work.one(text("SELECT 1"))
    own_postgres.stop()
    with pytest.raises(StoreUnavailable):
        work.one(text("SELECT 1"))
    work.rollback()
    own_postgres.start()
    assert asked(database) == 1


def test_a_commit_that_the_outage_cut_is_refused(database: Database, own_postgres: Postgres) -> None:
    work = UnitOfWork(database, "acme")
    work.begin()
    own_postgres.stop()
    with pytest.raises(StoreUnavailable):
        work.commit()
    work.rollback()
    own_postgres.start()
    assert asked(database) == 1
