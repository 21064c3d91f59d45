"""Health checks of the identity service: the database with a compatible schema, and Redis if configured."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING

from sqlalchemy.engine import make_url

from app.identity.platform.store.database import Database, DiskFull, StoreUnavailable, disk_watch, refuse_unwritable
from app.identity.platform.store.migrate import incompatibility_of
from app.identity.platform.store.schema_state import read_schema_state
from app.kit.clock import monotonic
from app.kit.observability.health import Check
from app.settings import Settings

if TYPE_CHECKING:
    from app.kit.limits.shared_store import SharedStore

_CHECK_SECONDS = 2.0
"""The time limit of a check; a probe responds earlier, and the next probe reports the result."""
_WRITE_INTERVAL_SECONDS = 5.0
"""Seconds between two checks that write; those in between only read."""


def disk(settings: Settings) -> Callable[[], str]:
    """Return a function that returns whether the disk of the database is full."""
    return disk_watch(make_url(settings.database)).state


def checks(settings: Settings) -> dict[str, Check]:
    """Return the checks by component; each has its own connection, so that an exhausted pool does not look like an outage."""

    @cache
    def database() -> Database:
        return Database(settings.database, pool_size=1, patience_seconds=_CHECK_SECONDS)

    next_write = 0.0

    def incompatibility() -> str | None:
        nonlocal next_write
        with database().connect() as connection:
            problem = incompatibility_of(read_schema_state(connection))
            if problem is None and monotonic() >= next_write:
                with suppress(DiskFull):  # reads go on, and the probe names it
                    refuse_unwritable(connection)
                next_write = monotonic() + _WRITE_INTERVAL_SECONDS
            return problem

    def store() -> None:
        if incompatibility() is None:
            return
        database().dispose()  # the connection may predate an outage: retry once with a new one
        if found := incompatibility():
            raise StoreUnavailable(found)

    @cache
    def shared() -> SharedStore:
        from app.kit.limits.shared_store import SharedStore  # noqa: PLC0415 - a start without Redis needs none of it

        return SharedStore(settings.redis_url)

    def redis() -> None:
        shared().call(shared().redis.ping)

    return {"database": store, "redis": redis} if settings.redis_url else {"database": store}
