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
from app.kit.limits import time_budget

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
        """Renew the leases by tenant: on Citus, the rows of one may lie on a node that does not answer. Raises StoreUnavailable."""
        with self._lock:
            messages = tuple(self._senders)
        unavailable = None
        for tenant_id in {message.tenant_id: None for message in messages}:
            claimed = [message for message in messages if message.tenant_id == tenant_id]
            try:
                with time_budget.at_most(self.renewal_interval_seconds):
                    lost = claims.renew(self._database, claimed, self._clock.now() + self.length)
            except StoreUnavailable as problem:
                unavailable = problem
                continue
            for message in lost:
                self._interrupt(message)
        if unavailable is not None:
            raise unavailable

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
