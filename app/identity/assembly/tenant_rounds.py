"""Visits all tenants in rounds, a few in each turn of the worker; several workers may do it beside each other."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from itertools import islice
from typing import ClassVar, Final

from app.identity.assembly.clean_up.expired_rows import tenant_ids
from app.identity.platform.services import IdentityServices
from app.identity.platform.store.database import Database, StoreUnavailable
from app.identity.platform.store.unit_of_work import UnitOfWork, is_distributed

TENANTS_PER_TURN: Final = 25


class TenantRounds(ABC):
    """Does what is due in some tenants in each turn.

    Args:
        services: returns the services; called only when something is due.
    """

    interval: ClassVar[timedelta]
    """The minimum time between the starts of two rounds."""

    def __init__(self, database: Database, services: Callable[[], IdentityServices]) -> None:
        self._database = database
        self._services = services
        self._remaining: Iterator[str] | None = None
        self._next_round_at: datetime | None = None

    def turn(self, now: datetime) -> int:
        """Visit the next tenants of a running or due round. Return how much was done."""
        if self._remaining is None:
            if self._next_round_at is not None and now < self._next_round_at:
                return 0
            self._remaining, self._next_round_at = tenant_ids(self._database), now + self.interval
        visited = list(islice(self._remaining, TENANTS_PER_TURN))
        if len(visited) < TENANTS_PER_TURN:
            self._remaining = None
        return sum(self._visited(tenant_id, now) for tenant_id in visited)

    @abstractmethod
    def _visit(self, work: UnitOfWork, now: datetime) -> int:
        """Do what is due in the tenant of `work`. Return how much was done.

        Logs what fails for our fault, so that it is tried again in the next round. Raises StoreUnavailable.
        """

    def _visited(self, tenant_id: str, now: datetime) -> int:
        try:
            return self._visit(UnitOfWork(self._database, tenant_id), now)
        except StoreUnavailable:
            if not is_distributed(self._database):
                raise
        return 0
