"""Bounds concurrent requests, and queues requests that wait for a thread."""

import threading
from collections import deque
from collections.abc import Callable
from typing import Final, Protocol


class Slot(Protocol):
    """Permission to run a request, until `release`."""

    @property
    def may_hash(self) -> bool:
        """Whether the request may wait for a hash."""

    def release(self) -> None:
        """Record that the request has ended; the next may run."""


Start = Callable[[Slot], object]
"""Starts a waiting request in a thread; called by the thread that released a slot, and must not block."""


class QueueFull(Exception):
    """The queue is full."""


class SlotPool:
    """A bounded number of requests that run at once, behind bounded first-in first-out queues.

    Reads (GET and HEAD) have a separate queue and a quarter of the places reserved, so that slow writes do not delay pages.
    """

    def __init__(self, *, threads: int, waiting: int) -> None:
        self._lock = threading.Lock()
        self._free = threads
        self._free_for_writes = threads - threads // 4
        self._waiting = waiting
        self._runnable: deque[tuple[Start, _PoolSlot]] = deque()
        self._waiting_writes: deque[Start] = deque()
        self._read, self._write = _PoolSlot(self, is_read=True), _PoolSlot(self, is_read=False)

    def acquire(self, start: Start, *, is_read: bool) -> Slot | None:
        """Return permission to run now; None if the request waits and `start` will be called. Raises QueueFull."""
        place = self._read if is_read else self._write
        with self._lock:
            if not is_read and not self._free_for_writes:
                if len(self._waiting_writes) >= self._waiting:
                    raise QueueFull
                self._waiting_writes.append(start)
                return None
            if self._free:
                self._free -= 1
                self._free_for_writes -= not is_read
                return place
            if is_read and len(self._runnable) >= self._waiting:
                raise QueueFull
            self._free_for_writes -= not is_read
            self._runnable.append((start, place))
            return None

    def release(self, place: "_PoolSlot") -> None:
        """Give a place to the request that has waited longest."""
        with self._lock:
            if not place.is_read:
                if self._waiting_writes:
                    self._runnable.append((self._waiting_writes.popleft(), place))
                else:
                    self._free_for_writes += 1
            following = self._runnable.popleft() if self._runnable else None
            self._free += following is None
        if following is not None:
            following[0](following[1])


class _PoolSlot:
    may_hash: Final = False

    def __init__(self, pool: SlotPool, *, is_read: bool) -> None:
        self.is_read = is_read
        self._pool = pool

    def release(self) -> None:
        self._pool.release(self)
