"""The time budget of a request for its dependencies (database, Redis), and a circuit breaker for those that hang.

Only time that a request waits for dependencies counts, not its own computation or time in a queue.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from app.kit.clock import monotonic, sleep

RETRY_SECONDS: Final = 0.5
"""Seconds between probes of an open circuit."""
PROBE_SECONDS: Final = 1.0
"""How long a probe may wait."""


class Budget:
    """The seconds that one request may still wait."""

    __slots__ = ("left_seconds",)

    def __init__(self, seconds: float) -> None:
        self.left_seconds = seconds


_BUDGET: ContextVar[Budget | None] = ContextVar("waiting_budget", default=None)


def begin(seconds: float) -> None:
    """Give the request in the current context a budget of so many seconds."""
    _BUDGET.set(Budget(seconds))


def remaining_seconds(otherwise: float) -> float:
    """Return the seconds that this request may still wait, at least 0; `otherwise` outside of a request."""
    budget = _BUDGET.get()
    return otherwise if budget is None else max(0.0, budget.left_seconds)


class Measured:
    """Subtracts the duration of a block from the request's budget; nested blocks count once."""

    __slots__ = ("_begun", "_left")

    def __enter__(self) -> None:
        self._begun, self._left = monotonic(), remaining_seconds(0.0)

    def __exit__(self, *_: object) -> None:
        budget = _BUDGET.get()
        if budget is not None:
            budget.left_seconds = min(budget.left_seconds, self._left - (monotonic() - self._begun))


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Limit the waits within a block to so many seconds of the request's budget."""
    outer = _BUDGET.get()
    inner = Budget(min(seconds, remaining_seconds(seconds)))
    allowed_seconds, token = inner.left_seconds, _BUDGET.set(inner)
    try:
        yield
    finally:
        _BUDGET.reset(token)
        if outer is not None:
            outer.left_seconds -= allowed_seconds - inner.left_seconds


def subtract(seconds: float) -> None:
    """Subtract seconds from the request's budget."""
    budget = _BUDGET.get()
    if budget is not None:
        budget.left_seconds -= seconds


class TimeBudget:
    """WSGI middleware: gives each request its budget."""

    def __init__(self, app: WSGIApplication, seconds: float) -> None:
        self._app = app
        self._seconds = seconds

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        begin(self._seconds)
        return self._app(environ, start_response)


class CircuitOpen(Exception):
    """The circuit is open: the dependency did not answer recently."""


class CircuitBreaker:
    """A circuit breaker: keeps callers from waiting for a dependency that hangs.

    The first timeout opens it. While it is open, every call is refused at once, and one background thread probes the dependency:
    no request ever waits to find out whether it answers again.

    Args:
        probe: asks the dependency, waiting at most `PROBE_SECONDS` (its budget); raises while it hangs.
    """

    def __init__(self, probe: Callable[[], object]) -> None:
        self._probe = probe
        self.is_open = False
        """Whether the dependency hangs."""
        self._is_watched = False
        self._lock = threading.Lock()

    def admit(self) -> None:
        """Raise CircuitOpen while the dependency hangs."""
        if self.is_open:
            raise CircuitOpen

    def record_timeout(self) -> None:
        """Open the circuit after a timeout, until a probe is answered."""
        self.is_open = True
        self._watch()

    def record_doubt(self) -> None:
        """Probe the dependency, after a call that could not wait long enough to tell whether it hangs."""
        self._watch()

    def _watch(self) -> None:
        with self._lock:
            if self._is_watched:
                return
            self._is_watched = True
        try:
            threading.Thread(target=self._probe_until_answered, name="probe", daemon=True).start()
        except RuntimeError:  # the process has no more threads
            self.is_open = self._is_watched = False

    def _probe_until_answered(self) -> None:
        while not self._is_answered():
            self.is_open = True
            sleep(RETRY_SECONDS)
        with self._lock:
            self.is_open = self._is_watched = False

    def _is_answered(self) -> bool:
        begin(PROBE_SECONDS)  # the thread's own
        try:
            self._probe()
        except Exception:  # noqa: BLE001 - whatever it is, the dependency does not answer
            return False
        return True
