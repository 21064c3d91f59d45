"""What the identity service needs to answer: its database at a schema that this code serves, and Redis where there is one."""

from __future__ import annotations

from functools import cache

from redis import Redis

from app.identity.platform.store.database import Database, StoreUnavailable, refuse_unwritable
from app.identity.platform.store.migrate import refusal_of
from app.identity.platform.store.standing import standing_of
from app.kit.clock import monotonic
from app.kit.health import Check
from app.kit.limits import REDIS_OPTIONS
from app.settings import Settings

_PATIENCE_SECONDS = 2.0
"""How long a check waits; a probe is answered before, and the next one finds the check at its end."""
_WRITES_EVERY = 5.0
"""Seconds between two probes that write; those between them only read."""


def checks(settings: Settings) -> dict[str, Check]:
    """Return the checks by part; each opens its own small connection, so that a drained pool does not look like a dead store."""

    @cache
    def database() -> Database:
        return Database(settings.database, pool_size=1, patience_seconds=_PATIENCE_SECONDS)

    next_write = 0.0

    def refusal() -> str | None:
        nonlocal next_write
        with database().connect() as connection:
            found = refusal_of(standing_of(connection))
            if found is None and monotonic() >= next_write:
                refuse_unwritable(connection)
                next_write = monotonic() + _WRITES_EVERY
            return found

    def store() -> None:
        if refusal() is None:
            return
        database().dispose()  # the connection may be one from before an outage: ask once more over a new one
        if found := refusal():
            raise StoreUnavailable(found)

    @cache
    def client() -> Redis:
        return Redis.from_url(settings.redis_url, **REDIS_OPTIONS)

    def redis() -> None:
        client().ping()

    return {"database": store, "redis": redis} if settings.redis_url else {"database": store}
