"""Completes what lists of accounts search: after an upgrade to schema 0040, and after processes of an older version wrote accounts.

A round reads all accounts, so many in each turn and transaction, and writes only rows that are missing or outdated. It can end
anywhere: the next one begins anew, and finds less to write.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import islice
from typing import Final

from app.identity.assembly.clean_up.expired_rows import tenant_ids
from app.identity.directory.accounts import account_search_rows
from app.identity.platform.store.database import Database, StoreUnavailable
from app.identity.platform.store.unit_of_work import UnitOfWork, is_distributed

ROUND_INTERVAL: Final = timedelta(days=1)
"""The time between the starts of two rounds; the first is at the start of the worker."""
BATCH: Final = 500
BATCHES_PER_TURN: Final = 20


class SearchCompletion:
    """Reads some accounts in each turn, tenant by tenant."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._round: Iterator[int] | None = None
        self._next_round_at: datetime | None = None

    def turn(self, now: datetime) -> int:
        """Complete the next accounts of a running or due round. Return the number of written rows."""
        if self._round is None:
            if self._next_round_at is not None and now < self._next_round_at:
                return 0
            self._round = complete(self._database)
        counts: list[int] = []
        try:
            counts += islice(self._round, BATCHES_PER_TURN)
        finally:
            if len(counts) < BATCHES_PER_TURN:
                self._round = None
        if self._round is None:
            self._next_round_at = now + ROUND_INTERVAL
        return sum(counts)


def complete(database: Database) -> Iterator[int]:
    """Complete the rows of all tenants; yield the number of written rows after each transaction.

    On Citus, a tenant whose node does not answer is left to the next round.

    Raises:
        StoreUnavailable: the database cannot be reached or written.
    """
    for tenant_id in tenant_ids(database):
        try:
            yield from _complete_tenant(database, tenant_id)
        except StoreUnavailable:
            if not is_distributed(database):
                raise


def _complete_tenant(database: Database, tenant_id: str) -> Iterator[int]:
    last: str | None = ""
    while last is not None:
        work = UnitOfWork(database, tenant_id)
        try:
            written, last = account_search_rows.write_outdated(work, last, BATCH, is_sqlite=database.is_sqlite)
            work.commit()
        finally:
            work.rollback()
        yield written
