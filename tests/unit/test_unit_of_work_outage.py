"""A database outage: requests are refused meanwhile, and served at once afterwards with any pooled connection."""

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


def test_stale_connections_fail_no_request_after_an_outage(database: Database, own_postgres: Postgres) -> None:
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
def test_transaction_cut_by_an_outage_is_refused_and_rolled_back(
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


def test_commit_cut_by_an_outage_is_refused(database: Database, own_postgres: Postgres) -> None:
    work = UnitOfWork(database, "acme")
    work.begin()
    own_postgres.stop()
    with pytest.raises(StoreUnavailable):
        work.commit()
    work.rollback()
    own_postgres.start()
    assert asked(database) == 1
