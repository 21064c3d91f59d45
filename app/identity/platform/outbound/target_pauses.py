"""Targets that are left alone for a while: those which did not answer several times in a row.

A request that a person waits for would wait for nothing, and hold a thread and a slot from targets that answer.
"""

from __future__ import annotations

import threading
from collections.abc import Hashable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from app.kit.caching.lru_cache import LruCache

MAX_FAILURES: Final = 3
PAUSE: Final = timedelta(seconds=10)
_MAX_TARGETS: Final = 2_000


@dataclass
class _Failures:
    """The failures of a target since its last answer."""

    count: int
    paused_until: datetime


class TargetPauses:
    """The targets that failed last; each process has its own."""

    def __init__(self) -> None:
        self._failing: LruCache[Hashable, _Failures] = LruCache(_MAX_TARGETS)
        self._lock = threading.Lock()

    def is_paused(self, target: Hashable, now: datetime) -> bool:
        """Return whether to leave a target alone. When its pause ends, one caller asks it; the others wait for the outcome."""
        with self._lock:
            failures = self._failing.get(target)
            if failures is None or failures.count < MAX_FAILURES:
                return False
            if now < failures.paused_until:
                return True
            failures.paused_until = now + PAUSE
            return False

    def record_failure(self, target: Hashable, now: datetime) -> None:
        """Count a request without an answer."""
        with self._lock:
            failures = self._failing.get(target)
            self._failing.put(target, _Failures((failures.count if failures else 0) + 1, now + PAUSE))

    def record_answer(self, target: Hashable) -> None:
        """Forget the failures of a target that answered."""
        if self._failing.peek(target) is not None:
            self._failing.drop(target)
