"""Answers of tenants' servers that are kept for a while."""

from __future__ import annotations

from collections.abc import Hashable
from datetime import datetime, timedelta
from typing import Any, Final

from app.kit.caching.lru_cache import LruCache

MAX_ANSWERS: Final = 4_000


class CallAnswers:
    """The answers by whom they are for, the most recently used ones of all tenants; each process has its own."""

    def __init__(self, most: int = MAX_ANSWERS) -> None:
        self._kept: LruCache[Hashable, tuple[datetime, Any]] = LruCache(most)

    def find(self, key: Hashable, now: datetime) -> Any:
        """Return an answer whose time is not over; None otherwise."""
        kept = self._kept.get(key)
        if kept is None:
            return None
        until, answer = kept
        if now < until:
            return answer
        self._kept.drop(key)
        return None

    def keep(self, key: Hashable, answer: Any, now: datetime, seconds: int) -> None:
        """Keep an answer for some seconds."""
        self._kept.put(key, (now + timedelta(seconds=seconds), answer))
