"""Bounds how much work of one kind runs at once: slots that tenants take in turn."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import ClassVar

from app.kit.clock import monotonic
from app.kit.limits.fair_queue import FairQueue
from app.kit.limits.queue_slot import may_wait

log = logging.getLogger("gatehouse.hashing")

MAX_WAIT_SECONDS = 5.0
"""How long a caller waits before `busy`."""
_AVERAGE_WEIGHT = 0.1


@dataclass(frozen=True)
class MaxWaiting:
    """How many callers may wait at once; a further one gets `busy` at once."""

    of_all: int
    of_one_tenant: int


class FairLimiter:
    """Lets `places` callers work at once. Waiting tenants take turns, each in the order of arrival."""

    busy: ClassVar[type[Exception]] = TimeoutError
    """What a caller gets that waited too long, or may not wait."""

    def __init__(
        self, places: int, max_wait_seconds: float = MAX_WAIT_SECONDS, max_waiting: MaxWaiting | None = None
    ) -> None:
        self._free = places
        self._max_wait_seconds = max_wait_seconds
        self._max_waiting = max_waiting
        self.recent_seconds = 0.0
        """Moving average of the duration of the work."""
        self._lock = threading.Lock()
        self._waiting: FairQueue[threading.Event] = FairQueue()

    @property
    def waiting(self) -> int:
        """How many callers wait."""
        with self._lock:
            return len(self._waiting)

    @contextmanager
    def place(self, tenant_id: str) -> Iterator[None]:
        """Hold a place while the work runs.

        Entering raises `busy` after the maximum wait; at once in an operation declared without heavy work (`contract/catalogue.py`),
        because other requests wait for its thread.
        """
        self._take(tenant_id)
        started = monotonic()
        try:
            yield
        finally:
            self._give_back(monotonic() - started)

    def _take(self, tenant_id: str) -> None:
        with self._lock:
            if self._free > 0:  # then the queue is empty: a released slot goes to a waiting request first
                self._free -= 1
                return
            if not may_wait.get():
                log.error("hashing.undeclared", extra={"tenant": tenant_id})
                raise self.busy
            if self._is_full(tenant_id):
                raise self.busy
            turn = threading.Event()
            self._waiting.push(tenant_id, "", turn)
        if turn.wait(self._max_wait_seconds):
            return
        with self._lock:
            if not turn.is_set():  # else it got a place at the last moment
                self._waiting.discard(tenant_id, "", turn)
                raise self.busy

    def _is_full(self, tenant_id: str) -> bool:
        most = self._max_waiting
        if most is None:
            return False
        return len(self._waiting) >= most.of_all or self._waiting.size_of(tenant_id) >= most.of_one_tenant

    def _give_back(self, seconds: float) -> None:
        """Give a place back after so many seconds."""
        with self._lock:
            self.recent_seconds += _AVERAGE_WEIGHT * (seconds - self.recent_seconds)
            turn = self._waiting.pop()
            if turn is None:
                self._free += 1
            else:
                turn.set()
