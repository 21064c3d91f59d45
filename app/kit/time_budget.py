"""The time budget of a request for its dependencies (database, Redis), and a circuit breaker for those that hang.

Only time that a request waits for dependencies counts, not its own computation or time in a queue.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from contextvars import ContextVar
from typing import Final
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from app.kit.clock import monotonic

RETRY_SECONDS: Final = 0.5
_TRIAL_SECONDS: Final = 10.0
"""A trial whose outcome is not reported expires."""


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
    """Subtracts the duration of a block from the request's budget."""

    __slots__ = ("_begun",)

    def __enter__(self) -> None:
        self._begun = monotonic()

    def __exit__(self, *_: object) -> None:
        spend(monotonic() - self._begun)


def spend(seconds: float) -> None:
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

    The first timeout opens it. While it is open, calls are refused at once, except one trial every `RETRY_SECONDS`.
    """

    def __init__(self) -> None:
        self._is_open = False
        self._next_trial_at = 0.0
        self._lock = threading.Lock()

    def admit(self) -> bool:
        """Admit a call, and return whether it is the trial; raises CircuitOpen."""
        if not self._is_open:
            return False
        with self._lock:
            if monotonic() < self._next_trial_at:
                raise CircuitOpen
            self._next_trial_at = monotonic() + _TRIAL_SECONDS
            return True

    def record_timeout(self) -> None:
        """Open the circuit after a timeout."""
        with self._lock:
            self._is_open = True
            self._next_trial_at = monotonic() + RETRY_SECONDS

    def record_answer(self) -> None:
        """Close the circuit: the dependency answered, if only with an error."""
        self._is_open = False
