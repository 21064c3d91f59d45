"""Stores the outcomes of messages of queues: the log of deliveries, the pause of a failing queue, the next message in order.

A transaction changes the row of the message before that of the queue, as a claim does, so that no two wait for each other.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import ColumnElement, LargeBinary, case, cast, delete, literal, null, or_, select, update

from app.identity.platform.encryption import Encryption
from app.identity.platform.outbox.claims import LEASE, ClaimedMessage, is_unchanged
from app.identity.platform.outbox.lanes import inlined
from app.identity.platform.outbox.outbox import HELD, encrypt_answer, outbox, outbox_queues
from app.identity.platform.outbox.sender import DeliveryError, Receipt
from app.identity.platform.outbox.tenant_transactions import of_tenant
from app.identity.platform.store import upserts
from app.identity.platform.store.database import Database
from app.identity.platform.store.unit_of_work import UnitOfWork
from app.kit import randomness

MAX_PAUSE: Final = timedelta(hours=1)
MAX_BACKOFF: Final = timedelta(hours=4)
MAX_RETRY_AFTER: Final = timedelta(hours=24)
ENDED_AT_ONCE: Final = 1000
_FIRST_WAIT: Final = timedelta(seconds=15)
_O, _Q = outbox.c, outbox_queues.c

log = logging.getLogger("gatehouse.outbox")


def settle_sent(
    database: Database, encryption: Encryption, message: ClaimedMessage, now: datetime, receipt: Receipt
) -> None:
    """Mark a message delivered; a queue that failed before goes on."""
    values = {"state": "sent", "finished_at": now, "last_problem": None, **_logged(encryption, message, receipt)}
    with of_tenant(database, message.tenant_id) as work:
        if work.changed(update(outbox).where(*is_unchanged(message)).values(**erased_if_asked(values))):
            release_next(work, message, now)
            _resume(work, message)


def settle_failed(
    database: Database,
    encryption: Encryption,
    message: ClaimedMessage,
    now: datetime,
    problem: DeliveryError,
    *,
    is_paused: bool,
) -> bool:
    """Postpone a message, or make it a dead letter. Return whether it is dead.

    Args:
        is_paused: no message of the queue is sent for a while, then one, and the others if it is taken.
    """
    asked = min(problem.retry_after or timedelta(), MAX_RETRY_AFTER)
    pause = max(asked, _wait(message.failures + 1, MAX_PAUSE)) if is_paused else timedelta()
    is_dead = problem.is_final or (message.retry_until is not None and now >= message.retry_until)
    values: dict[str, Any] = {"last_problem": str(problem)[:1000], **_logged(encryption, message, problem.receipt)}
    values["due_at"] = now + max(asked, pause, _wait(message.attempts, MAX_BACKOFF))
    if is_dead:
        values = erased_if_asked({**values, "state": "dead", "finished_at": now})
    with of_tenant(database, message.tenant_id) as work:
        if work.changed(update(outbox).where(*is_unchanged(message)).values(**values)):
            if problem.ends_queue:
                _end_others(work, message, now, values)
            if is_dead:
                release_next(work, message, now)
            if is_paused:
                _pause(database, work, message, now, now + pause)
            else:
                _resume(work, message)
    return is_dead


def is_put_off(now: datetime) -> ColumnElement[bool]:
    """Return the condition for waiting messages that no worker is sending, because they are due later than its lease ends.

    A worker renews its leases, and the clocks of hosts differ by less than a second lease.
    """
    return _O.due_at > now + 2 * LEASE


def _end_others(work: UnitOfWork, message: ClaimedMessage, now: datetime, values: dict[str, Any]) -> None:
    """Make dead letters of the newest messages of the queue that no worker is sending; the next claim ends more.

    The newest first, so that of each order key the first one stays, whose end makes the next one due. They are locked: one that was
    held back behind them before is made due here, and none is held back after (`queue_claims`).
    """
    is_its = (_O.tenant_id == work.tenant_id, _O.queue == message.queue, _O.state == inlined("waiting"))
    newest = select(_O.message_id, _O.created_at).where(*is_its, or_(_O.due_at <= now, is_put_off(now)))
    newest = newest.order_by(_O.created_at.desc(), _O.message_id.desc()).limit(ENDED_AT_ONCE)
    if not (rows := work.all(newest.with_for_update(skip_locked=True))):
        return
    ended = {name: values[name] for name in ("state", "finished_at", "last_problem")}
    _change(work, rows, erased_if_asked(ended))
    held = select(_O.message_id).where(*is_its, _O.created_at >= rows[-1].created_at, _O.due_at == HELD)
    _change(work, work.all(held.with_for_update(skip_locked=True)), {"due_at": now})
    log.warning("outbox.queue_ended", extra={"queue": message.queue, "messages": len(rows)})


def _change(work: UnitOfWork, rows: Sequence[Any], values: dict[str, Any]) -> None:
    ids = [row.message_id for row in rows]
    work.run(update(outbox).where(_O.tenant_id == work.tenant_id, _O.message_id.in_(ids)).values(**values))


def release_next(work: UnitOfWork, message: Any, now: datetime) -> None:
    """Make due the message that waited for this one, which is delivered or dead."""
    if message.order_key is None:
        return
    is_it = (_O.tenant_id == work.tenant_id, _O.message_id == message.message_id)
    order_key = select(_O.order_key).where(*is_it).scalar_subquery()  # as it is now: an account may get another id
    first = first_waiting(message.queue, order_key, work.tenant_id).scalar_subquery()
    held = (_O.tenant_id == work.tenant_id, _O.message_id == first, _O.due_at == HELD)
    work.run(update(outbox).where(*held).values(due_at=now))


def first_waiting(queue: Any, order_key: Any, tenant_id: Any) -> Any:
    """Return the query for the id of the first waiting message of an order key; the arguments may be columns."""
    earlier = outbox.alias("earlier")
    e = earlier.c
    where = (e.tenant_id == tenant_id, e.order_key == order_key, e.queue == queue, e.state == inlined("waiting"))
    return select(e.message_id).where(*where).order_by(e.created_at, e.message_id).limit(1)


def erased_if_asked(values: dict[str, Any]) -> dict[str, Any]:
    """Return the values of a finished message; of a deleted account, nothing of the content is left."""
    is_asked = _O.erase_when_done.is_(True)
    contents = {
        name: literal(values[name], LargeBinary) if name in values else _O[name] for name in ("sealed", "sealed_answer")
    }
    return values | {
        name: case((is_asked, cast(null(), LargeBinary)), else_=content) for name, content in contents.items()
    }


def _logged(encryption: Encryption, message: ClaimedMessage, receipt: Receipt) -> dict[str, Any]:
    sealed = encrypt_answer(encryption, message, receipt.answer) if receipt.answer else None
    return {"status_code": receipt.status_code, "sealed_answer": sealed}


def _wait(times: int, most: timedelta) -> timedelta:
    """Return a wait that doubles each time, of which up to a quarter is left out at random."""
    doubled = min(_FIRST_WAIT * (1 << min(times - 1, 16)), most)
    return doubled * (1 - randomness.below(1000) / 4000)


def _is_queue(message: ClaimedMessage) -> tuple[ColumnElement[bool], ...]:
    """Return the condition for the queue as it was at the claim, so that deliveries at once count as one failure."""
    return (_Q.tenant_id == message.tenant_id, _Q.queue == message.queue, _Q.failures == message.failures)


def _pause(database: Database, work: UnitOfWork, message: ClaimedMessage, now: datetime, until: datetime) -> None:
    values: dict[str, Any] = {"failures": message.failures + 1, "paused_until": until}
    if message.failures:
        work.run(update(outbox_queues).where(*_is_queue(message)).values(**values))
        return
    values["failing_since"] = now
    first = upserts.insert(outbox_queues, is_sqlite=database.is_sqlite)
    first = first.values(tenant_id=message.tenant_id, queue=message.queue, **values)
    work.run(first.on_conflict_do_update(index_elements=[_Q.tenant_id, _Q.queue], set_=values, where=_Q.failures == 0))


def _resume(work: UnitOfWork, message: ClaimedMessage) -> None:
    if not message.failures:
        return
    if not work.changed(delete(outbox_queues).where(*_is_queue(message), _Q.is_full.is_(False))):
        values: dict[str, Any] = {"failures": 0, "paused_until": None, "failing_since": None}
        work.run(update(outbox_queues).where(*_is_queue(message)).values(**values))
