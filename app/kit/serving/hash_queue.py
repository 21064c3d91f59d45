"""The queue for requests that may compute an expensive hash: they wait without a thread, round-robin across owners.

A hash takes a CPU for tens of milliseconds, so CPUs and not threads bound these requests. They run beside those of the pool, so
no other request waits behind them.
"""

import math
import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final

from app.kit.clock import monotonic
from app.kit.limits.fair_queue import FairQueue
from app.kit.limits.queue_slot import LoadShed, QueueSlot

FRESH_SECONDS: Final = 0.25
FRESH_HASHES: Final = 4
"""A request counts against `running` for `FRESH_SECONDS`, and for at least the duration of `FRESH_HASHES` hashes. A longer request
waits for something else, for example a remote service, and occupies no CPU."""
ACTIVE_SECONDS: Final = 2.0
"""How long an owner counts as active after a request. While another owner is active, an owner gets at most half of `running`, so
that the other's next request finds a free CPU."""
_FIRST_PACE_SECONDS: Final = 0.05
_PACE_WEIGHT: Final = 0.1
_MAX_RETRY_SECONDS: Final = 60


@dataclass(frozen=True)
class HashLimits:
    """How many requests that may compute a hash run and wait in one process."""

    running: int = 4
    """Fresh requests that run at once."""
    threads: int = 32
    """Requests that run at once in all."""
    waiting: int = 1024
    """Requests that wait at once in all."""
    waiting_per_owner: int = 256
    """Requests of one owner that wait at once; all unknown owners count as one."""

    @property
    def threads_per_owner(self) -> int:
        """The most threads one owner may hold, so that its hanging requests leave threads to the others."""
        return max(1, self.threads * 3 // 4)


@dataclass(eq=False)
class HashSlot:
    """Permission to run a hashing request."""

    owner: str
    fresh_until: float
    queue: "HashQueue"
    may_hash: Final = True

    def release(self) -> None:
        """Record that the request has ended; the next may run."""
        self.queue.release(self)


@dataclass(eq=False)
class _Waiting:
    """A request in the queue, until `turn` is called."""

    slot: QueueSlot
    turn: Callable[[HashSlot | LoadShed], object]
    shed: LoadShed
    leaves_at: float


class HashQueue:
    """Admits requests in turn. Safe for threads.

    A request that would wait longer than `patience_seconds` is shed: on arrival if the estimate says so, else by `tick`.
    """

    def __init__(
        self,
        limits: HashLimits,
        patience_seconds: float,
        hash_seconds: Callable[[], float] = float,
        now: Callable[[], float] = monotonic,
    ) -> None:
        self._limits = limits
        self._patience_seconds = patience_seconds
        self._hash_seconds = hash_seconds
        self._now = now
        self._lock = threading.Lock()
        self._fresh: set[HashSlot] = set()
        self._running: Counter[str] = Counter()
        self._queue: FairQueue[_Waiting] = FairQueue()
        self._newest, self._newest_at = "", -math.inf
        self._other_at = -math.inf
        """When an owner other than `_newest` last sent a request."""
        self._by_arrival: dict[_Waiting, None] = {}
        self._pace_seconds = _FIRST_PACE_SECONDS
        self._granted_at: float | None = None

    def acquire(self, slot: QueueSlot, on_end: Callable[[HashSlot | LoadShed], object]) -> HashSlot | None:
        """Return permission to run now, to be released with `release`; None if the request waits. Raises LoadShed.

        Args:
            on_end: called at the end of the wait by another thread; must not block.
        """
        with self._lock:
            now = self._now()
            self._age(now)
            self._note_active(slot.owner, now)
            if not self._queue and self._may_run(slot.owner):
                return self._grant(slot.owner, now)
            shed = self._estimate(slot)
            if shed.retry_after_seconds > self._patience_seconds or self._is_full(slot):
                raise shed
            waiting = _Waiting(slot, on_end, shed, now + self._patience_seconds)
            self._queue.push(slot.owner, slot.work, waiting)
            self._by_arrival[waiting] = None
            served = self._served(now)  # all requests ahead may belong to owners that hold all their threads
        _call(served)
        return None

    def release(self, slot: HashSlot) -> None:
        """Record that a request has ended; the next may run."""
        with self._lock:
            self._fresh.discard(slot)
            self._running[slot.owner] -= 1
            if not self._running[slot.owner]:
                del self._running[slot.owner]
            served = self._served(self._now())
        _call(served)

    def tick(self) -> None:
        """Let requests run beside those that are no longer fresh, and shed those that have waited too long."""
        with self._lock:
            now = self._now()
            served: list[tuple[_Waiting, HashSlot | LoadShed]] = [*self._served(now)]
            while (first := next(iter(self._by_arrival), None)) is not None and first.leaves_at <= now:
                del self._by_arrival[first]
                self._queue.discard(first.slot.owner, first.slot.work, first)
                served.append((first, first.shed))
        _call(served)

    def _may_run(self, owner: str) -> bool:
        if not self._has_capacity() or self._running[owner] >= self._limits.threads_per_owner:
            return False
        return sum(slot.owner == owner for slot in self._fresh) < self._share_of(owner)

    def _note_active(self, owner: str, now: float) -> None:
        if owner != self._newest:
            self._newest, self._other_at = owner, self._newest_at
        self._newest_at = now

    def _share_of(self, owner: str) -> int:
        """Return how many fresh requests of this owner may run at once."""
        other_at = self._other_at if owner == self._newest else self._newest_at
        if other_at + ACTIVE_SECONDS < self._now():
            return self._limits.running
        return max(1, self._limits.running // 2)

    def _has_capacity(self) -> bool:
        return len(self._fresh) < self._limits.running and self._running.total() < self._limits.threads

    def _is_full(self, slot: QueueSlot) -> bool:
        is_own = self._queue.size_of(slot.owner) >= self._limits.waiting_per_owner
        return is_own or len(self._queue) >= self._limits.waiting

    def _estimate(self, slot: QueueSlot) -> LoadShed:
        """Return the refusal for this slot, with the estimated wait; 429 if its owner has most of the requests ahead."""
        ahead, own = self._queue.ahead(slot.owner, slot.work), self._queue.own_ahead(slot.owner, slot.work)
        wait_seconds = math.ceil((ahead + 1) * self._pace_seconds)
        status = HTTPStatus.TOO_MANY_REQUESTS if own * 2 > ahead else HTTPStatus.SERVICE_UNAVAILABLE
        return LoadShed(status, min(max(1, wait_seconds), _MAX_RETRY_SECONDS))

    def _grant(self, owner: str, now: float) -> HashSlot:
        slot = HashSlot(owner, now + max(FRESH_SECONDS, FRESH_HASHES * self._hash_seconds()), self)
        self._fresh.add(slot)
        self._running[owner] += 1
        return slot

    def _age(self, now: float) -> None:
        self._fresh = {slot for slot in self._fresh if slot.fresh_until > now}

    def _served(self, now: float) -> list[tuple[_Waiting, HashSlot]]:
        """Return the next requests, as many as there is capacity for, with their slots."""
        served: list[tuple[_Waiting, HashSlot]] = []
        self._age(now)
        while self._queue and self._has_capacity():
            waiting = self._queue.pop(self._may_run)
            if waiting is None:
                return served
            del self._by_arrival[waiting]
            self._update_pace(now)
            served.append((waiting, self._grant(waiting.slot.owner, now)))
        if not self._queue:
            self._granted_at = None
        return served

    def _update_pace(self, now: float) -> None:
        """Update the average time between two admissions while requests wait."""
        if self._granted_at is not None:
            self._pace_seconds += _PACE_WEIGHT * (now - self._granted_at - self._pace_seconds)
        self._granted_at = now


def _call(served: "list[tuple[_Waiting, HashSlot]] | list[tuple[_Waiting, HashSlot | LoadShed]]") -> None:
    """Call the waiters outside of the lock, because they may call the queue again."""
    for waiting, turn in served:
        waiting.turn(turn)
