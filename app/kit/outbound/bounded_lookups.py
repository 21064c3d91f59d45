"""Bounds the operating system's name look-ups, which cannot be interrupted and may wait half a minute for a DNS server.

Each runs in a separate thread. The caller gives up in time; the thread ends when the system gives up, and counts against the limit
until then.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from threading import BoundedSemaphore, Thread
from typing import Any, TypeVar

from app.kit.clock import monotonic

Result = TypeVar("Result")


class Lookups:
    """Runs look-ups, at most `most` at once, abandoned ones included."""

    def __init__(self, most: int) -> None:
        self._free = BoundedSemaphore(most)

    def run(self, look_up: Callable[[], Result], seconds: float) -> Result:
        """Return the result, or raise what the look-up raises. Raises TimeoutError if it takes longer or has no free thread so long."""
        ends = monotonic() + seconds
        if not self._free.acquire(timeout=max(seconds, 0)):
            raise TimeoutError
        lookup: Future[Any] = Future()
        thread = Thread(target=self._finish, args=(look_up, lookup), name="look-up", daemon=True)
        try:
            thread.start()
        except RuntimeError:  # the process has no more threads
            self._free.release()
            raise TimeoutError from None
        result: Result = lookup.result(timeout=max(ends - monotonic(), 0))
        return result

    def _finish(self, look_up: Callable[[], Any], lookup: Future[Any]) -> None:
        try:
            lookup.set_result(look_up())
        except BaseException as problem:  # noqa: BLE001 - raised again where the result is awaited
            lookup.set_exception(problem)
        finally:
            self._free.release()
