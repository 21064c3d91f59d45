"""The queue for requests that may compute an expensive hash: they wait in the event loop, round-robin across owners.

A hash takes a CPU for tens of milliseconds, so CPUs and not threads bound these requests. They wait here as coroutines
and run in a separate pool of threads (`GrowingPool`), so no other request waits behind them.
"""

import asyncio
import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final

from app.kit.admission import QueueSlot, Shed
from app.kit.fair_queue import FairQueue

FRESH_SECONDS: Final = 0.25
FRESH_HASHES: Final = 4
"""A request counts against `running` for `FRESH_SECONDS`, and for at least the duration of `FRESH_HASHES` hashes. One that takes
longer waits for something else, for example a remote service, and occupies no CPU."""
_FIRST_PACE_SECONDS: Final = 0.05
_PACE_WEIGHT: Final = 0.1
_LONGEST_RETRY_SECONDS: Final = 60


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
class Grant:
    """Permission to run."""

    owner: str
    is_fresh: bool = True
    ageing: asyncio.TimerHandle | None = None


Waiter = asyncio.Future[Grant]


class HashQueue:
    """Admits requests in turn. Used by the event loop's thread only.

    A request that would wait longer than `patience_seconds` is shed: on arrival if the estimate says so, else when the time is up.
    """

    def __init__(self, limits: HashLimits, patience_seconds: float, hash_seconds: Callable[[], float] = float) -> None:
        self._limits = limits
        self._hash_seconds = hash_seconds
        self._patience_seconds = patience_seconds
        self._fresh = 0
        self._running: Counter[str] = Counter()
        self._queue: FairQueue[tuple[str, Waiter]] = FairQueue()
        self._pace_seconds = _FIRST_PACE_SECONDS
        self._granted_at: float | None = None

    async def enter(self, slot: QueueSlot) -> Grant:
        """Wait for permission to run; release it with `leave`. Raises Shed."""
        loop = asyncio.get_running_loop()
        if not self._queue and self._may_run(slot.owner):
            return self._grant(loop, slot.owner)
        refusal = self._estimate(slot)
        if refusal.retry_after_seconds > self._patience_seconds or self._is_full(slot):
            raise refusal
        waiter: Waiter = loop.create_future()
        waiting = (slot.owner, waiter)
        self._queue.push(slot.owner, slot.work, waiting)
        self._serve()  # all requests ahead may belong to owners that hold all their threads
        clock = loop.call_later(self._patience_seconds, self._give_up, slot, waiting, refusal)
        try:
            return await waiter
        except asyncio.CancelledError:
            self._queue.discard(slot.owner, slot.work, waiting)
            if waiter.done() and not waiter.cancelled() and waiter.exception() is None:
                self.leave(waiter.result())
            raise
        finally:
            clock.cancel()

    def leave(self, grant: Grant) -> None:
        """Record that a request has ended; the next may run."""
        if grant.ageing is not None:
            grant.ageing.cancel()
        self._fresh -= grant.is_fresh
        grant.is_fresh = False
        self._running[grant.owner] -= 1
        if not self._running[grant.owner]:
            del self._running[grant.owner]
        self._serve()

    def give_up(self, refusal: Exception) -> None:
        """Refuse all waiting requests."""
        while (waiting := self._queue.pop()) is not None:
            if not waiting[1].done():
                waiting[1].set_exception(refusal)

    def _may_run(self, owner: str) -> bool:
        return self._has_capacity() and self._running[owner] < self._limits.threads_per_owner

    def _has_capacity(self) -> bool:
        return self._fresh < self._limits.running and self._running.total() < self._limits.threads

    def _is_full(self, slot: QueueSlot) -> bool:
        is_own = self._queue.size_of(slot.owner) >= self._limits.waiting_per_owner
        return is_own or len(self._queue) >= self._limits.waiting

    def _estimate(self, slot: QueueSlot) -> Shed:
        """Return the refusal for this slot, with the estimated wait; 429 if its owner has most of the requests ahead."""
        ahead, own = self._queue.ahead(slot.owner, slot.work), self._queue.own_ahead(slot.owner, slot.work)
        wait_seconds = math.ceil((ahead + 1) * self._pace_seconds)
        status = HTTPStatus.TOO_MANY_REQUESTS if own * 2 > ahead else HTTPStatus.SERVICE_UNAVAILABLE
        return Shed(status, min(max(1, wait_seconds), _LONGEST_RETRY_SECONDS))

    def _grant(self, loop: asyncio.AbstractEventLoop, owner: str) -> Grant:
        grant = Grant(owner)
        grant.ageing = loop.call_later(max(FRESH_SECONDS, FRESH_HASHES * self._hash_seconds()), self._age, grant)
        self._fresh += 1
        self._running[owner] += 1
        return grant

    def _age(self, grant: Grant) -> None:
        self._fresh -= grant.is_fresh
        grant.is_fresh = False
        self._serve()

    def _serve(self) -> None:
        """Start as many requests as there is capacity for."""
        while self._queue and self._has_capacity():
            waiting = self._queue.pop(self._may_run)
            if waiting is None:
                return
            owner, waiter = waiting
            if not waiter.done():
                loop = waiter.get_loop()
                self._update_pace(loop.time())
                waiter.set_result(self._grant(loop, owner))
        if not self._queue:
            self._granted_at = None

    def _update_pace(self, now: float) -> None:
        """Update the average time between two permits while requests wait."""
        if self._granted_at is not None:
            self._pace_seconds += _PACE_WEIGHT * (now - self._granted_at - self._pace_seconds)
        self._granted_at = now

    def _give_up(self, slot: QueueSlot, waiting: tuple[str, Waiter], refusal: Shed) -> None:
        self._queue.discard(slot.owner, slot.work, waiting)
        if not waiting[1].done():
            waiting[1].set_exception(refusal)
