"""Transactions of one process take turns to write a SQLite file."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from sqlalchemy import text, update

from app.identity.directory.tenants.tables import tenants
from app.identity.platform.store.database import Database
from app.identity.platform.store.unit_of_work import UnitOfWork

CONNECTIONS = 21
"""Connections of a pool of one and its overflow of twenty."""
READ = text("SELECT 1")
WRITE = update(tenants).where(tenants.c.tenant_id == "absent").values(version=2)


def test_lock_holder_gets_connection_from_waiting_threads(tmp_path: Path) -> None:
    """Readers that hold every connection and now want to write must not block the transaction whose turn it is."""
    database = Database(f"sqlite:///{tmp_path / 'gatehouse.db'}", pool_size=1)
    tenants.create(database.engine)
    units = [UnitOfWork(database, "acme") for _ in range(CONNECTIONS)]
    for unit in units:
        unit.all(READ)

    def write(unit: UnitOfWork) -> None:
        unit.run(WRITE)
        unit.commit()

    with ThreadPoolExecutor(CONNECTIONS + 1) as pool:
        first = pool.submit(write, UnitOfWork(database, "acme"))  # holds the lock, waits for a connection
        while not database.writing.locked() and not first.done():
            pass
        written = [first, *[pool.submit(write, unit) for unit in units]]
        assert [item.exception() for item in written] == [None] * (CONNECTIONS + 1)
    database.dispose()
