"""WSGI middleware that gives each request an id, logs it, and reports it to observers.

The request id is in every log line, audit entry, response and error page, so that users can quote it to support.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterable
from typing import Any, Final
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from app.kit import randomness
from app.kit.clock import monotonic
from app.kit.observability.logs import begin, bound, log_request
from app.kit.web.proxies import Proxies

log = logging.getLogger("gatehouse.access")

REQUEST_ID_HEADER: Final = "X-Request-Id"
REQUEST_ID: Final = "gatehouse.request_id"
"""The key in the WSGI environment."""
_LETTERS: Final = "BCDFGHJKLMNPQRSTVWXZ"
"""Twenty letters that are easy to tell apart and form no words (RFC 8628 section 6.1)."""
_LETTER_OF_BYTE: Final = "".join(_LETTERS[byte % len(_LETTERS)] for byte in range(256)).encode()
_FORM: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{7,63}", re.ASCII)
_GENERATED: Final = re.compile(
    rf"[{_LETTERS}]{{4}}(?:-[{_LETTERS}]{{4}}){{2}}"
    r"|[0-9a-fA-F]{16}(?:-[A-Z]{3})?|[0-9a-fA-F]{32}|[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
)
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})

RequestObserver = Callable[[str, str, int, float], object]
"""(host, method, status, seconds), after each request."""


def new_request_id() -> str:
    """Return a new id, such as `BCDF-GHJK-LMNP`: 52 random bits."""
    text = randomness.random_bytes(12).translate(_LETTER_OF_BYTE).decode()
    return f"{text[:4]}-{text[4:8]}-{text[8:]}"


def is_request_id(text: str) -> bool:
    """Return whether the text is a valid id: 8 to 64 letters, digits, dots, hyphens and underscores."""
    return _FORM.fullmatch(text) is not None


def is_generated_id(text: str) -> bool:
    """Return whether the text is an id of this server, or one in a form of proxies: hexadecimal digits or a UUID, never words."""
    return _GENERATED.fullmatch(text) is not None


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
        environ[REQUEST_ID] = request_id
        begin(request_id=request_id)
        started_at = monotonic()
        status_code = [500]

        def start(status: str, headers: list[tuple[str, str]], exc_info: Any = None, /) -> Callable[[bytes], object]:
            status_code[0] = int(status[:3])
            header = (REQUEST_ID_HEADER, bound("request_id") or request_id)
            return start_response(status, [*headers, header], exc_info)

        try:
            return self._app(environ, start)
        finally:
            self._report(environ, status_code[0], monotonic() - started_at)

    def _id_of(self, environ: WSGIEnvironment) -> str:
        sent = environ.pop("HTTP_X_REQUEST_ID", "")
        is_trusted = bool(sent) and self._proxies.trusts(environ.get("REMOTE_ADDR", "")) and is_request_id(sent)
        return sent if is_trusted else new_request_id()

    def _report(self, environ: WSGIEnvironment, status: int, seconds: float) -> None:
        method, host = environ["REQUEST_METHOD"], environ.get("HTTP_HOST", "")
        if method not in _METHODS:
            method = "other"
        log_request(
            log,
            method=method,
            host=host,
            path=environ.get("PATH_INFO", ""),
            status=status,
            milliseconds=round(seconds * 1000, 1),
            address=environ.get("REMOTE_ADDR", ""),
        )
        for observer in self._observers:
            observer(host, method, status, seconds)
