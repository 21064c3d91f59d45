"""Claims messages for the delivery threads of one lane: the tenants in turn, a bounded number at once."""

from __future__ import annotations

import threading
from collections import Counter
from datetime import timedelta

from app.identity.platform.outbox import claims
from app.identity.platform.outbox.claims import ClaimedMessage
from app.identity.platform.outbox.lanes import Lane
from app.identity.platform.store.database import Database
from app.kit.clock import Clock, monotonic

IDLE_SECONDS = 1.0


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
                self._last_tenant = message.tenant_id
                self._in_progress[message.tenant_id] += 1
                self._condition.notify()  # more may be due: wake one more thread
            return message

    def done(self, message: ClaimedMessage) -> None:
        """Count the message as no longer being sent."""
        with self._condition:
            self._in_progress[message.tenant_id] -= 1
            self._in_progress += Counter()  # drops tenants with a count of zero

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

    def _claim(self) -> ClaimedMessage | None:
        full = [tenant_id for tenant_id, count in self._in_progress.items() if count >= self._max_per_tenant]
        started = monotonic()
        now = self._clock.now()
        message = claims.claim(self._database, now, self.lane, after=self._last_tenant, without=full, lease=self._lease)
        if message is None or monotonic() - started < self._lease.total_seconds() / 4:
            return message
        lost = claims.renew(self._database, [message], self._clock.now() + self._lease)  # the claim itself was slow
        return None if lost else message
