"""Ends messages of queues that waited for too long, deletes finished ones after their retention, and queues that are empty."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Final

from sqlalchemy import Select, and_, bindparam, delete, exists, literal, or_, select, update

from app.identity.platform.outbox.claims import is_unchanged
from app.identity.platform.outbox.lanes import inlined
from app.identity.platform.outbox.outbox import HELD, RETRY_PERIOD, outbox, outbox_queues
from app.identity.platform.outbox.queue_outcomes import erased_if_asked, release_next
from app.identity.platform.store.database import Database
from app.identity.platform.store.unit_of_work import UnitOfWork

RETENTION: Final = timedelta(days=30)
"""How long delivered and dead messages are kept with their payload and answer, from their posting."""
EXPIRED: Final = "not delivered within three days"
LATE, OLD, EMPTY = "late messages", "old messages", "empty queues"
_BATCH: Final = 200
_FINISHED: Final = ("sent", "dead")
_O, _Q = outbox.c, outbox_queues.c
_PARAMETERS: Final = {LATE: "late_before", OLD: "old_before"}


def due_work() -> Sequence[Select[Any]]:
    """Return one query for each kind of work, for its name if a tenant has any; the parameters are those of `bounds`."""
    tenant_id: Any = bindparam("tenant")
    late, old = (bindparam(name, type_=_O.created_at.type) for name in _PARAMETERS.values())
    return (
        select(literal(LATE)).where(exists().where(_is_late(tenant_id, late))),
        *(select(literal(OLD)).where(exists().where(_is_old(tenant_id, old, state))) for state in _FINISHED),
        select(literal(EMPTY)).where(exists().where(_is_empty(tenant_id))),
    )


def bounds(now: datetime) -> dict[str, datetime]:
    return {_PARAMETERS[LATE]: now - RETRY_PERIOD, _PARAMETERS[OLD]: now - RETENTION}


def clean(database: Database, tenant_id: str, now: datetime, names: Sequence[str]) -> int:
    """Do the named work for a tenant, one batch per transaction. Return the number of deleted rows."""
    deleted = 0
    if LATE in names:
        _in_batches(database, tenant_id, lambda work: _end_late(work, now))
    if OLD in names:
        for state in _FINISHED:
            deleted += _in_batches(
                database, tenant_id, partial(_delete_old, first_retained=now - RETENTION, state=state)
            )
    if EMPTY in names:
        deleted += _in_batches(database, tenant_id, _delete_empty)
    return deleted


def _in_batches(database: Database, tenant_id: str, run: Callable[[UnitOfWork], int]) -> int:
    total = 0
    while True:
        work = UnitOfWork(database, tenant_id)
        try:
            work.begin()
            count = run(work)
            work.commit()
        finally:
            work.rollback()
        total += count
        if count < _BATCH:
            return total


def _end_late(work: UnitOfWork, now: datetime) -> int:
    """Make dead letters of late messages that no worker is sending, such as those of a queue that is paused for days."""
    is_idle = or_(_O.due_at <= now, _O.due_at == HELD)
    late = select(outbox).where(_is_late(work.tenant_id, now - RETRY_PERIOD), is_idle)
    rows = work.all(late.order_by(_O.created_at, _O.message_id).limit(_BATCH))
    values = erased_if_asked({"state": "dead", "finished_at": now, "last_problem": EXPIRED})
    for row in rows:
        if work.changed(update(outbox).where(*is_unchanged(row), is_idle).values(**values)):
            release_next(work, row, now)
    return len(rows)


def _delete_old(work: UnitOfWork, *, first_retained: datetime, state: str) -> int:
    old = select(_O.message_id).where(_is_old(work.tenant_id, first_retained, state)).order_by(_O.created_at)
    ids = [row.message_id for row in work.all(old.limit(_BATCH))]
    is_finished = (_O.tenant_id == work.tenant_id, _O.message_id.in_(ids), _O.finished_at.is_not(None))
    return work.changed(delete(outbox).where(*is_finished)) if ids else 0


def _delete_empty(work: UnitOfWork) -> int:
    return work.changed(delete(outbox_queues).where(_is_empty(work.tenant_id)))


def _is_late(tenant_id: Any, before: Any) -> Any:
    is_waiting = (_O.tenant_id == tenant_id, _O.queue.is_not(None), _O.state == inlined("waiting"))
    return and_(*is_waiting, _O.created_at < before, or_(_O.replayed_at.is_(None), _O.replayed_at < before))


def _is_old(tenant_id: Any, before: Any, state: str) -> Any:
    is_finished = (_O.tenant_id == tenant_id, _O.queue.is_not(None), _O.state == inlined(state))
    return and_(*is_finished, _O.created_at < before)


def _is_empty(tenant_id: Any) -> Any:
    """Return the condition for queues without a waiting message; the next failure of one begins a new pause."""
    o = outbox.alias().c
    waits = exists().where(o.tenant_id == tenant_id, o.queue == _Q.queue, o.state == inlined("waiting"))
    return and_(_Q.tenant_id == tenant_id, ~waits)
