"""What operators see of each request: one log line, and where asked for a measurement and a trace. WSGI middleware."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from typing import Any
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from app.kit import randomness
from app.kit.clock import monotonic
from app.kit.logs import bind

log = logging.getLogger("gatehouse.access")

REQUEST_ID = "gatehouse.request_id"
"""Where the environment carries the id that all log lines of the request bear."""
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})

Told = Callable[[str, str, int, float], object]
"""(host, method, status, seconds), after each request."""


class Observed:
    """Tells of every request. The query is never logged: the interface lets keys and tokens stand there."""

    def __init__(self, app: WSGIApplication, told: tuple[Told, ...] = ()) -> None:
        self._app = app
        self._told = told

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        request_id = randomness.token(9)
        environ[REQUEST_ID] = request_id
        bind(request_id=request_id)
        begun = monotonic()
        seen = [500]

        def start(status: str, headers: list[tuple[str, str]], exc_info: Any = None, /) -> Callable[[bytes], object]:
            seen[0] = int(status[:3])
            return start_response(status, headers, exc_info)

        try:
            return self._app(environ, start)
        finally:
            self._tell(environ, seen[0], monotonic() - begun)

    def _tell(self, environ: WSGIEnvironment, status: int, seconds: float) -> None:
        method = environ["REQUEST_METHOD"] if environ["REQUEST_METHOD"] in _METHODS else "other"
        host = environ.get("HTTP_HOST", "")
        if log.isEnabledFor(logging.INFO):
            facts = {"method": method, "host": host, "path": environ.get("PATH_INFO", ""), "status": status}
            log.info(
                "request",
                extra={**facts, "milliseconds": round(seconds * 1000, 1), "address": environ.get("REMOTE_ADDR", "")},
            )
        for told in self._told:
            told(host, method, status, seconds)
