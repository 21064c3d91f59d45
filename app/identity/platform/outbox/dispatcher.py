"""Claims messages for the delivery threads of one lane: the tenants in turn, a bounded number at once."""

from __future__ import annotations

import threading
from collections import Counter
from datetime import datetime, timedelta

from app.identity.platform.outbox import claims, queue_claims
from app.identity.platform.outbox.all_tenants import AllTenants
from app.identity.platform.outbox.claims import ClaimedMessage
from app.identity.platform.outbox.lanes import Lane
from app.identity.platform.outbox.queue_claims import Search
from app.identity.platform.store.database import Database
from app.kit.clock import Clock, monotonic

IDLE_SECONDS = 1.0
MAX_PER_QUEUE = 4
SLOW_SECONDS = 2.0
"""A delivery that takes longer makes its tenant a slow one."""
SLOW_FOR_SECONDS = 600.0
_REMEMBERED_TENANTS = 1000
_MAX_SLOW_TENANTS = 100
"""A claim names each one that it passes over."""


class LaneDispatcher:
    """The state that the delivery threads of one lane of one worker share.

    Args:
        size: the number of messages sent at once. One tenant gets at most `size - 1` of them, so the next message of
            another tenant never waits for a tenant that floods the lane.
    """

    def __init__(self, database: Database, clock: Clock, lane: Lane, *, size: int, lease: timedelta) -> None:
        self.lane = lane
        self.size = size
        self._database = database
        self._clock = clock
        self._lease = lease
        self._all_tenants = AllTenants(database)
        self._max_per_tenant = max(1, size - 1)
        self._in_progress: Counter[str] = Counter()
        self._last_tenant = ""
        self._condition = threading.Condition()
        self._has_poller = False
        self._is_closed = False

    def take(self) -> ClaimedMessage | None:
        """Claim the next message, or return None; the caller reports its end with `done`. Raises StoreUnavailable."""
        with self._condition:
            message = self._claim()
            if message is not None:
                self._begun(message)
                self._condition.notify()  # more may be due: wake one more thread
            return message

    def done(self, message: ClaimedMessage) -> None:
        """Count the message as no longer being sent."""
        with self._condition:
            self._ended(message)

    def wait(self) -> None:
        """Wait until a message may be due: one thread polls every second, and wakes another when it found one."""
        with self._condition:
            if self._is_closed:
                return
            if self._has_poller:
                self._condition.wait()
                return
            self._has_poller = True
            self._condition.wait(IDLE_SECONDS)
            self._has_poller = False

    def close(self) -> None:
        """Wake all waiting threads."""
        with self._condition:
            self._is_closed = True
            self._condition.notify_all()

    def _begun(self, message: ClaimedMessage) -> None:
        self._last_tenant = message.tenant_id
        self._in_progress[message.tenant_id] += 1

    def _ended(self, message: ClaimedMessage) -> None:
        self._in_progress[message.tenant_id] -= 1
        self._in_progress += Counter()  # drops tenants with a count of zero

    def _claim(self) -> ClaimedMessage | None:
        started = monotonic()
        message = self._claim_next(self._clock.now())
        if message is None or monotonic() - started < self._lease.total_seconds() / 4:
            return message
        lost = claims.renew(self._database, [message], self._clock.now() + self._lease)  # the claim itself was slow
        return None if lost else message

    def _claim_next(self, now: datetime) -> ClaimedMessage | None:
        full, after = self._full_tenants(), self._last_tenant
        given = (self._database, now, self.lane)
        return claims.claim(*given, after=after, without=full, lease=self._lease, search=self._all_tenants)

    def _full_tenants(self) -> list[str]:
        return [tenant_id for tenant_id, count in self._in_progress.items() if count >= self._max_per_tenant]


class QueueDispatcher(LaneDispatcher):
    """The same of a lane with queues. One tenant gets at most half of `size`, one of its queues fewer, and at most `MAX_PER_QUEUE`.

    A receiver that does not answer leaves threads to the tenant's others until its queue is paused. One that answers in the last
    moment is never paused: all tenants with such receivers together get half of `size`.
    """

    def __init__(self, database: Database, clock: Clock, lane: Lane, *, size: int, lease: timedelta) -> None:
        super().__init__(database, clock, lane, size=size, lease=lease)
        self._max_per_tenant = max(1, size // 2)
        self._max_per_queue = max(1, min(MAX_PER_QUEUE, self._max_per_tenant - 1))
        self._in_queues: Counter[tuple[str, str]] = Counter()
        self._last_queues: dict[str, str] = {}
        self._begun_at: dict[ClaimedMessage, float] = {}
        self._slow_until: dict[str, float] = {}

    def _begun(self, message: ClaimedMessage) -> None:
        super()._begun(message)
        self._begun_at[message] = monotonic()
        self._in_queues[message.tenant_id, str(message.queue)] += 1
        self._last_queues.pop(message.tenant_id, None)
        self._last_queues[message.tenant_id] = str(message.queue)
        if len(self._last_queues) > _REMEMBERED_TENANTS:
            del self._last_queues[next(iter(self._last_queues))]

    def _ended(self, message: ClaimedMessage) -> None:
        super()._ended(message)
        now = monotonic()
        if now - self._begun_at.pop(message, now) > SLOW_SECONDS:
            self._slow_until.pop(message.tenant_id, None)
            self._slow_until[message.tenant_id] = now + SLOW_FOR_SECONDS
            if len(self._slow_until) > _MAX_SLOW_TENANTS:
                del self._slow_until[next(iter(self._slow_until))]
        self._in_queues[message.tenant_id, str(message.queue)] -= 1
        self._in_queues += Counter()

    def _claim_next(self, now: datetime) -> ClaimedMessage | None:
        full = [queue for queue, count in self._in_queues.items() if count >= self._max_per_queue]
        search = Search(self._last_tenant, self._last_queues, self._full_tenants(), full)
        given = (self._database, now, self.lane, search)
        return queue_claims.claim(*given, lease=self._lease, all_tenants=self._all_tenants)

    def _full_tenants(self) -> list[str]:
        full, slow = super()._full_tenants(), self._slow_tenants()
        is_share_used = sum(self._in_progress[tenant_id] for tenant_id in slow) >= self.size // 2
        return sorted({*full, *slow}) if is_share_used else full

    def _slow_tenants(self) -> set[str]:
        now = monotonic()
        known = {tenant_id for tenant_id, until in self._slow_until.items() if now < until}
        return known | {message.tenant_id for message, at in self._begun_at.items() if now - at > SLOW_SECONDS}


def dispatcher(database: Database, clock: Clock, lane: Lane, *, size: int, lease: timedelta) -> LaneDispatcher:
    """Return the dispatcher of a lane, where `size` is that of lanes without queues; one with queues has twice as many threads."""
    if lane.has_queues:
        return QueueDispatcher(database, clock, lane, size=2 * size, lease=lease)
    return LaneDispatcher(database, clock, lane, size=size, lease=lease)
