"""The leases of one worker: what it sends just now, renewed from a thread of its own for as long as sending takes."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

from app.identity.platform.outbox import claims
from app.identity.platform.outbox.claims import Claimed
from app.identity.platform.outbox.sender import Sender
from app.identity.platform.store.database import Database, StoreUnavailable
from app.kit.clock import Clock

log = logging.getLogger("gatehouse.worker")


class Leases:
    """What is being sent, and by which sender."""

    def __init__(self, database: Database, clock: Clock, length: timedelta) -> None:
        self.length = length
        self.renewed_every_seconds = length.total_seconds() / 4
        self._database = database
        self._clock = clock
        self._held: dict[Claimed, Sender | None] = {}  # and by whom it is being sent at the moment
        self._lock = threading.Lock()

    @contextmanager
    def held(self, message: Claimed) -> Iterator[None]:
        """Keep a message leased meanwhile."""
        with self._lock:
            self._held[message] = None
        try:
            yield
        finally:
            with self._lock:
                del self._held[message]

    @contextmanager
    def sending(self, message: Claimed, sender: Sender) -> Iterator[None]:
        """Let a message that is held be broken off meanwhile."""
        with self._lock:
            self._held[message] = sender
        try:
            yield
        finally:
            with self._lock:
                self._held[message] = None

    def renew_until(self, stop: threading.Event) -> None:
        """Renew what is held, until told to stop. A store that is away is asked again at once: others may look for what is due."""
        wait = self.renewed_every_seconds
        while not stop.wait(wait):
            try:
                self._renew()
                wait = self.renewed_every_seconds
            except StoreUnavailable as problem:
                log.warning("outbox.not_renewed", extra={"problem": str(problem)})
                wait = self.renewed_every_seconds / 5

    def _renew(self) -> None:
        with self._lock:
            messages = tuple(self._held)
        for lost in claims.renew(self._database, messages, self._clock.now() + self.length):
            self._interrupt(lost)

    def _interrupt(self, lost: Claimed) -> None:
        """Stop sending what another worker has by now, where it is not out yet."""
        with self._lock:
            if sender := self._held.get(lost):  # else it was settled meanwhile
                log.warning("outbox.lease_lost", extra={"kind": lost.kind, "message_id": lost.message_id})
                sender.interrupt()

    def interrupt_all(self) -> int:
        """Break off everything that is not out yet; returns how many messages are still held."""
        with self._lock:
            for sender in filter(None, self._held.values()):
                sender.interrupt()
            return len(self._held)
