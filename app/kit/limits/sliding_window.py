"""The counters of rate limits in this process's memory: sliding windows, weighted as those in Redis (`rate_limits.py`).

One lock protects the counters, and the first event after `CLEARING_SECONDS` removes expired ones. Keys contain what callers choose,
such as their addresses, so there are at most `MAX_COUNTERS`; beyond that, the counters furthest from their limit are dropped.
"""

from __future__ import annotations

import threading

from app.kit.clock import Clock

CLEARING_SECONDS = 30
MAX_COUNTERS = 100_000
"""About 50 MB."""
_REMAINING_SHARE = 0.75
"""The share that stays when counters are dropped, so that the next events need not drop any."""
Window = tuple[tuple[str, ...], int, int, int]
"""Key, limit, length in seconds, and number since 1970: another limit has counters of its own."""


class WindowCounts:
    """Counts per key and window, each kept until it can no longer matter.

    The previous window counts by the share of it that the last `seconds` still reach into. Times are Unix seconds.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._counts: dict[Window, tuple[int, float]] = {}  # the count, and until when it is kept
        self._cleared_at = self._now()

    def add(self, key: tuple[str, ...], most: int, seconds: int, count: int) -> float | None:
        """Count the events and return None; if they exceed the limit: count none, and return the seconds until one may be counted."""
        with self._lock:
            now = self._now()
            earlier, present, left = self._window(key, most, seconds, now)
            if int(earlier * left / seconds) + present + count > most:
                return _wait_seconds(earlier, present, left, seconds)
            self._add((key, most, seconds, int(now // seconds)), present, count, now)
            return None

    def give_back(self, key: tuple[str, ...], most: int, seconds: int) -> None:
        """Take back one event: of the present window, or of the previous one if it was counted there."""
        with self._lock:
            now = self._now()
            number = int(now // seconds)
            for window in ((key, most, seconds, number), (key, most, seconds, number - 1)):
                if (count := self._count(window, now)) > 0:
                    self._counts[window] = (count - 1, self._counts[window][1])
                    return

    def seconds_to_wait(self, key: tuple[str, ...], most: int, seconds: int) -> float | None:
        """Return None while the limit is not reached, else the seconds until an event may be counted."""
        with self._lock:
            earlier, present, left = self._window(key, most, seconds, self._now())
        if earlier * left / seconds + present < most:
            return None
        return _wait_seconds(earlier, present, left, seconds)

    def _window(self, key: tuple[str, ...], most: int, seconds: int, now: float) -> tuple[int, int, float]:
        """Return the counts of the previous and the present window, and the seconds that are left of the latter."""
        number = int(now // seconds)
        earlier, present = (key, most, seconds, number - 1), (key, most, seconds, number)
        return self._count(earlier, now), self._count(present, now), seconds - now % seconds

    def _count(self, window: Window, now: float) -> int:
        found = self._counts.get(window)
        return found[0] if found is not None and found[1] > now else 0

    def _add(self, window: Window, known: int, count: int, now: float) -> None:
        if abs(now - self._cleared_at) > CLEARING_SECONDS:
            self._cleared_at = now
            self._counts = {item: counted for item, counted in self._counts.items() if counted[1] > now}
        if not known and len(self._counts) >= MAX_COUNTERS:
            self._drop_least_used()
        ends = self._counts[window][1] if known else now + 2 * window[2]
        self._counts[window] = (known + count, ends)

    def _drop_least_used(self) -> None:
        """Drop counters. Many new keys have counted little: they must not displace a counter that is about to refuse."""

        def importance(stored: tuple[Window, tuple[int, float]]) -> tuple[float, float]:
            (_, most, _, _), (count, ends_at) = stored
            return count / max(most, 1), ends_at

        dropped = len(self._counts) - int(MAX_COUNTERS * _REMAINING_SHARE)
        self._counts = dict(sorted(self._counts.items(), key=importance)[dropped:])

    def _now(self) -> float:
        return self._clock.now().timestamp()


def _wait_seconds(earlier: int, present: int, left: float, seconds: int) -> float:
    """Return when the weighted count falls next: an event of the previous window no longer counts, or the window ends."""
    waits = ([left % (seconds / earlier)] if earlier else []) + ([left] if present else [])
    return min(waits, default=0.0)
