"""Renews the leases of the messages that one worker is sending, from a thread of its own."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

from app.identity.platform.outbox import claims
from app.identity.platform.outbox.claims import ClaimedMessage
from app.identity.platform.outbox.sender import Sender
from app.identity.platform.store.database import Database, StoreUnavailable
from app.kit.clock import Clock

log = logging.getLogger("gatehouse.worker")


class Leases:
    """The messages that this worker has claimed, each with the sender that is delivering it."""

    def __init__(self, database: Database, clock: Clock, length: timedelta) -> None:
        self.length = length
        self.renewal_interval_seconds = length.total_seconds() / 4
        self._database = database
        self._clock = clock
        self._senders: dict[ClaimedMessage, Sender | None] = {}  # None: claimed, but not being sent at the moment
        self._lock = threading.Lock()

    @contextmanager
    def renewing(self, message: ClaimedMessage) -> Iterator[None]:
        """Renew the message's lease until the block ends."""
        with self._lock:
            self._senders[message] = None
        try:
            yield
        finally:
            with self._lock:
                del self._senders[message]

    @contextmanager
    def sending(self, message: ClaimedMessage, sender: Sender) -> Iterator[None]:
        """Allow `interrupt` on the sender until the block ends."""
        with self._lock:
            self._senders[message] = sender
        try:
            yield
        finally:
            with self._lock:
                self._senders[message] = None

    def renew_until(self, stop: threading.Event) -> None:
        """Renew leases until `stop` is set. After an outage of the store retry sooner: other workers may already claim."""
        wait = self.renewal_interval_seconds
        while not stop.wait(wait):
            try:
                self._renew()
                wait = self.renewal_interval_seconds
            except StoreUnavailable as problem:
                log.warning("outbox.not_renewed", extra={"problem": str(problem)})
                wait = self.renewal_interval_seconds / 5

    def _renew(self) -> None:
        with self._lock:
            messages = tuple(self._senders)
        for lost in claims.renew(self._database, messages, self._clock.now() + self.length):
            self._interrupt(lost)

    def _interrupt(self, lost: ClaimedMessage) -> None:
        """Stop sending a message that another worker may have claimed by now."""
        with self._lock:
            if sender := self._senders.get(lost):  # otherwise it was settled in the meantime
                log.warning("outbox.lease_lost", extra={"kind": lost.kind, "message_id": lost.message_id})
                sender.interrupt()

    def interrupt_all(self) -> int:
        """Interrupt every delivery and return the number of messages that are still claimed."""
        with self._lock:
            for sender in filter(None, self._senders.values()):
                sender.interrupt()
            return len(self._senders)
