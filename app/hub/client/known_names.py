"""Few calls of the hub, however many names of files that a tenant does not have browsers ask for (decision 0422)."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

from app.kit.caching.lru_cache import LruCache
from app.kit.clock import monotonic

Found = TypeVar("Found")
WINDOW_SECONDS: Final = 10.0
MAX_MISSES: Final = 5
"""Unknown names of a tenant that the hub asks for in a window; after those it asks for the list of the known ones, once."""
_MAX_TENANTS: Final = 500
"""Tenants with misses of a kind in memory, each with up to 170 kB of names."""


@dataclass(slots=True)
class _Misses:
    began_at: float
    count: int = 0
    known: str | None = None
    """The tenant's names, once the misses of this window are spent."""

    @property
    def is_over(self) -> bool:
        return monotonic() - self.began_at >= WINDOW_SECONDS

    def excludes(self, name: str) -> bool:
        """Return whether it is known in this window that the tenant has no such name."""
        return self.known is not None and name not in self.known and not self.is_over


class KnownNames:
    """Which names of files the tenants have, while browsers ask for unknown ones. Thread-safe."""

    def __init__(self) -> None:
        self._misses: LruCache[tuple[str, str], _Misses] = LruCache(_MAX_TENANTS)
        self._lock = threading.Lock()

    def find(
        self,
        kind: str,
        tenant: str,
        name: str,
        read: Callable[[], Found | None],
        names: Callable[[], Sequence[str] | None],
    ) -> Found | None:
        """Return what has a name; None if the tenant has no such name.

        While a tenant's misses are spent, what was stored after the list was read appears when the window ends.

        Args:
            kind: of the files; each kind has names of its own.
            name: without blanks, and as long as every other of its kind.
            read: calls the identity service for what has the name; returns None for an unknown one.
            names: calls it for the list of the tenant's names; returns None if they are too many to list.
        """
        misses = self._misses.get((kind, tenant))
        if misses is not None and misses.excludes(name):
            return None
        found = read()
        if found is None:
            self._note_miss((kind, tenant), names)
        return found

    def _note_miss(self, key: tuple[str, str], names: Callable[[], Sequence[str] | None]) -> None:
        with self._lock:
            misses = self._misses.get(key)
            if misses is None or misses.is_over:
                misses = _Misses(monotonic())
                self._misses.put(key, misses)
            misses.count += 1
            is_spent = misses.count == MAX_MISSES
        if is_spent and (known := names()) is not None:
            misses.known = " ".join(known)
