"""Claims and settles outbox messages of all tenants, under one of the two exemptions from row-level security
(store/migrations/ddl.py).

A claim is a short lease on one message: one transaction postpones `due_at` and counts the attempt. Delivery runs outside any
transaction while `leases.py` renews the lease. If the process dies, the message is due again when its lease expires, so each
message is delivered at least once (decision 0161).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cache
from itertools import pairwise
from typing import Any

from sqlalchemy import (
    ColumnElement,
    LargeBinary,
    and_,
    bindparam,
    case,
    delete,
    func,
    literal_column,
    or_,
    select,
    tuple_,
    update,
)

from app.identity.platform.encryption import DecryptionError, Encryption, UnknownEncryptionKey, WrongAssociatedData
from app.identity.platform.outbox import distributed_queues
from app.identity.platform.outbox.all_tenants import EXEMPT, AllTenants
from app.identity.platform.outbox.lanes import Lane, inlined
from app.identity.platform.outbox.outbox import (
    DISCARDED,
    EMPTY_PAYLOAD,
    decrypt_answer,
    decrypt_payload,
    encrypt_answer,
    encrypt_payload,
    outbox,
    outbox_queues,
)
from app.identity.platform.outbox.sender import DeliveryError, Message
from app.identity.platform.outbox.tenant_transactions import of_tenant
from app.identity.platform.store.compiled_statements import TENANT, Compiled
from app.identity.platform.store.database import Database
from app.identity.platform.store.unit_of_work import UnitOfWork

LEASE = timedelta(seconds=20)
"""The message of a worker that died is due again after this. The clocks of worker hosts must agree to a fraction of it."""
MAX_ATTEMPTS = 12
UNKNOWN_KEY = "no key opens it; is a line of GATEHOUSE_SECRET_KEY missing here?"
"""The stored `last_problem` of a message whose encryption key is not known."""
_UNKNOWN_KEY_ATTEMPTS = 3
_O = outbox.c
_IS_MAIL_OR_SMS = _O.kind.in_(("mail", "sms"))
# cleared on a claim, so that `retry_unknown_key` skips messages that a worker is trying
CLAIMED_PROBLEM = case((_O.last_problem == UNKNOWN_KEY, None), else_=_O.last_problem)
UNSENT = ("waiting", "dead")
"""The states of messages that were not delivered."""
MAX_COUNTED = 100_000
"""Messages of one state and kind: a count of more would cost each scrape of the metrics as much as there are."""
_IS_UNSENT = _O.state.in_(UNSENT)
_PAGE = 100


@dataclass(frozen=True)
class ClaimedMessage:
    """A claimed row, its payload still encrypted."""

    tenant_id: str
    message_id: str
    kind: str
    payload: dict[str, Any] = field(repr=False, compare=False)
    sealed: bytes | None = field(repr=False, compare=False)
    attempts: int
    created_at: datetime
    queue: str | None = None
    order_key: str | None = None
    retry_until: datetime | None = None
    """When a message of a queue is retried no more."""
    failures: int = 0
    """How many deliveries of the queue had failed in a row before this one."""

    def decrypted(self, encryption: Encryption) -> Message:
        """Return the message. Raises DeliveryError, a final one where the value was encrypted for another row."""
        try:
            payload = decrypt_payload(encryption, self)
        except DecryptionError as problem:
            if isinstance(problem, UnknownEncryptionKey):
                raise DeliveryError(UNKNOWN_KEY, lacks_key=True) from None
            raise DeliveryError(
                f"it cannot be opened: {problem}", is_final=isinstance(problem, WrongAssociatedData)
            ) from None
        columns = (self.attempts, self.created_at, self.queue, self.order_key)
        return Message(self.tenant_id, self.message_id, self.kind, payload, *columns)


def claim(
    database: Database,
    now: datetime,
    lane: Lane,
    *,
    after: str = "",
    without: Collection[str] = (),
    lease: timedelta = LEASE,
    search: AllTenants | None = None,
) -> ClaimedMessage | None:
    """Claim one due message of a lane, or return None; no other worker gets it until the lease expires.

    Tenants take turns: the message is the oldest one of the first tenant after `after` that has any and is not in `without`.
    """
    search = search or AllTenants(database)
    for first, last in _between(after, without):
        tenant_id = first
        while tenant_id := _next_tenant(search, now, lane, tenant_id, last):
            if message := _claim(database, tenant_id, now, lane, lease):
                return message  # else other workers were quicker
    return None


def _next_tenant(search: AllTenants, now: datetime, lane: Lane, first: str, last: str) -> str:
    """Return the first tenant after `first` and before `last` with a due message, or an empty string."""
    statement = _with_due(lane, has_first=bool(first), has_last=bool(last))
    found = search.rows(statement, {"now": now, "first": first, "last": last})
    return min((str(row.tenant_id) for row in found), default="")


@cache
def _with_due(lane: Lane, *, has_first: bool, has_last: bool) -> Compiled:
    """Build the query of `_next_tenant`; compiled, because each idle worker asks it every second for each lane."""
    where = [*_due(lane, _O)]
    where += [_O.tenant_id > bindparam("first")] if has_first else []
    where += [_O.tenant_id < bindparam("last")] if has_last else []
    return Compiled(select(_O.tenant_id).where(*where).order_by(_O.tenant_id).limit(1))


def _claim(database: Database, tenant_id: str, now: datetime, lane: Lane, lease: timedelta) -> ClaimedMessage | None:
    """Claim the oldest due message of a tenant, in its own transaction, which lies on one node; None if others claim all."""
    with of_tenant(database, tenant_id) as work:
        row = work.one(_claim_oldest(lane), {"tenant": tenant_id, "now": now, "lease_ends_at": now + lease})
    return ClaimedMessage(**row._mapping) if row else None


@cache
def _claim_oldest(lane: Lane) -> Compiled:
    o = outbox.alias("due").c
    oldest = select(o.message_id).where(o.tenant_id == TENANT, *_due(lane, o)).order_by(o.due_at).limit(1)
    is_oldest = _O.message_id == oldest.with_for_update(skip_locked=True).scalar_subquery()
    values = {"attempts": _O.attempts + 1, "due_at": bindparam("lease_ends_at"), "last_problem": CLAIMED_PROBLEM}
    columns = (_O.tenant_id, _O.message_id, _O.kind, _O.payload, _O.sealed, _O.attempts, _O.created_at)
    return Compiled(update(outbox).where(_O.tenant_id == TENANT, is_oldest).values(values).returning(*columns))


def _due(lane: Lane, o: Any) -> tuple[ColumnElement[bool], ...]:
    return (o.state == inlined("waiting"), o.queue.is_(None), lane.contains(o.kind), o.due_at <= bindparam("now"))


def _between(after: str, without: Collection[str]) -> Iterator[tuple[str, str]]:
    """Yield ranges of tenant ids to search, in turn; filtering out the thousands of rows of one tenant would be slow."""
    for start in dict.fromkeys((after, "")):
        bounds = sorted(tenant_id for tenant_id in without if tenant_id > start)
        yield from pairwise((start, *bounds, ""))


def renew(database: Database, messages: Collection[ClaimedMessage], until: datetime) -> Collection[ClaimedMessage]:
    """Extend the leases of one tenant's messages; return those whose lease was lost: another worker may have claimed them."""
    claimed = {message.message_id: message for message in messages}
    (tenant_id,) = {message.tenant_id for message in messages}
    is_claimed = tuple_(_O.message_id, _O.attempts).in_([(item.message_id, item.attempts) for item in messages])
    renewed = update(outbox).where(_O.tenant_id == tenant_id, is_claimed, _O.state == "waiting").values(due_at=until)
    with of_tenant(database, tenant_id) as work:
        kept = {row.message_id for row in work.all(renewed.returning(_O.message_id))}
    return [message for message_id, message in claimed.items() if message_id not in kept]


def release(database: Database, message: ClaimedMessage, now: datetime) -> None:
    """Return a message that was certainly not sent: it is due at once, and the attempt does not count."""
    _settle(database, message, {"due_at": now, "attempts": message.attempts - 1})


def settle_sent(database: Database, message: ClaimedMessage, now: datetime, *, keeps_payload: bool) -> None:
    """Mark a message delivered and erase its payload, which may contain a code; the development inbox keeps it."""
    values: dict[str, Any] = {"state": "sent", "finished_at": now, "last_problem": None}
    if not keeps_payload:
        values |= {"payload": {}, "sealed": None}
    _settle(database, message, values)


def settle_failed(database: Database, message: ClaimedMessage, now: datetime, problem: str, *, is_final: bool) -> bool:
    """Postpone a message with exponential backoff, or make it a dead letter. Return whether it is dead."""
    is_dead = is_final or message.attempts >= MAX_ATTEMPTS
    values: dict[str, Any] = {"last_problem": problem[:1000], "due_at": now + backoff(message.attempts)}
    if is_dead:
        values |= {"state": "dead", "finished_at": now}
    _settle(database, message, values)
    return is_dead


def settle_unknown_key(database: Database, message: ClaimedMessage, now: datetime) -> None:
    """Keep a message whose key is not known: it is retried within a minute and never becomes a dead letter for that."""
    attempts = min(message.attempts, _UNKNOWN_KEY_ATTEMPTS)
    _settle(database, message, {"last_problem": UNKNOWN_KEY, "due_at": now + backoff(attempts), "attempts": attempts})


def retry_unknown_key(database: Database, now: datetime) -> int:
    """Make due the messages that lacked a key, because a worker that starts may know it. Return their number."""
    work = UnitOfWork(database, EXEMPT)
    where = (_O.state == "waiting", _O.last_problem == UNKNOWN_KEY, _O.due_at > now)
    try:
        count = work.changed(update(outbox).where(*where).values(due_at=now))
        work.commit()
        return count
    finally:
        work.rollback()


def backoff(attempts: int) -> timedelta:
    """Return the wait after this many attempts: 15 s, doubled each time, at most 90 minutes."""
    return timedelta(seconds=min(15 * 2 ** (attempts - 1), 5400))


def list_messages(database: Database, state: str | None = None, limit: int = 100) -> Sequence[Any]:
    """Return rows of all tenants without their payloads, newest first, for an operator."""
    work = UnitOfWork(database, EXEMPT)
    columns = (_O.tenant_id, _O.message_id, _O.kind, _O.state, _O.attempts, _O.due_at, _O.created_at, _O.last_problem)
    where = [_O.kind != DISCARDED, *([] if state is None else [_O.state == state])]
    try:
        return work.all(select(*columns).where(*where).order_by(_O.created_at.desc()).limit(limit))
    finally:
        work.rollback()


def count_unsent(database: Database, most: int = MAX_COUNTED) -> Sequence[Any]:
    """Return (state, kind, messages, oldest) of the waiting and dead messages of all tenants; `most` stands for more messages too."""
    work = UnitOfWork(database, EXEMPT)
    found: list[Any] = []
    try:
        for state in UNSENT:
            if work.is_distributed:
                found += work.all(distributed_queues.unsent(state, most))
                continue
            after = ""
            while row := work.one(_next_kind(state, most), {"after": after}):
                found.append(row)
                after = row.kind
        return found
    finally:
        work.rollback()


@cache
def _next_kind(state: str, most: int) -> Compiled:
    """Return the query for the first kind after `after` with messages in a state; it reads at most `most` entries of an index."""
    o = outbox.alias().c
    is_unsent = (o.state == inlined(state), o.state != inlined("sent"))  # the condition of the index `ix_outbox_unsent`
    kinds = select(o.kind).where(*is_unsent, o.kind > bindparam("after")).order_by(o.kind).limit(1).subquery()
    of_kind = (*is_unsent, o.kind == kinds.c.kind)
    counted = select(literal_column("1").label("one")).where(*of_kind).limit(most).correlate(kinds).subquery()
    messages = select(func.count()).select_from(counted).scalar_subquery()
    oldest = select(o.created_at).where(*of_kind).order_by(o.created_at).limit(1).correlate(kinds).scalar_subquery()
    columns = (inlined(state).label("state"), kinds.c.kind, messages.label("messages"), oldest.label("oldest"))
    return Compiled(select(*columns))


def count_queues(database: Database, now: datetime) -> dict[str, int]:
    """Return how many queues of all tenants are paused, and how many are full."""
    work = UnitOfWork(database, EXEMPT)
    q = outbox_queues.c
    conditions = {"paused": q.paused_until > now, "full": q.is_full}
    counts = (func.count(case((condition, 1))).label(name) for name, condition in conditions.items())
    try:
        return dict(work.run(select(*counts)).one()._mapping)
    finally:
        work.rollback()


def list_mails_and_sms(database: Database, limit: int = 200) -> Sequence[Any]:
    """Return the encrypted mails and SMS of all tenants, newest first, for the development inbox."""
    work = UnitOfWork(database, EXEMPT)
    try:
        return work.all(
            select(outbox).where(_IS_MAIL_OR_SMS).order_by(_O.created_at.desc(), _O.message_id).limit(limit)
        )
    finally:
        work.rollback()


def delete_mails_and_sms(database: Database) -> None:
    """Delete the mails and SMS of all tenants, for the development inbox."""
    while tenants := {row.tenant_id for row in list_mails_and_sms(database)}:
        for tenant_id in tenants:  # row-level security lets no other unit of work delete them
            work = UnitOfWork(database, tenant_id)
            work.changed(delete(outbox).where(_O.tenant_id == tenant_id, _IS_MAIL_OR_SMS))
            work.commit()


def replay(database: Database, now: datetime, message_id: str | None = None) -> int:
    """Make one dead letter due again, or all of them. Return their number."""
    work = UnitOfWork(database, EXEMPT)
    is_erased = and_(_O.queue.is_not(None), _O.sealed.is_(None))  # with the account that it was about
    where = [_O.state == "dead", ~is_erased] + ([] if message_id is None else [_O.message_id == message_id])
    values = {"state": "waiting", "attempts": 0, "due_at": now, "finished_at": None, "replayed_at": now}
    try:
        count = work.changed(update(outbox).where(*where).values(**values))
        work.commit()
        return count
    finally:
        work.rollback()


def reencrypt(database: Database, encryption: Encryption, *, is_clear_only: bool = False) -> int:
    """Encrypt under the first secret all unsent payloads that are not, clear text included. Return their number.

    Payloads that no secret decrypts are left to the worker, which logs them.

    Args:
        is_clear_only: leave payloads under other secrets alone, because a running worker may not know the first one yet.
    """
    last, count = ("", ""), 0
    outdated = _in_clear_text() if is_clear_only else or_(_in_clear_text(), _under_other_secret(encryption))
    while rows := _next_to_reencrypt(database, outdated, last):
        count += _reencrypt_rows(database, encryption, rows)
        last = (rows[-1].tenant_id, rows[-1].message_id)
    return count


def _in_clear_text() -> ColumnElement[bool]:
    return and_(_IS_UNSENT, _O.queue.is_(None), _O.sealed.is_(None))


def _under_other_secret(encryption: Encryption) -> ColumnElement[bool]:
    """Return the condition for unsent messages, and all of queues, of which a value is not encrypted under the first secret."""
    sealed, answer = (
        func.substr(column, 1, len(encryption.prefix), type_=LargeBinary) != encryption.prefix
        for column in (_O.sealed, _O.sealed_answer)
    )
    return and_(or_(_IS_UNSENT, _O.queue.is_not(None)), or_(sealed, answer))


def _next_to_reencrypt(database: Database, outdated: ColumnElement[bool], last: tuple[str, str]) -> Sequence[Any]:
    work = UnitOfWork(database, EXEMPT)
    key = tuple_(_O.tenant_id, _O.message_id)
    try:
        return work.all(select(outbox).where(outdated, key > last).order_by(*key).limit(_PAGE))
    finally:
        work.rollback()


def _reencrypt_rows(database: Database, encryption: Encryption, rows: Sequence[Any]) -> int:
    work = UnitOfWork(database, EXEMPT)
    count = 0
    try:
        for row in rows:
            try:
                values = _reencrypted(encryption, row)
            except DecryptionError:
                continue
            is_it = (_O.tenant_id == row.tenant_id, _O.message_id == row.message_id)
            # not if a worker, or the deletion of its account, changed it since
            is_same = (_O.state == row.state, _O.due_at == row.due_at, _O.erase_when_done.is_(row.erase_when_done))
            count += work.changed(
                update(outbox).where(*is_it, *(is_same if row.queue else (_IS_UNSENT,))).values(values)
            )
        work.commit()
        return count
    finally:
        work.rollback()


def _reencrypted(encryption: Encryption, row: Any) -> dict[str, Any]:
    """Return the contents of a row under the first secret. Raises DecryptionError."""
    values: dict[str, Any] = {}
    if row.sealed is not None or row.queue is None:
        payload = decrypt_payload(encryption, row)
        sealed = encrypt_payload(encryption, row.tenant_id, row.message_id, row.kind, payload)
        values = {"sealed": sealed, "payload": EMPTY_PAYLOAD}
    if (answer := decrypt_answer(encryption, row)) is not None:
        values["sealed_answer"] = encrypt_answer(encryption, row, answer)
    return values


def is_unchanged(message: Any) -> tuple[ColumnElement[bool], ...]:
    """Return the condition for the row as it was read: every later claim changes `attempts`."""
    return (
        _O.tenant_id == message.tenant_id,
        _O.message_id == message.message_id,
        _O.attempts == message.attempts,
        _O.state == "waiting",
    )


def _settle(database: Database, message: ClaimedMessage, values: dict[str, Any]) -> None:
    """Write the outcome, unless the lease was lost and another worker has claimed the message."""
    with of_tenant(database, message.tenant_id) as work:
        work.run(update(outbox).where(*is_unchanged(message)).values(**values))
