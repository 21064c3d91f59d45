"""Whether the disk of the database is full: what reads goes on then, so a process stays ready and names it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from app.kit.clock import monotonic

NAMED_SECONDS: Final = 60.0
"""How long a refused write counts: small ones may succeed on a full disk, in the room that a file has left."""


class DiskWatch:
    """Remembers refused writes of this process."""

    def __init__(self) -> None:
        self._refused_at: float | None = None
        self._observers: list[Callable[[], object]] = []

    def observe(self, refused: Callable[[], object]) -> None:
        """Call this at each refused write."""
        self._observers.append(refused)

    def record_full(self) -> None:
        self._refused_at = monotonic()
        for observer in self._observers:
            observer()

    def state(self) -> str:
        """Return `full`, or an empty string."""
        at = self._refused_at
        return "full" if at is not None and monotonic() - at < NAMED_SECONDS else ""


DISK: Final = DiskWatch()
"""One for the process, as its disk is: the store, the probes and the metrics meet here without a service between them."""
