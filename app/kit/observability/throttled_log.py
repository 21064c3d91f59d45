"""Rate-limited log lines: one a second of each kind, with the number of suppressed ones."""

from __future__ import annotations

import logging
import threading
from dataclasses import dataclass
from typing import Any, Final

from app.kit.clock import monotonic

EVERY_SECONDS: Final = 1.0


@dataclass
class _Kind:
    written_at: float
    suppressed: int = 0


class ThrottledLog:
    """Logs the first event of a kind at once, and counts the following ones within a second.

    The number of suppressed lines is logged at the end of that second, so no count is lost.
    """

    def __init__(self, logger: logging.Logger, level: int = logging.WARNING) -> None:
        self._logger = logger
        self._level = level
        self._kinds: dict[str, _Kind] = {}
        self._lock = threading.Lock()

    def write(self, kind: str, event: str, **facts: Any) -> None:
        """Log `event` with `facts`, or count it; `kind` has few values, never client input."""
        now = monotonic()
        with self._lock:
            last = self._kinds.get(kind)
            if last is not None and now - last.written_at < EVERY_SECONDS:
                last.suppressed += 1
                if last.suppressed == 1:
                    self._schedule_count(kind, event, EVERY_SECONDS - (now - last.written_at))
                return
            self._kinds[kind] = _Kind(now)
        self._logger.log(self._level, event, extra={**facts, "more": 0})

    def _schedule_count(self, kind: str, event: str, seconds: float) -> None:
        timer = threading.Timer(seconds, self._log_count, (kind, event))
        timer.daemon = True
        timer.start()

    def _log_count(self, kind: str, event: str) -> None:
        with self._lock:
            last = self._kinds[kind]
            suppressed, last.suppressed, last.written_at = last.suppressed, 0, monotonic()
        self._logger.log(self._level, event, extra={"kind": kind, "more": suppressed})
