"""Visits all tenants, a few in each turn of the worker, and reads the metadata of SAML connections that is due."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from itertools import islice
from typing import Final

from app.identity.assembly.clean_up.expired_rows import tenant_ids
from app.identity.platform.services import IdentityServices
from app.identity.platform.store.database import Database, StoreUnavailable
from app.identity.platform.store.unit_of_work import UnitOfWork, is_distributed

ROUND_INTERVAL: Final = timedelta(minutes=15)
"""The minimum time between the starts of two rounds."""
TENANTS_PER_TURN: Final = 25

log = logging.getLogger("gatehouse.worker")


class MetadataSchedule:
    """Reads the due metadata of some tenants in each turn; several workers may do it beside each other, and each document once."""

    def __init__(self, database: Database, services: Callable[[], IdentityServices]) -> None:
        self._database = database
        self._services = services
        self._remaining: Iterator[str] | None = None
        self._next_round_at: datetime | None = None

    def turn(self, now: datetime) -> int:
        """Visit the next tenants of a running or due round. Return how many documents were read."""
        if self._remaining is None:
            if self._next_round_at is not None and now < self._next_round_at:
                return 0
            self._remaining, self._next_round_at = tenant_ids(self._database), now + ROUND_INTERVAL
        visited = list(islice(self._remaining, TENANTS_PER_TURN))
        if len(visited) < TENANTS_PER_TURN:
            self._remaining = None
        return sum(self._refresh(tenant_id, now) for tenant_id in visited)

    def _refresh(self, tenant_id: str, now: datetime) -> int:
        """Read the due metadata of a tenant; what fails for our fault is tried again in the next round."""
        from app.identity.authentication.federation.saml import metadata_refresh  # noqa: PLC0415 - few processes need it

        try:
            return metadata_refresh.refresh_tenant(self._services, UnitOfWork(self._database, tenant_id), now)
        except StoreUnavailable:
            if not is_distributed(self._database):
                raise
        except Exception:
            log.exception("metadata_schedule.failed", extra={"tenant_id": tenant_id})
        return 0
