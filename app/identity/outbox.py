"""What must reach the outside, written in the transaction of the change; the worker delivers it at least once."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import insert

from app.identity.store.unit import UnitOfWork
from app.identity.tasks.tables import outbox
from app.kit import randomness
from app.kit.clock import Clock

NOTHING = "nothing"
"""The kind of a row that stands for a message that was not sent."""


class Outbox:
    """The call's way to mails, messages and webhooks."""

    def __init__(self, work: UnitOfWork, clock: Clock) -> None:
        self._work = work
        self._clock = clock

    def post(self, kind: str, payload: dict[str, Any], *, due_at: datetime | None = None) -> str:
        """Put a message into the outbox and return its id. `kind`: mail, sms, webhook, backchannel_logout, push."""
        return self._write(kind, payload, state="waiting", due_at=due_at or self._clock.now())

    def _write(self, kind: str, payload: dict[str, Any], **columns: Any) -> str:
        message_id = randomness.token(18)
        row = {"tenant_id": self._work.tenant_id, "message_id": message_id, "kind": kind, "payload": payload}
        self._work.run(insert(outbox).values(**row, attempts=0, created_at=self._clock.now(), **columns))
        return message_id


class Unsent(Outbox):
    """Writes one row as for a message, and sends nothing: nobody learns by the time it took that there was none."""

    def post(self, kind: str, payload: dict[str, Any], *, due_at: datetime | None = None) -> str:
        """Write a row that holds nothing and is done."""
        del kind, payload
        now = self._clock.now()
        return self._write(NOTHING, {}, state="sent", due_at=due_at or now, finished_at=now)
