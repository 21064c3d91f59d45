"""The queries over the messages of all tenants where the tables lie on several nodes (decision 0390).

`queue_claims.py` steps from queue to queue by a recursive query, and `claims.count_unsent` counts with correlated subqueries; Citus
refuses both over all tenants. These read the messages instead, on all nodes at once, also those of paused queues.
"""

from __future__ import annotations

from functools import lru_cache

from sqlalchemy import ColumnElement, and_, bindparam, func, not_, or_, select

from app.identity.platform.outbox.lanes import Lane, inlined
from app.identity.platform.outbox.outbox import outbox, outbox_queues
from app.identity.platform.store.compiled_statements import Compiled

_O, _Q = outbox.c, outbox_queues.c


@lru_cache(maxsize=64)
def first_due(lane: Lane, full_tenants: int, full_queues: int, *, is_of_one_tenant: bool = False) -> Compiled:
    """Build the query that `queue_claims._first_due` builds, with the same parameters and result."""
    after = (
        (_O.tenant_id == bindparam("after"), _O.queue > bindparam("queue"))
        if is_of_one_tenant
        else (_O.tenant_id > bindparam("after"),)
    )
    excluded = [_O.tenant_id == bindparam(f"tenant_{at}") for at in range(full_tenants)]
    for at in range(full_queues):
        excluded += [and_(_O.tenant_id == bindparam(f"full_tenant_{at}"), _O.queue == bindparam(f"full_queue_{at}"))]
    is_paused = _Q.paused_until > bindparam("now")
    allowed = (or_(_Q.paused_until.is_(None), not_(is_paused)), *([not_(or_(*excluded))] if excluded else []))
    columns = (_O.tenant_id, _O.queue, _O.message_id, func.coalesce(_Q.failures, 0).label("failures"))
    with_queue = outbox.outerjoin(outbox_queues, and_(_Q.tenant_id == _O.tenant_id, _Q.queue == _O.queue))
    due = (
        select(*columns).select_from(with_queue).where(*_waiting(lane), _O.due_at <= bindparam("now"), *after, *allowed)
    )
    return Compiled(due.order_by(_O.tenant_id, _O.queue, _O.due_at).limit(1))


@lru_cache(maxsize=4)
def queues_beyond(lane: Lane, most: int) -> Compiled:
    """Build the query that `queue_limits._queues_beyond` builds, with the same result."""
    counted = select(_O.tenant_id, _O.queue).where(*_waiting(lane)).group_by(_O.tenant_id, _O.queue)
    return Compiled(counted.having(func.count() > most))


@lru_cache(maxsize=4)
def unsent(state: str, most: int) -> Compiled:
    """Build the query for what `claims.count_unsent` returns of a state; it reads all of its messages."""
    count = func.least(func.count(), most).label("messages")
    columns = (inlined(state).label("state"), _O.kind, count, func.min(_O.created_at).label("oldest"))
    return Compiled(select(*columns).where(_O.state == inlined(state)).group_by(_O.kind))


def _waiting(lane: Lane) -> tuple[ColumnElement[bool], ...]:
    return (_O.state == inlined("waiting"), lane.contains(_O.kind), _O.queue.is_not(None))
