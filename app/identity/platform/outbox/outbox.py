"""The outbox: messages written in the transaction of the change that causes them. The worker delivers each at least once.

Payloads contain links and codes, so they are encrypted, bound to their row (decision 0081). Messages of a queue go to one
receiver of the tenant, in order for each order key (decision 0373).
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from pydantic_core import from_json, to_json
from sqlalchemy import (
    Boolean,
    Column,
    Index,
    Integer,
    LargeBinary,
    String,
    Text,
    bindparam,
    case,
    false,
    func,
    text,
)

from app.identity.platform.encryption import Encryption
from app.identity.platform.outbox.lanes import lane_of
from app.identity.platform.store.compiled_statements import insert_row
from app.identity.platform.store.tables import Id, Instant, Json, tenant_table
from app.identity.platform.store.unit_of_work import UnitOfWork
from app.kit import randomness
from app.kit.clock import Clock

HELD: Final = datetime(9999, 1, 1, tzinfo=UTC)
"""The `due_at` of a message that waits for an earlier one of its order key. The end of that one makes it due."""
RETRY_PERIOD: Final = timedelta(days=3)
"""How long a message of a queue is retried, from its posting or replay."""
QUEUE_IS_FULL: Final = "too many messages of its queue wait"
"""The stored `last_problem` of a message that became a dead letter at once."""

log = logging.getLogger("gatehouse.outbox")

outbox = tenant_table(
    "outbox",
    Column("message_id", Id, primary_key=True),
    Column("kind", String(32), nullable=False),  # mail, sms, webhook, backchannel_logout, push, nothing
    Column("payload", Json, nullable=False),  # empty since schema 0009
    Column("sealed", LargeBinary),  # the encrypted payload; None once erased
    Column("state", String(12), nullable=False, default="waiting"),  # waiting, sent, dead
    Column("attempts", Integer, nullable=False, default=0),
    Column("due_at", Instant, nullable=False),
    Column("created_at", Instant, nullable=False),
    Column("finished_at", Instant),
    Column("last_problem", Text),
    Column("queue", Id),  # the receiver, such as the id of a webhook: its messages are paused together
    Column("order_key", Id),  # messages of a queue with the same key are delivered in order: the uid of an account
    Column("event", String(40)),
    Column("status_code", Integer),  # of the last answer
    Column("sealed_answer", LargeBinary),  # the encrypted record of the last attempt: what was sent and answered
    Column("replayed_at", Instant),
    Column("erase_when_done", Boolean),  # the account was deleted: erase the content after delivery
    Index("ix_outbox_turns", "state", "kind", "tenant_id", "due_at"),  # for workers of older versions
)
_PARTIAL_INDEXES: Final = {
    # lets tenants take turns (outbox/claims.py); SQLite prefers it to the other one for its first column
    "ix_outbox_lanes": (("state", "kind", "tenant_id", "due_at"), "state = 'waiting' AND queue IS NULL"),
    "ix_outbox_queues": (("kind", "tenant_id", "queue", "due_at"), "state = 'waiting' AND queue IS NOT NULL"),
    "ix_outbox_order": (
        ("tenant_id", "order_key", "queue", "state", "created_at", "message_id"),
        "order_key IS NOT NULL",
    ),
    "ix_outbox_log": (("tenant_id", "queue", "state", "created_at", "message_id"), "queue IS NOT NULL"),
    "ix_outbox_ages": (("tenant_id", "state", "created_at"), "queue IS NOT NULL"),
    "ix_outbox_finished": (("tenant_id", "finished_at"), "finished_at IS NOT NULL AND queue IS NULL"),
    # for the metrics (outbox/claims.py); row-level security reads the tenant of each entry
    "ix_outbox_unsent": (("state", "kind", "created_at", "tenant_id"), "state <> 'sent'"),
}
"""Columns and rows. Messages without a queue are in the first one while they wait, and in the last one once they are finished."""
for _name, (_columns, _rows) in _PARTIAL_INDEXES.items():
    # not `postgresql_where`, which loads that dialect at each start: the migration has it
    Index(_name, *(outbox.c[column] for column in _columns), sqlite_where=text(_rows))

outbox_queues = tenant_table(
    "outbox_queues",  # a row exists while deliveries of the queue fail, or it is full
    Column("queue", Id, primary_key=True),
    Column("failures", Integer, nullable=False, default=0, server_default="0"),  # one after the other
    Column("failing_since", Instant),
    Column("paused_until", Instant),
    Column("is_full", Boolean, nullable=False, default=False, server_default=false()),
)

_ADD = insert_row(outbox, is_deferred=True)
_Q = outbox_queues.c
_IS_FULL = func.max(case((_Q.is_full, 1), else_=0)) == 1
_ADD_TO_QUEUE = insert_row(
    outbox,
    outbox.c.state,
    computed={
        "state": case((_IS_FULL, "dead"), else_="waiting"),
        "finished_at": case((_IS_FULL, bindparam("created_at", type_=Instant))),
        "last_problem": case((_IS_FULL, QUEUE_IS_FULL)),
    },
    where=(_Q.tenant_id == bindparam("tenant_id"), _Q.queue == bindparam("queue")),
)
DISCARDED = "nothing"
"""The kind of a row that `NullOutbox` writes."""
EMPTY_PAYLOAD: list[Any] = []
"""The clear-text column's value: a worker of an older version fails on a list and retries, instead of giving up."""


@dataclass(frozen=True)
class QueuedDelivery:
    """The place of a message in a queue, and what the log of deliveries shows of it.

    Args:
        queue: the receiver, such as the id of a webhook. A message for a full one becomes a dead letter at once.
        order_key: messages of the queue with the same key are delivered one after the other, in the order of posting.
        event: a name by which the log of deliveries finds the message.
        message_id: by default a new id; given where the payload contains it.
        erase_when_done: erase the content after delivery, as `removal` does with earlier messages of a deleted account.
    """

    queue: str
    order_key: str | None = None
    event: str | None = None
    message_id: str = field(default_factory=randomness.uid)
    erase_when_done: bool = False


class Outbox:
    """Accepts the mails, messages and webhooks of one request."""

    def __init__(self, work: UnitOfWork, clock: Clock, encryption: Encryption) -> None:
        self._work = work
        self._clock = clock
        self._encryption = encryption
        self._last_created_at: datetime | None = None

    def post(
        self,
        kind: str,
        payload: dict[str, Any],
        *,
        due_at: datetime | None = None,
        delivery: QueuedDelivery | None = None,
    ) -> str:
        """Put a message into the outbox and return its id. `kind`: mail, sms, webhook, backchannel_logout, push.

        Args:
            delivery: for kinds whose lane has queues. Raises ValueError where it is missing, and for other kinds.
        """
        if lane_of(kind).has_queues != (delivery is not None):
            raise ValueError(f"{kind} needs a queue" if delivery is None else f"{kind} has no queue")
        now = self._clock.now()
        message_id = randomness.uid() if delivery is None else delivery.message_id
        sealed = encrypt_payload(self._encryption, self._work.tenant_id, message_id, kind, payload)
        row = {"message_id": message_id, "kind": kind, "sealed": sealed, "created_at": now, "due_at": due_at or now}
        self._store({**row, "tenant_id": self._work.tenant_id, "payload": EMPTY_PAYLOAD}, delivery)
        return message_id

    def _store(self, row: dict[str, Any], delivery: QueuedDelivery | None) -> None:
        """Write the row of a message."""
        if delivery is None:
            self._work.run(_ADD, {**row, "state": "waiting"})
            return
        row |= {"queue": delivery.queue, "order_key": delivery.order_key, "event": delivery.event}
        row |= {
            "erase_when_done": delivery.erase_when_done or None,
            "created_at": self._next_instant(row["created_at"]),
        }
        stored = self._work.one(_ADD_TO_QUEUE, row)
        if stored is not None and stored.state == "dead":
            log.warning("outbox.full", extra={name: row[name] for name in ("kind", "message_id", "queue")})

    def _next_instant(self, now: datetime) -> datetime:
        """Return the time, later than at the last call: messages of one request have an order."""
        if self._last_created_at is not None:
            now = max(now, self._last_created_at + timedelta(microseconds=1))
        self._last_created_at = now
        return now


class NullOutbox(Outbox):
    """Writes one row per message but sends nothing, so that the response time does not tell whether a message was sent."""

    def _store(self, row: dict[str, Any], delivery: QueuedDelivery | None) -> None:  # noqa: ARG002 - the method's signature
        """Write an empty row in the state `sent`."""
        empty = {"kind": DISCARDED, "sealed": None, "state": "sent", "finished_at": row["created_at"]}
        self._work.run(_ADD, {**row, **empty})


def encrypt_payload(
    encryption: Encryption, tenant_id: str, message_id: str, kind: str, payload: dict[str, Any]
) -> bytes:
    return encryption.encrypt(to_json(payload), _associated_data(tenant_id, message_id, kind))


def decrypt_payload(encryption: Encryption, row: Any) -> dict[str, Any]:
    """Return the payload of an outbox row; raises DecryptionError."""
    if row.sealed is None:
        return dict(row.payload)
    associated_data = _associated_data(row.tenant_id, row.message_id, row.kind)
    payload: dict[str, Any] = from_json(encryption.decrypt(row.sealed, associated_data))
    return payload


def encrypt_answer(encryption: Encryption, message: Any, answer: dict[str, Any]) -> bytes:
    """Encrypt what was sent and answered, bound to the row of the message."""
    return encryption.encrypt(to_json(answer), _answers_associated_data(message))


def decrypt_answer(encryption: Encryption, row: Any) -> dict[str, Any] | None:
    """Return what was sent and answered at the last attempt, None without one; raises DecryptionError."""
    if row.sealed_answer is None:
        return None
    answer: dict[str, Any] = from_json(encryption.decrypt(row.sealed_answer, _answers_associated_data(row)))
    return answer


def _answers_associated_data(row: Any) -> str:
    return f"{_associated_data(row.tenant_id, row.message_id, row.kind)} answer"


def _associated_data(tenant_id: str, message_id: str, kind: str) -> str:
    return f"{tenant_id} outbox {message_id} {kind}"
