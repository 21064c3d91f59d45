"""How many requests run at once, and the queues of those that wait for a thread."""

import threading
from collections import deque
from collections.abc import Callable
from typing import Final, Protocol


class Permit(Protocol):
    """Permission to run a request, until `leave`."""

    @property
    def may_hash(self) -> bool:
        """Whether the request may wait for a hash."""

    def leave(self) -> None:
        """Record that the request has ended; the next may run."""


Start = Callable[[Permit], object]
"""Hands a request that has waited over to a thread; called by the thread that makes room, and must not block."""


class PoolFull(Exception):
    """The queue is full."""


class Pool:
    """A bounded number of requests that run at once, behind bounded first-in first-out queues.

    Reads (GET and HEAD) have a separate queue and a quarter of the places reserved, so that slow writes do not delay pages.
    """

    def __init__(self, *, threads: int, waiting: int) -> None:
        self._lock = threading.Lock()
        self._free = threads
        self._free_for_writes = threads - threads // 4
        self._waiting = waiting
        self._ready: deque[tuple[Start, _Place]] = deque()
        self._held: deque[Start] = deque()
        self._read, self._write = _Place(self, is_read=True), _Place(self, is_read=False)

    def enter(self, start: Start, *, is_read: bool) -> Permit | None:
        """Return permission to run now; None if the request waits and `start` will be called. Raises PoolFull."""
        place = self._read if is_read else self._write
        with self._lock:
            if not is_read and not self._free_for_writes:
                if len(self._held) >= self._waiting:
                    raise PoolFull
                self._held.append(start)
                return None
            if self._free:
                self._free -= 1
                self._free_for_writes -= not is_read
                return place
            if is_read and len(self._ready) >= self._waiting:
                raise PoolFull
            self._free_for_writes -= not is_read
            self._ready.append((start, place))
            return None

    def leave(self, place: "_Place") -> None:
        """Give a place to the request that has waited longest."""
        with self._lock:
            if not place.is_read:
                if self._held:
                    self._ready.append((self._held.popleft(), place))
                else:
                    self._free_for_writes += 1
            following = self._ready.popleft() if self._ready else None
            self._free += following is None
        if following is not None:
            following[0](following[1])


class _Place:
    may_hash: Final = False

    def __init__(self, pool: Pool, *, is_read: bool) -> None:
        self.is_read = is_read
        self._pool = pool

    def leave(self) -> None:
        self._pool.leave(self)
