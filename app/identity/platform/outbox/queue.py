"""What must reach the outside, written in the transaction of the change; the worker delivers it at least once.

What a message says bears links and codes, so it lies sealed, bound to its row (decisions/0081).
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pydantic_core import from_json, to_json
from sqlalchemy import insert

from app.identity.platform.encryption import Encryption
from app.identity.platform.store.unit import UnitOfWork
from app.identity.platform.tables import outbox
from app.kit import randomness
from app.kit.clock import Clock

NOTHING = "nothing"
"""The kind of a row that stands for a message that was not sent."""
ELSEWHERE: list[Any] = []
"""What the column of clear text holds: a worker of the version before stumbles over it and tries again, instead of giving up."""


class Outbox:
    """The call's way to mails, messages and webhooks."""

    def __init__(self, work: UnitOfWork, clock: Clock, encryption: Encryption) -> None:
        self._work = work
        self._clock = clock
        self._vault = encryption

    def post(self, kind: str, payload: dict[str, Any], *, due_at: datetime | None = None) -> str:
        """Put a message into the outbox and return its id. `kind`: mail, sms, webhook, backchannel_logout, push."""
        message_id = randomness.token(18)
        sealed = seal(self._vault, self._work.tenant_id, message_id, kind, payload)
        return self._write(message_id, kind, sealed=sealed, state="waiting", due_at=due_at or self._clock.now())

    def _write(self, message_id: str, kind: str, **columns: Any) -> str:
        row = {"tenant_id": self._work.tenant_id, "message_id": message_id, "kind": kind, "payload": ELSEWHERE}
        self._work.run(insert(outbox).values(**row, attempts=0, created_at=self._clock.now(), **columns))
        return message_id


class Unsent(Outbox):
    """Writes one row as for a message, and sends nothing: nobody learns by the time it took that there was none."""

    def post(self, kind: str, payload: dict[str, Any], *, due_at: datetime | None = None) -> str:
        """Write a row that holds nothing and is done."""
        now, message_id = self._clock.now(), randomness.token(18)
        seal(self._vault, self._work.tenant_id, message_id, kind, payload)
        return self._write(message_id, NOTHING, sealed=None, state="sent", due_at=due_at or now, finished_at=now)


def seal(encryption: Encryption, tenant_id: str, message_id: str, kind: str, payload: dict[str, Any]) -> bytes:
    """Seal what a message says, for its row alone."""
    return encryption.seal(to_json(payload), _context(tenant_id, message_id, kind))


def said_in(encryption: Encryption, row: Any) -> dict[str, Any]:
    """Return what a row of the outbox says; raises Unsealable."""
    if row.sealed is None:
        return dict(row.payload)
    said: dict[str, Any] = from_json(encryption.open(row.sealed, _context(row.tenant_id, row.message_id, row.kind)))
    return said


def _context(tenant_id: str, message_id: str, kind: str) -> str:
    return f"{tenant_id} outbox {message_id} {kind}"
