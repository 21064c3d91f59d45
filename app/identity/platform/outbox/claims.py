"""Claims what is due in the outbox, whichever tenant it is of, and settles it: one of the two exemptions from the tenant
(store/migrations/isolation.py).

A claim is a lease on one message: it moves `due_at` on and counts the attempt, in one short transaction. Delivery happens
outside of any. While it lasts the lease is renewed (`tasks/leases.py`), so it is short: a process that dies in between
leaves a message that is due again when the lease is over. Delivered at least once; decisions/0161.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any

from sqlalchemy import ColumnElement, LargeBinary, case, func, or_, select, tuple_, update

from app.identity.platform.encryption import Encryption, Misplaced, UnknownKey, Unsealable
from app.identity.platform.outbox.lanes import Lane, constant
from app.identity.platform.outbox.queue import ELSEWHERE, NOTHING, said_in, seal
from app.identity.platform.outbox.undelivered import Undelivered
from app.identity.platform.store.database import Database
from app.identity.platform.store.unit import UnitOfWork
from app.identity.platform.tables import outbox

EXEMPT = "outbox"
LEASE = timedelta(seconds=20)
"""A message of a worker that died is due again after this. Clocks of worker hosts must agree to a fraction of it."""
MOST_ATTEMPTS = 12
CLOSED = "no key opens it; is a line of GATEHOUSE_SECRET_KEY missing here?"
"""Why a message waits whose key is not known."""
_CLOSED_ATTEMPTS = 3
_O = outbox.c
_TAKEN = case(
    (_O.last_problem == CLOSED, None), else_=_O.last_problem
)  # `try_closed` skips messages that a worker is trying
_IS_KEPT = _O.state.in_(("waiting", "dead"))
_PAGE = 100


@dataclass(frozen=True)
class Message:
    """What a sender delivers."""

    tenant_id: str
    message_id: str
    kind: str
    payload: dict[str, Any]
    attempts: int  # this one included


@dataclass(frozen=True)
class Claimed:
    """One claimed row."""

    tenant_id: str
    message_id: str
    kind: str
    payload: dict[str, Any] = field(repr=False, compare=False)
    sealed: bytes | None = field(repr=False, compare=False)
    attempts: int

    def opened(self, encryption: Encryption) -> Message:
        """Return the message. Raises Undelivered: final where it is not what was sealed for this row."""
        try:
            said = said_in(encryption, self)
        except Unsealable as problem:
            if isinstance(problem, UnknownKey):
                raise Undelivered(CLOSED, lacks_key=True) from None
            raise Undelivered(f"it cannot be opened: {problem}", is_final=isinstance(problem, Misplaced)) from None
        return Message(self.tenant_id, self.message_id, self.kind, said, self.attempts)


def claim(
    database: Database,
    now: datetime,
    lane: Lane,
    *,
    after: str = "",
    without: Collection[str] = (),
    lease: timedelta = LEASE,
) -> Claimed | None:
    """Return one message of a lane that is due, or None; until the lease is over nobody else gets it.

    Tenants take turns: it is the oldest message of the next tenant behind `after` that has one and is not among `without`.
    """
    work = UnitOfWork(database, EXEMPT)
    try:
        while row := _next(work, now, lane, after, without):
            taken = update(outbox).where(*_is(row), _O.due_at <= now)
            values = {"due_at": now + lease, "attempts": row.attempts + 1, "last_problem": _TAKEN}
            if work.changed(taken.values(values)):
                work.commit()
                return Claimed(**{**row._mapping, "attempts": row.attempts + 1})
            work.rollback()  # SQLite locks no row: another one was quicker
        return None
    finally:
        work.rollback()


def _next(work: UnitOfWork, now: datetime, lane: Lane, after: str, without: Collection[str]) -> Any:
    columns = (_O.tenant_id, _O.message_id, _O.kind, _O.payload, _O.sealed, _O.attempts)
    due = select(*columns).where(_O.state == constant("waiting"), lane.holds(_O.kind), _O.due_at <= now)
    due = due.order_by(_O.tenant_id, _O.due_at).limit(1).with_for_update(skip_locked=True)
    for first, last in _between(after, without):
        within = due.where(_O.tenant_id > first) if first else due
        if found := work.one(within.where(_O.tenant_id < last) if last else within):
            return found
    return None


def _between(after: str, without: Collection[str]) -> Iterator[tuple[str, str]]:
    """Yield the ranges of tenants to look through, in turn: passing over a tenant's thousands one by one would take its time."""
    for start in dict.fromkeys((after, "")):
        bounds = sorted(tenant_id for tenant_id in without if tenant_id > start)
        yield from pairwise((start, *bounds, ""))


def renew(database: Database, messages: Collection[Claimed], until: datetime) -> Collection[Claimed]:
    """Lease messages for longer; returns those whose lease was lost, which another worker may have by now."""
    if not messages:
        return ()
    work = UnitOfWork(database, EXEMPT)
    key = tuple_(_O.tenant_id, _O.message_id, _O.attempts)
    held = key.in_([(one.tenant_id, one.message_id, one.attempts) for one in messages])
    try:
        renewed = update(outbox).where(held, _O.state == "waiting").values(due_at=until)
        rows = work.all(renewed.returning(_O.tenant_id, _O.message_id))
        work.commit()
    finally:
        work.rollback()
    kept = {tuple(row) for row in rows}
    return [one for one in messages if (one.tenant_id, one.message_id) not in kept]


def release(database: Database, message: Claimed, now: datetime) -> None:
    """Give a message back that has certainly not been sent: it is due at once, and the attempt is not counted."""
    _settle(database, message, {"due_at": now, "attempts": message.attempts - 1})


def settle_sent(database: Database, message: Claimed, now: datetime, *, keeps_payload: bool) -> None:
    """Mark a message delivered. What it said is dropped, for it may bear a code; the development inbox keeps it."""
    values: dict[str, Any] = {"state": "sent", "finished_at": now, "last_problem": None}
    if not keeps_payload:
        values |= {"payload": {}, "sealed": None}
    _settle(database, message, values)


def settle_failed(database: Database, message: Claimed, now: datetime, problem: str, *, is_final: bool) -> bool:
    """Put a message off for longer each time, or into the dead letters; returns whether it is dead."""
    is_dead = is_final or message.attempts >= MOST_ATTEMPTS
    values: dict[str, Any] = {"last_problem": problem[:1000], "due_at": now + backoff(message.attempts)}
    if is_dead:
        values |= {"state": "dead", "finished_at": now}
    _settle(database, message, values)
    return is_dead


def settle_closed(database: Database, message: Claimed, now: datetime) -> None:
    """Keep a message whose key is not known here until it is: tried again within a minute, and never a dead letter for it."""
    attempts = min(message.attempts, _CLOSED_ATTEMPTS)
    _settle(database, message, {"last_problem": CLOSED, "due_at": now + backoff(attempts), "attempts": attempts})


def try_closed(database: Database, now: datetime) -> int:
    """Make due what lacked a key, for a worker that starts may know it; returns how many."""
    work = UnitOfWork(database, EXEMPT)
    where = (_O.state == "waiting", _O.last_problem == CLOSED, _O.due_at > now)
    try:
        count = work.changed(update(outbox).where(*where).values(due_at=now))
        work.commit()
        return count
    finally:
        work.rollback()


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


def depths(database: Database) -> Sequence[Any]:
    """Return (state, kind, messages, oldest) of what waits and what is dead, of all tenants."""
    work = UnitOfWork(database, EXEMPT)
    columns = (_O.state, _O.kind, func.count().label("messages"), func.min(_O.created_at).label("oldest"))
    try:
        return work.all(select(*columns).where(_IS_KEPT).group_by(_O.state, _O.kind))
    finally:
        work.rollback()


def said(database: Database, most: int = 200) -> Sequence[Any]:
    """Return mails and messages of all tenants, the newest first: for the development inbox, which opens what they say."""
    work = UnitOfWork(database, EXEMPT)
    where = _O.kind.in_(("mail", "sms"))
    try:
        return work.all(select(outbox).where(where).order_by(_O.created_at.desc(), _O.message_id).limit(most))
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


def reseal(database: Database, encryption: Encryption, *, is_clear_only: bool = False) -> int:
    """Seal under the first secret what waits or is dead and lies otherwise, in the clear included; returns how many.

    What no secret opens is left to the worker, which says so.

    Args:
        is_clear_only: leave what lies under another line as it is: a worker may run that does not know the first one yet.
    """
    last, count = ("", ""), 0
    begins = func.substr(_O.sealed, 1, len(encryption.mark), type_=LargeBinary)
    others = _O.sealed.is_(None) if is_clear_only else or_(_O.sealed.is_(None), begins != encryption.mark)
    while rows := _to_reseal(database, others, last):
        count += _resealed(database, encryption, rows)
        last = (rows[-1].tenant_id, rows[-1].message_id)
    return count


def _to_reseal(database: Database, others: ColumnElement[bool], last: tuple[str, str]) -> Sequence[Any]:
    work = UnitOfWork(database, EXEMPT)
    key = tuple_(_O.tenant_id, _O.message_id)
    try:
        return work.all(select(outbox).where(_IS_KEPT, others, key > last).order_by(*key).limit(_PAGE))
    finally:
        work.rollback()


def _resealed(database: Database, encryption: Encryption, rows: Sequence[Any]) -> int:
    work = UnitOfWork(database, EXEMPT)
    count = 0
    try:
        for row in rows:
            try:
                sealed = seal(encryption, row.tenant_id, row.message_id, row.kind, said_in(encryption, row))
            except Unsealable:
                continue
            where = (_O.tenant_id == row.tenant_id, _O.message_id == row.message_id, _IS_KEPT)
            count += work.changed(update(outbox).where(*where).values(sealed=sealed, payload=ELSEWHERE))
        work.commit()
        return count
    finally:
        work.rollback()


def _is(message: Any) -> tuple[ColumnElement[bool], ...]:
    """The condition for the row of a message as it was read: every later claim counts an attempt."""
    return (
        _O.tenant_id == message.tenant_id,
        _O.message_id == message.message_id,
        _O.attempts == message.attempts,
        _O.state == "waiting",
    )


def _settle(database: Database, message: Claimed, values: dict[str, Any]) -> None:
    """Write the outcome, unless the lease was lost and somebody else has the message now."""
    work = UnitOfWork(database, EXEMPT)
    try:
        work.run(update(outbox).where(*_is(message)).values(**values))
        work.commit()
    finally:
        work.rollback()
