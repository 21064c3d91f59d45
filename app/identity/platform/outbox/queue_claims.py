"""Claims messages of queues: tenants take turns, and the queues of a tenant; a paused queue is passed over, whatever waits in it.

A queue is one receiver of a tenant, such as a webhook. Of the messages with one order key only the first waiting one can be
claimed. Later ones are held back when a claim finds them (`due_at` is `HELD`), so that no claim reads them twice; the end
of the first one makes the next one due (decision 0373).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any, Final

from sqlalchemy import CTE, ColumnElement, Text, and_, bindparam, case, cast, false, func, not_, or_, select, update

from app.identity.platform.outbox import distributed_queues
from app.identity.platform.outbox.all_tenants import AllTenants
from app.identity.platform.outbox.claims import CLAIMED_PROBLEM, LEASE, ClaimedMessage
from app.identity.platform.outbox.lanes import Lane, inlined
from app.identity.platform.outbox.outbox import HELD, RETRY_PERIOD, outbox, outbox_queues
from app.identity.platform.outbox.queue_outcomes import first_waiting
from app.identity.platform.store.compiled_statements import Compiled
from app.identity.platform.store.database import Database
from app.identity.platform.store.unit_of_work import UnitOfWork

PROBE: Final = timedelta(seconds=60)
"""The pause of a failing queue while one of its messages is sent; longer than any delivery takes."""
HELD_AT_ONCE: Final = 1000
MAX_TRIES: Final = 8
"""Messages that one claim finds held back or taken in one queue before it passes the queue over."""
_O, _Q = outbox.c, outbox_queues.c
_COLUMNS: Final = (
    *(_O.tenant_id, _O.message_id, _O.kind, _O.payload, _O.sealed, _O.attempts),
    *(_O.created_at, _O.queue, _O.order_key, _O.replayed_at),
)


@dataclass(frozen=True)
class Search:
    """Where a search begins, and what it passes over.

    Args:
        after: the tenant whose turn was last.
        last_queues: the last queue of each tenant; the search goes on after it.
    """

    after: str = ""
    last_queues: Mapping[str, str] = field(default_factory=dict)
    full_tenants: Collection[str] = ()
    full_queues: Collection[tuple[str, str]] = ()


def claim(
    database: Database,
    now: datetime,
    lane: Lane,
    search: Search = Search(),
    *,
    lease: timedelta = LEASE,
    all_tenants: AllTenants | None = None,
) -> ClaimedMessage | None:
    """Claim one due message of a lane with queues, or return None; no other worker gets it until the lease expires."""
    tries = 0
    all_tenants = all_tenants or AllTenants(database)
    while found := _find(all_tenants, now, lane, search):
        if message := _claim(database, found, now, lease):
            return message
        tries += 1
        is_held = _hold_back(database, found, now)
        if tries == MAX_TRIES or (found.failures and not is_held):  # otherwise another worker was quicker
            tries = 0
            search = replace(search, full_queues=(*search.full_queues, (found.tenant_id, found.queue)))
    return None


def _find(all_tenants: AllTenants, now: datetime, lane: Lane, search: Search) -> Any:
    """Return tenant, queue, id and the queue's failures of a due message that no pause or limit excludes."""
    sizes = (len(search.full_tenants), len(search.full_queues))
    values = {"now": now, **{f"tenant_{at}": tenant_id for at, tenant_id in enumerate(search.full_tenants)}}
    for at, (tenant_id, queue) in enumerate(search.full_queues):
        values |= {f"full_tenant_{at}": tenant_id, f"full_queue_{at}": queue}
    first_due = distributed_queues.first_due if all_tenants.is_distributed else _first_due
    for after in dict.fromkeys((search.after, "")):
        found = _first(all_tenants.rows(first_due(lane, *sizes), {**values, "after": after}))
        if found and (last := search.last_queues.get(found.tenant_id)):
            within = {**values, "after": found.tenant_id, "queue": last}
            found = _first(all_tenants.rows(first_due(lane, *sizes, is_of_one_tenant=True), within)) or found
        if found:
            return found
    return None


def _first(rows: Sequence[Any]) -> Any:
    return min(rows, key=lambda row: (row.tenant_id, row.queue), default=None)


@lru_cache(maxsize=64)
def _first_due(lane: Lane, full_tenants: int, full_queues: int, *, is_of_one_tenant: bool = False) -> Compiled:
    """Return the query for a due message of the first queue after `after` that has one.

    It steps from queue to queue over an index and reads at most one message of each.
    """
    turns = _queues_of_one_tenant(lane) if is_of_one_tenant else waiting_queues(lane)
    t = turns.c
    o, where = _waiting(lane)
    of_queue = (o.tenant_id == t.tenant_id, o.queue == t.queue, o.due_at <= bindparam("now"))
    due = select(o.message_id).where(*where, *of_queue).order_by(o.due_at).limit(1).correlate(turns).scalar_subquery()
    is_its = and_(_Q.tenant_id == t.tenant_id, _Q.queue == t.queue)
    failures = select(_Q.failures).where(is_its).correlate(turns).scalar_subquery()
    is_paused = select(_Q.paused_until > bindparam("now")).where(is_its).correlate(turns).scalar_subquery()
    excluded = [t.tenant_id == bindparam(f"tenant_{at}") for at in range(full_tenants)]
    for at in range(full_queues):
        excluded += [and_(t.tenant_id == bindparam(f"full_tenant_{at}"), t.queue == bindparam(f"full_queue_{at}"))]
    columns = (t.tenant_id, t.queue, due.label("message_id"), func.coalesce(failures, 0).label("failures"))
    allowed = (t.queue != "", not_(func.coalesce(is_paused, false())), *([not_(or_(*excluded))] if excluded else []))
    return Compiled(select(*columns).where(*allowed, due.is_not(None)).limit(1))


def waiting_queues(lane: Lane) -> CTE:
    """Return (tenant_id, queue) of each queue with waiting messages, by tenant from `after`; '' precedes a tenant's first queue."""
    first = select(_next_tenant(lane, bindparam("after", type_=Text)).label("tenant_id"), _text("").label("queue"))
    turns = first.cte("turns", recursive=True)
    t = turns.c
    queue = _next_queue(lane, t.tenant_id, t.queue, turns)
    tenant_id = case((queue.is_not(None), t.tenant_id), else_=_next_tenant(lane, t.tenant_id, turns))
    return turns.union_all(select(tenant_id, func.coalesce(queue, _text(""))).where(t.tenant_id.is_not(None)))


def _queues_of_one_tenant(lane: Lane) -> CTE:
    """Return the queues with waiting messages of the tenant `after`, after its queue `queue`."""
    tenant_id, queue = cast(bindparam("after", type_=Text), Text), bindparam("queue", type_=Text)
    turns = select(tenant_id.label("tenant_id"), _next_queue(lane, tenant_id, queue).label("queue")).cte(
        "turns", recursive=True
    )
    t = turns.c
    following = _next_queue(lane, t.tenant_id, t.queue, turns)
    return turns.union_all(select(t.tenant_id, following).where(t.queue.is_not(None)))


def _next_tenant(lane: Lane, after: Any, *outer: Any) -> Any:
    o, where = _waiting(lane)
    query = select(cast(o.tenant_id, Text)).where(*where, o.tenant_id > after).order_by(o.tenant_id).limit(1)
    return query.correlate(*outer).scalar_subquery()


def _next_queue(lane: Lane, tenant_id: Any, after: Any, *outer: Any) -> Any:
    o, where = _waiting(lane)
    query = select(cast(o.queue, Text)).where(*where, o.tenant_id == tenant_id, o.queue > after).order_by(o.queue)
    return query.limit(1).correlate(*outer).scalar_subquery()


def _waiting(lane: Lane) -> tuple[Any, tuple[ColumnElement[bool], ...]]:
    """Return the columns of the outbox under a name of their own, and the condition of the index `ix_outbox_queues`."""
    o = outbox.alias().c
    return o, (o.state == inlined("waiting"), lane.contains(o.kind), o.queue.is_not(None))


def _text(value: str) -> ColumnElement[str]:
    return cast(value, Text)  # PostgreSQL wants one type in both parts of a recursive query


def _claim(database: Database, found: Any, now: datetime, lease: timedelta) -> ClaimedMessage | None:
    """Claim the found message, unless an earlier one of its order key waits, or another worker was quicker.

    Of a queue that failed, the claim prolongs the pause: the others wait for the outcome of this message.
    """
    work = UnitOfWork(database, found.tenant_id)
    is_first = (
        _O.message_id == first_waiting(_O.queue, _O.order_key, found.tenant_id).correlate(outbox).scalar_subquery()
    )
    where = (
        *(_O.tenant_id == found.tenant_id, _O.message_id == found.message_id, _O.state == inlined("waiting")),
        *(_O.due_at <= now, or_(_O.order_key.is_(None), is_first)),
    )
    values = {"due_at": now + lease, "attempts": _O.attempts + 1, "last_problem": CLAIMED_PROBLEM}
    try:
        row = work.one(update(outbox).where(*where).values(values).returning(*_COLUMNS))
        if row is None or (found.failures and not _begin_probe(work, found, now)):
            return None
        work.commit()
    finally:
        work.rollback()
    columns = dict(row._mapping)
    retry_until = (columns.pop("replayed_at") or row.created_at) + RETRY_PERIOD
    return ClaimedMessage(**columns, retry_until=retry_until, failures=found.failures)


def _begin_probe(work: UnitOfWork, found: Any, now: datetime) -> bool:
    is_due = (_Q.queue == found.queue, _Q.failures == found.failures, _Q.paused_until <= now)
    probing = update(outbox_queues).where(_Q.tenant_id == found.tenant_id, *is_due)
    return bool(work.changed(probing.values(paused_until=now + PROBE)))


def _hold_back(database: Database, found: Any, now: datetime) -> bool:
    """Hold back the found message and some after it, if an earlier one of its order key waits. Return whether it does.

    The earlier row is locked: its end, which makes the next one due, comes before this transaction or after it.
    """
    work = UnitOfWork(database, found.tenant_id)
    key = (_O.tenant_id == found.tenant_id, _O.message_id == found.message_id)
    try:
        work.begin()
        row = work.one(select(_O.queue, _O.order_key, _O.created_at, _O.due_at).where(*key))
        if row is None or row.order_key is None:
            return False
        first = work.one(first_waiting(row.queue, row.order_key, found.tenant_id).with_for_update())
        if first is None or first.message_id == found.message_id:
            return False
        chain = (_O.tenant_id == found.tenant_id, _O.order_key == row.order_key, _O.queue == row.queue)
        later = select(_O.message_id, _O.due_at).where(
            *chain, _O.state == inlined("waiting"), _O.created_at >= row.created_at
        )
        rows = work.all(later.order_by(_O.created_at, _O.message_id).limit(HELD_AT_ONCE))
        ids = [item.message_id for item in rows if item.due_at <= now and item.message_id != first.message_id]
        # by their key alone: with more conditions PostgreSQL may search all messages of the queue for them
        work.run(update(outbox).where(_O.tenant_id == found.tenant_id, _O.message_id.in_(ids)).values(due_at=HELD))
        work.commit()
        return True
    finally:
        work.rollback()
