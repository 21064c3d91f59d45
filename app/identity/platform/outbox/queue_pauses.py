"""Ends the pause of a queue before its time, because the tenant says that the receiver works again."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select, update

from app.identity.platform.outbox.lanes import inlined
from app.identity.platform.outbox.outbox import HELD, outbox, outbox_queues
from app.identity.platform.outbox.queue_outcomes import is_put_off
from app.identity.platform.store.unit_of_work import UnitOfWork

_O, _Q = outbox.c, outbox_queues.c


@dataclass(frozen=True)
class Resumption:
    """Whether the queue was paused, and how many messages that had failed are due now."""

    was_paused: bool
    count: int


def end_pause(work: UnitOfWork, kind: str, queue: str, now: datetime, *, most: int) -> Resumption:
    """Make due now the next message of a queue, and at most `most` that wait after a failure of their own, the next ones first.

    The count of failures stays: the next message is a probe. If it fails, the pause is as long as without this.
    """
    work.begin()
    is_its = (_O.tenant_id == work.tenant_id, _O.queue == queue, _O.kind == inlined(kind))
    failed = (_O.state == inlined("waiting"), is_put_off(now), _O.due_at < HELD)
    next_ones = select(_O.message_id).where(*is_its, *failed).order_by(_O.due_at).limit(most)
    ids = [row.message_id for row in work.all(next_ones.with_for_update(skip_locked=True))]
    work.run(update(outbox).where(_O.tenant_id == work.tenant_id, _O.message_id.in_(ids)).values(due_at=now))
    paused = (_Q.tenant_id == work.tenant_id, _Q.queue == queue, _Q.paused_until > now)
    was_paused = bool(work.changed(update(outbox_queues).where(*paused).values(paused_until=now)))
    return Resumption(was_paused, len(ids))
