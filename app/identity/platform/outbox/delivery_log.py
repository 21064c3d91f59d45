"""The log of deliveries of a queue, and their replay. Every query is limited to the tenant of the unit of work."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import ColumnElement, select, union_all, update

from app.identity.platform.outbox.lanes import inlined
from app.identity.platform.outbox.outbox import outbox
from app.identity.platform.store.unit_of_work import UnitOfWork

STATES: Final = ("waiting", "sent", "dead")
FINISHED: Final = ("sent", "dead")
MAX_REPLAYED: Final = 1000
_O = outbox.c
_SHOWN: Final = (
    *(_O.message_id, _O.event, _O.state, _O.status_code, _O.attempts, _O.due_at),
    *(_O.created_at, _O.finished_at, _O.replayed_at, _O.last_problem),
)


@dataclass(frozen=True)
class Selection:
    """Deliveries of one queue.

    Args:
        since: posted at this time or later; `until` is not included.
    """

    queue: str
    state: str | None = None
    event: str | None = None
    since: datetime | None = None
    until: datetime | None = None


@dataclass(frozen=True)
class Replay:
    """How many messages are sent again, and from which time on there are more."""

    count: int
    next: datetime | None = None


def list_deliveries(work: UnitOfWork, selection: Selection, *, limit: int, offset: int = 0) -> Sequence[Any]:
    """Return deliveries without their contents, newest first. `due_at` is `HELD` of one that waits for an earlier one.

    Each state is read from its own range of the index, so that few dead letters among many sent messages are found at once.
    """
    states = STATES if selection.state is None else (selection.state,)
    parts = [
        select(*_SHOWN)
        .where(*_selected(work, selection, state))
        .order_by(_O.created_at.desc(), _O.message_id.desc())
        .limit(limit + offset)
        .subquery()
        for state in states
    ]
    found = union_all(*(select(part) for part in parts)).subquery()
    newest = select(found).order_by(found.c.created_at.desc(), found.c.message_id.desc())
    return work.all(newest.limit(limit).offset(offset))


def find_delivery(work: UnitOfWork, queue: str, message_id: str) -> Any | None:
    """Return a delivery of the queue with its encrypted contents (`decrypt_payload`, `decrypt_answer`), or None."""
    return work.one(select(outbox).where(*_is(work, queue, message_id)))


def replay_delivery(work: UnitOfWork, queue: str, message_id: str, now: datetime) -> bool:
    """Send a delivered or dead message again. Return False if there is none, or its content was erased."""
    return bool(work.changed(_replaying(now).where(*_is(work, queue, message_id), _O.state.in_(FINISHED))))


def replay_deliveries(work: UnitOfWork, selection: Selection, now: datetime, *, most: int = MAX_REPLAYED) -> Replay:
    """Send selected messages of a finished state again, the oldest ones first, at most `most`.

    Raises ValueError for another state.
    """
    if selection.state not in FINISHED:
        raise ValueError("a replay needs a finished state")
    columns, where = (_O.message_id, _O.created_at), _selected(work, selection, selection.state)
    oldest = select(*columns).where(*where, _O.sealed.is_not(None)).order_by(_O.created_at, _O.message_id)
    rows = work.all(oldest.limit(most + 1))
    if not rows:
        return Replay(0)
    ids = [row.message_id for row in rows[:most]]
    count = work.changed(_replaying(now).where(_O.tenant_id == work.tenant_id, _O.message_id.in_(ids)))
    return Replay(count, rows[most].created_at if len(rows) > most else None)


def _replaying(now: datetime) -> Any:
    """Return the update of messages that are sent again: before those of their order key that wait now."""
    values = {"state": "waiting", "attempts": 0, "due_at": now, "finished_at": None, "replayed_at": now}
    return update(outbox).where(_O.sealed.is_not(None)).values(**values)


def _is(work: UnitOfWork, queue: str, message_id: str) -> tuple[ColumnElement[bool], ...]:
    return (_O.tenant_id == work.tenant_id, _O.message_id == message_id, _O.queue == queue)


def _selected(work: UnitOfWork, selection: Selection, state: str) -> list[ColumnElement[bool]]:
    where = [_O.tenant_id == work.tenant_id, _O.queue == selection.queue, _O.state == inlined(state)]
    where += [] if selection.event is None else [_O.event == selection.event]
    where += [] if selection.since is None else [_O.created_at >= selection.since]
    where += [] if selection.until is None else [_O.created_at < selection.until]
    return where
