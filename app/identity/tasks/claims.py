"""Claims what is due in the outbox, whichever tenant it is of, and settles it: one of the two exemptions from the tenant
(store/migrations/isolation.py).

A claim is a lease: it moves `due_at` on and counts the attempt, all in one short transaction. Delivery happens outside of
any. A process that dies in between leaves a message that is due again when the lease is over: delivered at least once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import func, select, tuple_, update

from app.identity.outbox import NOTHING
from app.identity.store.database import Database
from app.identity.store.unit import UnitOfWork
from app.identity.tasks.tables import outbox

EXEMPT = "outbox"
LEASE = timedelta(minutes=5)
MOST_ATTEMPTS = 12
_O = outbox.c


@dataclass(frozen=True)
class Message:
    """One claimed row."""

    tenant_id: str
    message_id: str
    kind: str
    payload: dict[str, Any]
    attempts: int  # this one included


def claim(database: Database, now: datetime, most: int = 20) -> Sequence[Message]:
    """Return messages that are due; until the lease is over nobody else gets them."""
    work = UnitOfWork(database, EXEMPT)
    try:
        due = (
            select(_O.tenant_id, _O.message_id)
            .where(_O.state == "waiting", _O.due_at <= now)
            .order_by(_O.due_at)
            .limit(most)
        )
        if database.is_sqlite and not work.all(due):
            return []  # no writer's turn is taken for nothing
        picked = due if database.is_sqlite else due.with_for_update(skip_locked=True)
        columns = (_O.tenant_id, _O.message_id, _O.kind, _O.payload, _O.attempts)
        values = {"due_at": now + LEASE, "attempts": _O.attempts + 1}
        statement = (
            update(outbox).where(tuple_(_O.tenant_id, _O.message_id).in_(picked)).values(**values).returning(*columns)
        )
        claimed = [Message(**row._mapping) for row in work.all(statement)]
        work.commit()
        return claimed
    finally:
        work.rollback()


def settle_sent(database: Database, message: Message, now: datetime, *, keeps_payload: bool) -> None:
    """Mark a message delivered. What it said is dropped, for it may bear a code; the development inbox keeps it."""
    values: dict[str, Any] = {"state": "sent", "finished_at": now, "last_problem": None}
    if not keeps_payload:
        values["payload"] = {}
    _settle(database, message, values)


def settle_failed(database: Database, message: Message, now: datetime, problem: str, *, is_final: bool) -> bool:
    """Put a message off for longer each time, or into the dead letters; returns whether it is dead."""
    is_dead = is_final or message.attempts >= MOST_ATTEMPTS
    values: dict[str, Any] = {"last_problem": problem[:1000], "due_at": now + backoff(message.attempts)}
    if is_dead:
        values |= {"state": "dead", "finished_at": now}
    _settle(database, message, values)
    return is_dead


def backoff(attempts: int) -> timedelta:
    """Return the wait after so many attempts: 15 s, doubled each time, an hour and a half at most."""
    return timedelta(seconds=min(15 * 2 ** (attempts - 1), 5400))


def listed(database: Database, state: str | None = None, most: int = 100) -> Sequence[Any]:
    """Return rows of all tenants, the newest first, for an operator. Their payloads are left out."""
    work = UnitOfWork(database, EXEMPT)
    columns = (_O.tenant_id, _O.message_id, _O.kind, _O.state, _O.attempts, _O.due_at, _O.created_at, _O.last_problem)
    where = [_O.kind != NOTHING, *([] if state is None else [_O.state == state])]
    try:
        return work.all(select(*columns).where(*where).order_by(_O.created_at.desc()).limit(most))
    finally:
        work.rollback()


def counts(database: Database) -> dict[str, int]:
    """Return how many messages of all tenants wait and how many are dead."""
    work = UnitOfWork(database, EXEMPT)
    states = ("waiting", "dead")
    try:
        rows = work.all(select(_O.state, func.count().label("messages")).where(_O.state.in_(states)).group_by(_O.state))
        return {**dict.fromkeys(states, 0), **{row.state: row.messages for row in rows}}
    finally:
        work.rollback()


def said(database: Database, most: int = 200) -> Sequence[Any]:
    """Return mails and messages of all tenants with what they say, the newest first: for the development inbox."""
    work = UnitOfWork(database, EXEMPT)
    columns = (_O.message_id, _O.kind, _O.state, _O.payload, _O.created_at, _O.last_problem)
    where = _O.kind.in_(("mail", "sms"))
    try:
        return work.all(select(*columns).where(where).order_by(_O.created_at.desc(), _O.message_id).limit(most))
    finally:
        work.rollback()


def replay(database: Database, now: datetime, message_id: str | None = None) -> int:
    """Make one dead letter due again, or all of them; returns how many."""
    work = UnitOfWork(database, EXEMPT)
    where = [_O.state == "dead"] + ([] if message_id is None else [_O.message_id == message_id])
    try:
        count = work.changed(
            update(outbox).where(*where).values(state="waiting", attempts=0, due_at=now, finished_at=None)
        )
        work.commit()
        return count
    finally:
        work.rollback()


def _settle(database: Database, message: Message, values: dict[str, Any]) -> None:
    """Write the outcome, unless the lease was lost and somebody else has the message now."""
    work = UnitOfWork(database, EXEMPT)
    where = (_O.tenant_id == message.tenant_id, _O.message_id == message.message_id, _O.attempts == message.attempts)
    try:
        work.run(update(outbox).where(*where, _O.state == "waiting").values(**values))
        work.commit()
    finally:
        work.rollback()
