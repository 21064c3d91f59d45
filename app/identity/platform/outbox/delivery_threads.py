"""The places of a lane: threads that take one message after the other, the tenants in turn, a bounded number at once."""

from __future__ import annotations

import threading
from collections import Counter
from datetime import timedelta

from app.identity.platform.outbox import claims
from app.identity.platform.outbox.claims import Claimed
from app.identity.platform.outbox.lanes import Lane
from app.identity.platform.store.database import Database
from app.kit.clock import Clock, monotonic

IDLE_SECONDS = 1.0


class Places:
    """What the places of one lane of one worker share.

    Args:
        size: how many messages are sent at once. One tenant has at most all places but one: another tenant's next
            message need not even wait for one of a tenant that floods the lane.
    """

    def __init__(self, database: Database, clock: Clock, lane: Lane, *, size: int, lease: timedelta) -> None:
        self.lane = lane
        self.size = size
        self._database = database
        self._clock = clock
        self._lease = lease
        self._most_of_a_tenant = max(1, size - 1)
        self._busy: Counter[str] = Counter()
        self._last_tenant = ""
        self._turn = threading.Condition()
        self._is_watched = False
        self._is_closed = False

    def take(self) -> Claimed | None:
        """Return the next message, leased, or None; the caller reports its end with `done`. Raises StoreUnavailable."""
        with self._turn:
            message = self._claimed()
            if message is not None:
                self._last_tenant = message.tenant_id
                self._busy[message.tenant_id] += 1
                self._turn.notify()  # there may be more: one more place looks
            return message

    def done(self, message: Claimed) -> None:
        """Count a message as no longer being sent."""
        with self._turn:
            self._busy[message.tenant_id] -= 1
            self._busy += Counter()  # drops who has none

    def wait(self) -> None:
        """Wait until it may be worth looking: one place looks every second, and wakes another when it found something."""
        with self._turn:
            if self._is_closed:
                return
            if self._is_watched:
                self._turn.wait()
                return
            self._is_watched = True
            self._turn.wait(IDLE_SECONDS)
            self._is_watched = False

    def close(self) -> None:
        """Wake all waiting threads."""
        with self._turn:
            self._is_closed = True
            self._turn.notify_all()

    def _claimed(self) -> Claimed | None:
        full = [tenant_id for tenant_id, count in self._busy.items() if count >= self._most_of_a_tenant]
        begun = monotonic()
        now = self._clock.now()
        message = claims.claim(self._database, now, self.lane, after=self._last_tenant, without=full, lease=self._lease)
        if message is None or monotonic() - begun < self._lease.total_seconds() / 4:
            return message
        lost = claims.renew(self._database, [message], self._clock.now() + self._lease)  # the store took its time
        return None if lost else message
