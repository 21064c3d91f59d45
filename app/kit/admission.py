"""What the server and the application agree on about requests that may compute a password hash (decisions/0152).

The application says of a request where it waits for its turn; the server lets it wait without a thread, and hands a request
that would wait too long to the application to be refused in its own words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Final
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment


@dataclass(frozen=True)
class Place:
    """Where a request waits: tenants are served in turn, and within a tenant its classes of work."""

    tenant: str
    """Any name that is the tenant's own; empty for all whose tenant is not known, so that an invented one gains nothing."""
    work: str


PlaceOf = Callable[[Mapping[str, Any]], Place | None]
"""Given the environment of a WSGI call: where it waits for a hash, or None for a request that computes none."""


@dataclass(frozen=True)
class Application:
    """A WSGI application, and which of its requests may compute a hash."""

    wsgi: WSGIApplication
    place_of: PlaceOf = lambda _environ: None
    hash_seconds: Callable[[], float] = lambda: 0.0
    """How long a hash takes at present."""

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        return self.wsgi(environ, start_response)


class Shed(Exception):
    """A request that waited too long for a hash, or would: `unavailable_status` is 429 where its own tenant's are in the way."""

    def __init__(self, status: int, retry_after_seconds: int) -> None:
        super().__init__(f"no place in the queue of password hashes; retry after {retry_after_seconds} s")
        self.unavailable_status = status
        self.retry_after_seconds = retry_after_seconds


SHED: Final = "gatehouse.shed"
"""Where the environment carries the `Shed` that the application is to answer with."""

LEAVING: Final = "gatehouse.leaving"
"""Stands in the environment while the process is about to end: readiness says 503, everything else is answered as ever."""

may_wait: Final[ContextVar[bool]] = ContextVar("may_wait", default=True)
"""Whether this thread may wait for a hash: not where the server gave it to a request that was said to need none."""
