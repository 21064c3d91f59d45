"""The outbox: messages written in the transaction of the change that causes them. The worker delivers each at least once.

Payloads contain links and codes, so they are encrypted, bound to their row (decision 0081).
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pydantic_core import from_json, to_json
from sqlalchemy import Column, Index, Integer, LargeBinary, String, Text

from app.identity.platform.encryption import Encryption
from app.identity.platform.store.compiled_statements import insert_row
from app.identity.platform.store.tables import Id, Instant, Json, tenant_table
from app.identity.platform.store.unit_of_work import UnitOfWork
from app.kit import randomness
from app.kit.clock import Clock

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
    Index("ix_outbox_due", "state", "due_at"),  # for workers of older versions
    Index("ix_outbox_turns", "state", "kind", "tenant_id", "due_at"),  # lets tenants take turns (outbox/claims.py)
)

_ADD = insert_row(outbox)
DISCARDED = "nothing"
"""The kind of a row that `NullOutbox` writes."""
EMPTY_PAYLOAD: list[Any] = []
"""The clear-text column's value: a worker of an older version fails on a list and retries, instead of giving up."""


class Outbox:
    """Accepts the mails, messages and webhooks of one request."""

    def __init__(self, work: UnitOfWork, clock: Clock, encryption: Encryption) -> None:
        self._work = work
        self._clock = clock
        self._encryption = encryption

    def post(self, kind: str, payload: dict[str, Any], *, due_at: datetime | None = None) -> str:
        """Put a message into the outbox and return its id. `kind`: mail, sms, webhook, backchannel_logout, push."""
        message_id = randomness.uid()
        sealed = encrypt_payload(self._encryption, self._work.tenant_id, message_id, kind, payload)
        return self._write(message_id, kind, sealed=sealed, state="waiting", due_at=due_at or self._clock.now())

    def _write(self, message_id: str, kind: str, **columns: Any) -> str:
        row = {"tenant_id": self._work.tenant_id, "message_id": message_id, "kind": kind, "payload": EMPTY_PAYLOAD}
        self._work.run(_ADD, {**row, "created_at": self._clock.now(), **columns})
        return message_id


class NullOutbox(Outbox):
    """Writes one row per message but sends nothing, so that the response time does not tell whether a message was sent."""

    def post(self, kind: str, payload: dict[str, Any], *, due_at: datetime | None = None) -> str:
        """Write an empty row in the state `sent`."""
        now, message_id = self._clock.now(), randomness.uid()
        encrypt_payload(self._encryption, self._work.tenant_id, message_id, kind, payload)
        return self._write(message_id, DISCARDED, sealed=None, state="sent", due_at=due_at or now, finished_at=now)


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


def _associated_data(tenant_id: str, message_id: str, kind: str) -> str:
    return f"{tenant_id} outbox {message_id} {kind}"
