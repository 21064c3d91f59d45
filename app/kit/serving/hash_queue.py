"""The queue for requests that may compute a password hash: they wait in the event loop, round-robin across tenants.

A hash takes a CPU for tens of milliseconds, so these requests are bounded by CPUs and not by threads. They wait here as
coroutines, have threads of their own (`GrowingPool`), and no other request is ever behind them.
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
"""A request counts against `places` for so long, and for as long as so many hashes take. One that takes longer waits for something
else, for example a captcha provider, and occupies no CPU."""
_FIRST_PACE_SECONDS: Final = 0.05
_PACE_WEIGHT: Final = 0.1
_LONGEST_RETRY_SECONDS: Final = 60


@dataclass(frozen=True)
class HashLimits:
    """How many requests that may compute a hash run and wait."""

    places: int = 4
    """Run at once, of those that began a moment ago."""
    threads: int = 32
    """Run at once in all."""
    waiting: int = 1024
    """Wait at once in all."""
    waiting_of_tenant: int = 256
    """Wait at once of one tenant, or of all unknown ones together."""

    @property
    def threads_of_tenant(self) -> int:
        """The most threads one tenant may hold, so that its hanging requests leave threads to the others."""
        return max(1, self.threads * 3 // 4)


@dataclass(eq=False)
class Grant:
    """Permission to run."""

    tenant: str
    is_fresh: bool = True
    ageing: asyncio.TimerHandle | None = None


Waiter = asyncio.Future[Grant]


class HashQueue:
    """Lets requests run in turn. Used by the event loop's thread alone.

    What would wait longer than `patience_seconds` is shed: at its arrival where that can be foretold, else when the time is up.
    """

    def __init__(self, room: HashLimits, patience_seconds: float, hash_seconds: Callable[[], float] = float) -> None:
        self._room = room
        self._hash_seconds = hash_seconds
        self._patience_seconds = patience_seconds
        self._fresh = 0
        self._running: Counter[str] = Counter()
        self._queue: FairQueue[tuple[str, Waiter]] = FairQueue()
        self._pace_seconds = _FIRST_PACE_SECONDS
        self._granted_at: float | None = None

    async def enter(self, place: QueueSlot) -> Grant:
        """Wait for permission to run; release it with `leave`. Raises Shed."""
        loop = asyncio.get_running_loop()
        if not self._queue and self._has_room_for(place.tenant):
            return self._grant(loop, place.tenant)
        refusal = self._foretold(place)
        if refusal.retry_after_seconds > self._patience_seconds or self._is_full(place):
            raise refusal
        turn: Waiter = loop.create_future()
        waiting = (place.tenant, turn)
        self._queue.push(place.tenant, place.work, waiting)
        self._serve()  # those before may all be of tenants that have their threads already
        clock = loop.call_later(self._patience_seconds, self._give_up, place, waiting, refusal)
        try:
            return await turn
        except asyncio.CancelledError:
            self._queue.discard(place.tenant, place.work, waiting)
            if turn.done() and not turn.cancelled() and turn.exception() is None:
                self.leave(turn.result())
            raise
        finally:
            clock.cancel()

    def leave(self, grant: Grant) -> None:
        """Record that a request has ended; the next may run."""
        if grant.ageing is not None:
            grant.ageing.cancel()
        self._fresh -= grant.is_fresh
        grant.is_fresh = False
        self._running[grant.tenant] -= 1
        if not self._running[grant.tenant]:
            del self._running[grant.tenant]
        self._serve()

    def give_up(self, refusal: Exception) -> None:
        """Refuse all waiting requests."""
        while (waiting := self._queue.pop()) is not None:
            if not waiting[1].done():
                waiting[1].set_exception(refusal)

    def _has_room_for(self, tenant: str) -> bool:
        return self._has_room() and self._running[tenant] < self._room.threads_of_tenant

    def _has_room(self) -> bool:
        return self._fresh < self._room.places and self._running.total() < self._room.threads

    def _is_full(self, place: QueueSlot) -> bool:
        is_own = self._queue.size_of(place.tenant) >= self._room.waiting_of_tenant
        return is_own or len(self._queue) >= self._room.waiting

    def _foretold(self, place: QueueSlot) -> Shed:
        """What the request is refused with, if it is; 429 if most requests ahead of it are its own tenant's."""
        ahead, own = self._queue.ahead(place.tenant, place.work), self._queue.own_ahead(place.tenant, place.work)
        wait_seconds = math.ceil((ahead + 1) * self._pace_seconds)
        status = HTTPStatus.TOO_MANY_REQUESTS if own * 2 > ahead else HTTPStatus.SERVICE_UNAVAILABLE
        return Shed(status, min(max(1, wait_seconds), _LONGEST_RETRY_SECONDS))

    def _grant(self, loop: asyncio.AbstractEventLoop, tenant: str) -> Grant:
        grant = Grant(tenant)
        grant.ageing = loop.call_later(max(FRESH_SECONDS, FRESH_HASHES * self._hash_seconds()), self._age, grant)
        self._fresh += 1
        self._running[tenant] += 1
        return grant

    def _age(self, grant: Grant) -> None:
        self._fresh -= grant.is_fresh
        grant.is_fresh = False
        self._serve()

    def _serve(self) -> None:
        """Start as many requests as there is capacity for."""
        while self._queue and self._has_room():
            waiting = self._queue.pop(self._has_room_for)
            if waiting is None:
                return
            tenant, turn = waiting
            if not turn.done():
                loop = turn.get_loop()
                self._note_pace(loop.time())
                turn.set_result(self._grant(loop, tenant))
        if not self._queue:
            self._granted_at = None

    def _note_pace(self, now: float) -> None:
        """Learn how long one turn takes, from the time between two while others wait."""
        if self._granted_at is not None:
            self._pace_seconds += _PACE_WEIGHT * (now - self._granted_at - self._pace_seconds)
        self._granted_at = now

    def _give_up(self, place: QueueSlot, waiting: tuple[str, Waiter], refusal: Shed) -> None:
        self._queue.discard(place.tenant, place.work, waiting)
        if not waiting[1].done():
            waiting[1].set_exception(refusal)
