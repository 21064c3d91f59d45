"""WSGI middleware that logs each request and reports it to observers."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from typing import Any
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from app.kit import request_ids
from app.kit.clock import monotonic
from app.kit.logs import bind, bound
from app.kit.proxies import Proxies

log = logging.getLogger("gatehouse.access")

_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})

RequestObserver = Callable[[str, str, int, float], object]
"""(host, method, status, seconds), after each request."""


class Instrumented:
    """Assigns every request an id and logs it. The query is never logged, because it may contain keys and tokens.

    A well-formed id of a trusted proxy (`X-Request-Id`) is kept. The application may bind another id to the request, for a
    call that belongs to an earlier request.
    """

    def __init__(
        self, app: WSGIApplication, observers: tuple[RequestObserver, ...] = (), proxies: Proxies | None = None
    ) -> None:
        self._app = app
        self._observers = observers
        self._proxies = proxies or Proxies()

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        request_id = self._id_of(environ)
        environ[request_ids.ENVIRON] = request_id
        bind(request_id=request_id)
        begun = monotonic()
        seen = [500]

        def start(status: str, headers: list[tuple[str, str]], exc_info: Any = None, /) -> Callable[[bytes], object]:
            seen[0] = int(status[:3])
            named = (request_ids.HEADER, bound("request_id") or request_id)
            return start_response(status, [*headers, named], exc_info)

        try:
            return self._app(environ, start)
        finally:
            self._report(environ, seen[0], monotonic() - begun)

    def _id_of(self, environ: WSGIEnvironment) -> str:
        sent = environ.pop("HTTP_X_REQUEST_ID", "")
        is_trusted = bool(sent) and self._proxies.trusts(environ.get("REMOTE_ADDR", "")) and request_ids.is_valid(sent)
        return sent if is_trusted else request_ids.new()

    def _report(self, environ: WSGIEnvironment, status: int, seconds: float) -> None:
        method = environ["REQUEST_METHOD"] if environ["REQUEST_METHOD"] in _METHODS else "other"
        host = environ.get("HTTP_HOST", "")
        if log.isEnabledFor(logging.INFO):
            facts = {"method": method, "host": host, "path": environ.get("PATH_INFO", ""), "status": status}
            log.info(
                "request",
                extra={**facts, "milliseconds": round(seconds * 1000, 1), "address": environ.get("REMOTE_ADDR", "")},
            )
        for observer in self._observers:
            observer(host, method, status, seconds)
