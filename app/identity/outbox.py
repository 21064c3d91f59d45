"""What must reach the outside, written in the transaction of the change; the worker delivers it at least once."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import delete, insert

from app.identity.store.unit import UnitOfWork
from app.identity.tasks.tables import outbox
from app.kit import randomness
from app.kit.clock import Clock


class Outbox:
    """The call's way to mails, messages and webhooks."""

    def __init__(self, work: UnitOfWork, clock: Clock) -> None:
        self._work = work
        self._clock = clock

    def post(self, kind: str, payload: dict[str, Any], *, due_at: datetime | None = None) -> str:
        """Put a message into the outbox and return its id. `kind`: mail, sms, webhook, backchannel_logout, push."""
        now = self._clock.now()
        message_id = randomness.token(18)
        row = {
            "tenant_id": self._work.tenant_id,
            "message_id": message_id,
            "kind": kind,
            "payload": payload,
            "state": "waiting",
            "attempts": 0,
            "due_at": due_at or now,
            "created_at": now,
        }
        self._work.run(insert(outbox).values(row))
        return message_id


class Unsent(Outbox):
    """Takes each message back at once: it costs what a message costs, so that nobody learns that none was sent."""

    def post(self, kind: str, payload: dict[str, Any], *, due_at: datetime | None = None) -> str:
        """Write a message and remove it."""
        message_id = super().post(kind, payload, due_at=due_at)
        o = outbox.c
        self._work.run(delete(outbox).where(o.tenant_id == self._work.tenant_id, o.message_id == message_id))
        return message_id
