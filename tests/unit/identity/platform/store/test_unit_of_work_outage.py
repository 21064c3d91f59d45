"""A database outage: requests are refused meanwhile, and served at once afterwards with any pooled connection."""

from collections.abc import Iterator

import pytest
from sqlalchemy import literal, select, text
from sqlalchemy.sql import Executable

from app.identity.platform.store.compiled_statements import Compiled
from app.identity.platform.store.database import Database, StoreUnavailable
from app.identity.platform.store.unit_of_work import UnitOfWork
from tests.support.services.real_services import new_postgres
from tests.support.services.servers import Postgres

READ = text("SELECT 1")
"""Begins a transaction, and then runs."""
READ_AT_ONCE = Compiled(select(literal(1).label("one")))
"""Runs in one round trip with what begins its transaction."""
both_reads = pytest.mark.parametrize("read", [READ, READ_AT_ONCE], ids=["then", "at once"])


@pytest.fixture(scope="module")
def own_postgres() -> Iterator[Postgres]:
    """A PostgreSQL that each test stops and starts again."""
    server = new_postgres()
    yield server
    server.remove()


@pytest.fixture(scope="module")
def url(own_postgres: Postgres) -> str:
    return own_postgres.database("gatehouse").runtime_url.replace("postgresql://", "postgresql+psycopg://")


@pytest.fixture
def database(own_postgres: Postgres, url: str) -> Iterator[Database]:
    if own_postgres.pid is None:  # a test failed before it started it again
        own_postgres.start()
    made = Database(url)
    yield made
    made.dispose()


def read_number(database: Database, read: Executable | Compiled = READ) -> int:
    work = UnitOfWork(database, "acme")
    try:
        row = work.one(read)
        return int(row[0]) if row else 0
    finally:
        work.rollback()


@both_reads
def test_stale_connections_fail_no_request_after_an_outage(
    database: Database, own_postgres: Postgres, read: Executable | Compiled
) -> None:
    several = [UnitOfWork(database, "acme") for _ in range(5)]
    for work in several:
        work.one(READ)
    for work in several:
        work.rollback()
    own_postgres.stop()
    with pytest.raises(StoreUnavailable):
        read_number(database, read)
    own_postgres.start()
    assert [read_number(database, read) for _ in range(6)] == [1] * 6


@pytest.mark.parametrize("writes", [False, True])
@both_reads
def test_transaction_cut_by_an_outage_is_refused_and_rolled_back(
    database: Database, own_postgres: Postgres, writes: bool, read: Executable | Compiled
) -> None:
    work = UnitOfWork(database, "acme")
    if writes:
        work.begin()
    work.one(read)
    own_postgres.stop()
    with pytest.raises(StoreUnavailable):
        work.one(read)
    work.rollback()
    own_postgres.start()
    assert read_number(database) == 1


def test_commit_cut_by_an_outage_is_refused(database: Database, own_postgres: Postgres) -> None:
    work = UnitOfWork(database, "acme")
    work.begin()
    work.one(READ)
    own_postgres.stop()
    with pytest.raises(StoreUnavailable):
        work.commit()
    work.rollback()
    own_postgres.start()
    assert read_number(database) == 1
