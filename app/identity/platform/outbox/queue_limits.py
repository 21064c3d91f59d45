"""Bounds the messages that wait in a queue: a worker counts them once a minute, and posts to a full queue become dead letters."""

from __future__ import annotations

import logging
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any, Final

from sqlalchemy import delete, exists, literal_column, select, update

from app.identity.platform.outbox import distributed_queues
from app.identity.platform.outbox.all_tenants import EXEMPT
from app.identity.platform.outbox.lanes import LANES, Lane, inlined
from app.identity.platform.outbox.outbox import outbox, outbox_queues
from app.identity.platform.outbox.queue_claims import waiting_queues
from app.identity.platform.outbox.tenant_transactions import of_tenant
from app.identity.platform.store import upserts
from app.identity.platform.store.compiled_statements import Compiled
from app.identity.platform.store.database import Database
from app.identity.platform.store.unit_of_work import UnitOfWork

MAX_WAITING: Final = 100_000
"""Messages that wait in one queue. A flood passes it by those of a minute."""
INTERVAL: Final = timedelta(minutes=1)
_Q = outbox_queues.c

log = logging.getLogger("gatehouse.outbox")


class QueueLimits:
    """Marks the full queues once in each interval; several workers may do it beside each other."""

    def __init__(self, database: Database, most: int = MAX_WAITING) -> None:
        self._database = database
        self._most = most
        self._next_at: datetime | None = None

    def turn(self, now: datetime) -> None:
        if self._next_at is None or now >= self._next_at:
            self._next_at = now + INTERVAL
            mark_full(self._database, self._most)


def mark_full(database: Database, most: int) -> None:
    """Mark the queues with more waiting messages than this, and clear the marks of others."""
    work = UnitOfWork(database, EXEMPT)
    try:
        queues_beyond = distributed_queues.queues_beyond if work.is_distributed else _queues_beyond
        statements = [queues_beyond(lane, most) for lane in LANES if lane.has_queues]
        full = {tuple(row) for statement in statements for row in work.all(statement, {"after": ""})}
        marked = {tuple(row) for row in work.all(select(_Q.tenant_id, _Q.queue).where(_Q.is_full))}
    finally:
        work.rollback()
    for tenant_id, queue in full - marked:
        _mark(database, tenant_id, queue)
        log.warning("outbox.queue_full", extra={"tenant": tenant_id, "queue": queue})
    for tenant_id, queue in marked - full:
        _clear(database, tenant_id, queue)


@lru_cache(maxsize=4)
def _queues_beyond(lane: Lane, most: int) -> Compiled:
    """Return the query for (tenant_id, queue) of the queues with more than `most` waiting messages."""
    turns, o = waiting_queues(lane), outbox.alias().c
    t = turns.c
    waiting = (o.state == inlined("waiting"), lane.contains(o.kind), o.tenant_id == t.tenant_id, o.queue == t.queue)
    beyond: Any = select(literal_column("1")).where(*waiting).offset(most).limit(1).correlate(turns)
    return Compiled(select(t.tenant_id, t.queue).where(t.queue != "", exists(beyond)))


def _mark(database: Database, tenant_id: str, queue: str) -> None:
    marked = upserts.insert(outbox_queues, is_sqlite=database.is_sqlite)
    marked = marked.values(tenant_id=tenant_id, queue=queue, is_full=True)
    with of_tenant(database, tenant_id) as work:
        work.run(marked.on_conflict_do_update(index_elements=[_Q.tenant_id, _Q.queue], set_={"is_full": True}))


def _clear(database: Database, tenant_id: str, queue: str) -> None:
    key: tuple[Any, ...] = (_Q.tenant_id == tenant_id, _Q.queue == queue)
    with of_tenant(database, tenant_id) as work:
        if not work.changed(delete(outbox_queues).where(*key, _Q.failures == 0)):
            work.run(update(outbox_queues).where(*key).values(is_full=False))
