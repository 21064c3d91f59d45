"""What the identity service needs to answer: its database at the right schema, and Redis where there is one."""

from __future__ import annotations

from functools import cache

from redis import Redis

from app.identity.store.database import Database, StoreUnavailable
from app.identity.store.migrate import HEAD, revision_of
from app.kit.health import Check
from app.settings import Settings


def checks(settings: Settings) -> dict[str, Check]:
    """Return the checks by part; each opens its own small connection, so that a drained pool does not look like a dead store."""

    @cache
    def database() -> Database:
        return Database(settings.database, pool_size=1)

    def schema() -> str | None:
        with database().connect() as connection:
            return revision_of(connection)

    def store() -> None:
        if schema() == HEAD:
            return
        database().dispose()  # the connection may be one from before an outage: ask once more over a new one
        if (stands := schema()) != HEAD:
            raise StoreUnavailable(f"schema {stands}, expected {HEAD}")

    @cache
    def client() -> Redis:
        return Redis.from_url(settings.redis_url, socket_timeout=2, socket_connect_timeout=2)

    def redis() -> None:
        client().ping()

    return {"database": store, "redis": redis} if settings.redis_url else {"database": store}
