"""Admission control for requests that may compute an expensive hash, between server and application (decision 0152).

The application names the queue slot of a request; the server lets it wait without a thread, and passes a request that
would wait too long to the application, which refuses it in its own error format.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Final
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment


@dataclass(frozen=True)
class QueueSlot:
    """Where a request waits: owners are served round-robin, and within an owner its classes of work."""

    owner: str
    """A unique name; empty for all unknown owners, so that an invented name gains nothing."""
    work: str


QueueSlotOf = Callable[[Mapping[str, Any]], QueueSlot | None]
"""Returns the slot for the environment of a WSGI call; None if the request computes no hash."""


IsAnsweredFromCache = Callable[[Mapping[str, Any]], bool]
"""Returns whether the request of a WSGI environment is answered from memory: without a hash, a call or a query. Never waits."""


@dataclass(frozen=True)
class WsgiApp:
    """A WSGI application with the server's hooks: queue slots, requests answered from memory, deferred imports."""

    wsgi: WSGIApplication
    queue_slot: QueueSlotOf = lambda _environ: None
    hash_seconds: Callable[[], float] = lambda: 0.0
    """The current duration of a hash."""
    is_answered_from_cache: IsAnsweredFromCache = lambda _environ: False
    """Whether a request is answered from memory; it needs no slot, and the thread that read it calls the application (decision 0368)."""
    load: Callable[[], object] = lambda: None
    """Runs deferred imports; called in the background once the process serves."""

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        return self.wsgi(environ, start_response)


class LoadShed(Exception):
    """A request waited too long for a hash, or would; `unavailable_status` is 429 if most requests ahead are its owner's."""

    def __init__(self, status: int, retry_after_seconds: int) -> None:
        super().__init__(f"the queue for hashes is full; retry after {retry_after_seconds} s")
        self.unavailable_status = status
        self.retry_after_seconds = retry_after_seconds


SHED: Final = "gatehouse.shed"
"""Key in the WSGI environment of the `LoadShed` that the application must answer."""

LAME_DUCK: Final = "gatehouse.leaving"
"""Key in the WSGI environment that is set while the process drains: readiness answers 503, all other requests are served."""

may_wait: Final[ContextVar[bool]] = ContextVar("may_wait", default=True)
"""Whether this thread may wait for a hash; False for a request that was declared to compute none."""
