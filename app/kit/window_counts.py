"""The counters of rate limits in this process's memory.

The library's own memory store starts a cleanup thread after nearly every hit. Here one lock protects the counters, and the
first hit after `CLEARING_SECONDS` removes expired ones.
"""

from __future__ import annotations

import threading

from limits.storage.base import SlidingWindowCounterSupport, Storage, TimestampedSlidingWindow

from app.kit.clock import Clock

CLEARING_SECONDS = 30


class WindowCounts(Storage, SlidingWindowCounterSupport, TimestampedSlidingWindow):
    """Counts per window, each kept until it can no longer matter. Times are Unix seconds."""

    def __init__(self, clock: Clock) -> None:
        super().__init__()
        self._clock = clock
        self._lock = threading.Lock()
        self._counts: dict[str, tuple[int, float]] = {}  # the count, and until when it is kept
        self._cleared_at = self._now()

    @property
    def base_exceptions(self) -> type[Exception]:
        return ValueError

    def acquire_sliding_window_entry(self, key: str, limit: int, expiry: int, amount: int = 1) -> bool:
        """Count the amount, unless that would exceed the limit; return whether it was counted."""
        with self._lock:
            now = self._now()
            earlier, left, count, _ = self._window(key, expiry, now)
            if int(earlier * left / expiry) + count + amount > limit:
                return False
            self._add(self.sliding_window_keys(key, expiry, now)[1], 2 * expiry, amount, now)
            return True

    def get_sliding_window(self, key: str, expiry: int) -> tuple[int, float, int, float]:
        with self._lock:
            return self._window(key, expiry, self._now())

    def clear_sliding_window(self, key: str, expiry: int) -> None:
        for window in self.sliding_window_keys(key, expiry, self._now()):
            self.clear(window)

    def incr(self, key: str, expiry: int, amount: int = 1) -> int:
        with self._lock:
            return self._add(key, expiry, amount, self._now())

    def get(self, key: str) -> int:
        with self._lock:
            return self._count(key, self._now())

    def get_expiry(self, key: str) -> float:
        with self._lock:
            return self._counts.get(key, (0, self._now()))[1]

    def check(self) -> bool:
        return True

    def reset(self) -> int:
        with self._lock:
            known = len(self._counts)
            self._counts.clear()
            return known

    def clear(self, key: str) -> None:
        with self._lock:
            self._counts.pop(key, None)

    def _window(self, key: str, expiry: int, now: float) -> tuple[int, float, int, float]:
        """Return count and remaining seconds of the previous and the current window."""
        earlier, present = self.sliding_window_keys(key, expiry, now)
        left = (1 - (now / expiry) % 1) * expiry
        return self._count(earlier, now), left, self._count(present, now), left + expiry

    def _count(self, key: str, now: float) -> int:
        count, ends = self._counts.get(key, (0, 0.0))
        return count if ends > now else 0

    def _add(self, key: str, expiry: int, amount: int, now: float) -> int:
        if abs(now - self._cleared_at) > CLEARING_SECONDS:
            self._cleared_at = now
            self._counts = {held: kept for held, kept in self._counts.items() if kept[1] > now}
        known = self._count(key, now)
        ends = self._counts[key][1] if known else now + expiry
        self._counts[key] = (known + amount, ends)
        return known + amount

    def _now(self) -> float:
        return self._clock.now().timestamp()
