"""Requests whose answer is in memory: answered in the event loop, without a thread (decisions/0277)."""

import contextvars
import logging
from collections.abc import Sequence
from http import HTTPStatus
from typing import Any, cast

from uvicorn._types import HTTPScope
from uvicorn.protocols.http.httptools_impl import STATUS_LINE

from app.kit.admission import Application
from app.kit.kept_answers import READY
from app.kit.serving.environ import ENVIRON, environ_of
from app.kit.serving.refusals import Reason, Refusals

_WAITS = frozenset({b"content-length", b"transfer-encoding", b"expect"})
"""Header fields of a request that has a body."""
logger = logging.getLogger("gatehouse.serving")


class AnswersAtOnce:
    """Calls the application where it says that the answer is ready."""

    def __init__(self, app: Application, refusals: Refusals, *, is_one_of_many: bool) -> None:
        self._app = app
        self._refusals = refusals
        self._is_one_of_many = is_one_of_many

    def answer(
        self, scope: HTTPScope, added: Sequence[tuple[bytes, bytes]], *, keeps_alive: bool
    ) -> tuple[bytes, bool] | None:
        """Return the whole response to a GET without a body, and whether the connection is kept; None if it takes a thread.

        The environment is then left in the scope, so that it is made only once.

        Args:
            added: header fields that the server adds to each response.
        """
        names = [name for name, _ in scope["headers"]]
        if names.count(b"host") != 1 or not _WAITS.isdisjoint(names):
            return None
        environ = environ_of(scope, b"", is_one_of_many=self._is_one_of_many)
        ready = self._app.ready(environ)
        if ready is None:
            cast(dict[str, Any], scope)[ENVIRON] = environ
            return None
        environ[READY] = ready
        try:
            # An empty context, so that nothing a request binds for its log lines reaches the next one.
            status, headers, body = contextvars.Context().run(self._called, environ)
            return _written(status, [*added, *headers], body, keeps_alive=keeps_alive), keeps_alive
        except Exception:
            logger.exception("The application raised", extra={"path": environ["PATH_INFO"]})
            return self._refusals.raw(HTTPStatus.INTERNAL_SERVER_ERROR, Reason.BROKEN), False

    def _called(self, environ: dict[str, Any]) -> tuple[int, list[tuple[bytes, bytes]], bytes]:
        started: list[tuple[str, list[tuple[str, str]]]] = []

        def start(status: str, headers: list[tuple[str, str]], _exc_info: Any = None, /) -> Any:
            started[:] = [(status, headers)]
            return None

        body = b"".join(self._app(environ, start))
        status, headers = started[0]
        encoded = [(name.encode("latin-1").lower(), value.encode("latin-1")) for name, value in headers]
        return int(status[:3]), encoded, body


def _written(status: int, headers: list[tuple[bytes, bytes]], body: bytes, *, keeps_alive: bool) -> bytes:
    """Return the response as bytes. Raises ValueError if a header holds a line break."""
    if not keeps_alive:
        headers.append((b"connection", b"close"))
    lines = [b"%s: %s\r\n" % header for header in headers]
    if not any(name == b"content-length" for name, _ in headers):
        lines.append(b"content-length: %d\r\n" % len(body))
    head = b"".join(lines)
    if head.count(b"\n") != len(lines) or head.count(b"\r") != len(lines):
        raise ValueError("a header's value holds a line break")
    return b"".join((STATUS_LINE[status], head, b"\r\n", body))
