"""Whether the disk of a database is full: what reads goes on then, so a process stays ready and names it."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Final

from app.kit.clock import monotonic

NAMED_SECONDS: Final = 60.0
"""How long a refused write counts: small ones may succeed on a full disk, in the room that a file has left."""

OBSERVERS: Final[list[Callable[[], object]]] = []
"""Called at each refused write."""


class DiskWatch:
    """Remembers the writes of this process that the full disk of a database refused."""

    def __init__(self, address: str) -> None:
        self.address = address
        self._refused_at: float | None = None

    def record_full(self) -> None:
        self._refused_at = monotonic()
        for observer in OBSERVERS:
            observer()

    def state(self) -> str:
        """Return `full`, or an empty string."""
        at = self._refused_at
        return "full" if at is not None and monotonic() - at < NAMED_SECONDS else ""


@cache
def disk_of(address: str) -> DiskWatch:
    """Return the watch of a database: one for all that open it in this process, requests and probes."""
    return DiskWatch(address)
