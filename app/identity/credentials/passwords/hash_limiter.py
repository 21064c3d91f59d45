"""Bounds how many password hashes run at once: slots that tenants take in turn, and one separate slot for expensive hashes."""

from __future__ import annotations

import logging
import os
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Final, TypeVar

from app.identity.platform.password_hashing import HashingBusy
from app.kit.clock import monotonic
from app.kit.limits.fair_queue import FairQueue
from app.kit.limits.queue_slot import may_wait

log = logging.getLogger("gatehouse.hashing")

Result = TypeVar("Result")

MAX_WAIT_SECONDS = 5.0
"""How long a caller waits before HashingBusy."""
_AVERAGE_WEIGHT = 0.1


@dataclass(frozen=True)
class MaxWaiting:
    """How many callers may wait at once; a further one gets HashingBusy at once."""

    of_all: int
    of_one_tenant: int


class HashLimiter:
    """Lets `places` hashes run at once. Waiting tenants take turns, each in the order of arrival."""

    def __init__(
        self, places: int, max_wait_seconds: float = MAX_WAIT_SECONDS, max_waiting: MaxWaiting | None = None
    ) -> None:
        self._free = places
        self._max_wait_seconds = max_wait_seconds
        self._max_waiting = max_waiting
        self.recent_seconds = 0.0
        """Moving average of the duration of a hash."""
        self._lock = threading.Lock()
        self._waiting: FairQueue[threading.Event] = FairQueue()

    @property
    def waiting(self) -> int:
        """How many callers wait."""
        with self._lock:
            return len(self._waiting)

    @contextmanager
    def place(self, tenant_id: str) -> Iterator[None]:
        """Hold a place while a hash runs.

        Entering raises HashingBusy after the maximum wait; at once in an operation declared without hashing (`contract/catalogue.py`),
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
                raise HashingBusy
            if self._is_full(tenant_id):
                raise HashingBusy
            turn = threading.Event()
            self._waiting.push(tenant_id, "", turn)
        if turn.wait(self._max_wait_seconds):
            return
        with self._lock:
            if not turn.is_set():  # else it got a place at the last moment
                self._waiting.discard(tenant_id, "", turn)
                raise HashingBusy

    def _is_full(self, tenant_id: str) -> bool:
        most = self._max_waiting
        if most is None:
            return False
        return len(self._waiting) >= most.of_all or self._waiting.size_of(tenant_id) >= most.of_one_tenant

    def _give_back(self, seconds: float) -> None:
        """Give a place back after a hash of so many seconds."""
        with self._lock:
            self.recent_seconds += _AVERAGE_WEIGHT * (seconds - self.recent_seconds)
            turn = self._waiting.pop()
            if turn is None:
                self._free += 1
            else:
                turn.set()


_NICENESS: Final = 5
_MAX_IN_LANE: Final = MaxWaiting(of_all=16, of_one_tenant=8)


class ExpensiveLane:
    """Runs one expensive hash at a time, at a lower priority than all other threads.

    So it occupies no place of ordinary hashes, and never more memory than that of one. Raises HashingBusy, as `HashLimiter`.
    """

    def __init__(self) -> None:
        self._limiter = HashLimiter(1, max_waiting=_MAX_IN_LANE)

    def run(self, work: Callable[[], Result], tenant_id: str) -> Result:
        """Return the result of a hash that ran in this lane."""
        with self._limiter.place(tenant_id):
            return self._thread.submit(work).result()

    @cached_property
    def _thread(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(1, "expensive-hash", initializer=_lower_priority)


def _lower_priority() -> None:
    """Lower the priority of this thread. Only Linux has one for each thread; on other systems `nice` means the whole process."""
    if sys.platform == "linux":
        os.nice(_NICENESS)
