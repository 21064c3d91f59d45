"""One call of a WSGI application: made in a worker thread, answered over the event loop."""

import asyncio
import contextvars
import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from types import TracebackType
from typing import Any
from wsgiref.types import WSGIApplication

from uvicorn._types import ASGISendCallable

from app.kit.admission import may_wait
from app.kit.serving.refusals import Reason, Refusal

Headers = list[tuple[bytes, bytes]]
ExcInfo = tuple[type[BaseException], BaseException, TracebackType] | tuple[None, None, None]

HELD_ANSWER_BYTES = 256 * 1024
"""An answer that states its length is gathered up to this and sent in one go; the thread is free before it is read."""
BODILESS = frozenset({204, 304})

logger = logging.getLogger("gatehouse.serving")


@dataclass(frozen=True)
class Answer:
    """A whole response."""

    status: int
    headers: Headers
    body: bytes


class Exchange:
    """Runs the application once. `finished` yields the complete response, or None when nothing is left to send."""

    def __init__(
        self,
        app: WSGIApplication,
        environ: dict[str, Any],
        send: ASGISendCallable,
        has_left: Callable[[], bool],
    ) -> None:
        self.finished: asyncio.Future[Answer | None] = asyncio.get_running_loop().create_future()
        self._loop = self.finished.get_loop()
        self._app = app
        self._environ = environ
        self._send = send
        self._has_left = has_left
        self._status = 0
        self._headers: Headers = []
        self._written: list[bytes] = []
        self._is_streaming = False
        self._may_hash = False

    @property
    def environ(self) -> dict[str, Any]:
        """The WSGI environment."""
        return self._environ

    def run_with_hashing(self) -> None:
        """Call the application in a thread that may wait for a hash."""
        self._may_hash = True
        self.run()

    @property
    def is_read(self) -> bool:
        """Whether the method is safe: GET or HEAD."""
        return self._environ["REQUEST_METHOD"] in {"GET", "HEAD"}

    @property
    def path(self) -> str:
        """The decoded path that the request names."""
        return str(self._environ["PATH_INFO"])

    def run(self) -> None:
        """Call the application; in a thread of the pool."""
        if self._has_left():
            self._finish(None)
            return
        try:
            # An empty context, so that nothing a request binds for its log lines reaches the next one.
            answer = contextvars.Context().run(self._call)
        except Exception as error:
            logger.exception("The application raised", extra={"path": self._environ["PATH_INFO"]})
            self._fail(error)
        else:
            self._finish(answer)

    def _call(self) -> Answer | None:
        may_wait.set(self._may_hash)
        iterable = self._app(self._environ, self._start_response)
        try:
            return self._gather(iterable)
        finally:
            close = getattr(iterable, "close", None)
            if close is not None:
                close()

    def _start_response(
        self, status: str, headers: Sequence[tuple[str, str]], exc_info: ExcInfo | None = None, /
    ) -> Callable[[bytes], object]:
        if exc_info is not None and exc_info[1] is not None and self._is_streaming:
            raise exc_info[1].with_traceback(exc_info[2])
        if self._status and exc_info is None:
            raise RuntimeError("start_response was called twice")
        self._status = int(status[:3])
        self._headers = [(name.encode("latin-1").lower(), value.encode("latin-1")) for name, value in headers]
        return self._written.append

    def _gather(self, iterable: Iterable[bytes]) -> Answer | None:
        is_bodiless = self._environ["REQUEST_METHOD"] == "HEAD"
        held: list[bytes] = []
        size_bytes, bound_bytes = 0, -1
        for chunk in iterable:
            if bound_bytes < 0:  # the first chunk: by now start_response has been called
                is_bodiless = is_bodiless or self._status in BODILESS
                bound_bytes = self._bound(iterable)
            if is_bodiless or self._has_left():
                break
            if not chunk:
                continue
            size_bytes += len(chunk)
            held.append(chunk)
            if self._is_streaming or size_bytes > bound_bytes:
                self._push(b"".join(self._taken() + held))
                held.clear()
        body = b"".join(self._taken() + held)
        if self._is_streaming:
            self._push(body, is_last=True)
            return None
        return self._whole(b"" if is_bodiless else body)

    def _bound(self, iterable: Iterable[bytes]) -> int:
        """How many bytes may be held back: PEP 3333 lets a block wait only when nothing depends on its arrival."""
        if isinstance(iterable, list | tuple) or any(name == b"content-length" for name, _ in self._headers):
            return HELD_ANSWER_BYTES
        return 0

    def _taken(self) -> list[bytes]:
        """Return and clear what the application passed to `write`."""
        written, self._written[:] = list(self._written), []
        return written

    def _whole(self, body: bytes) -> Answer:
        if not self._status:
            raise RuntimeError("the application never called start_response")
        headers = self._headers
        if self._status in BODILESS:
            headers = [header for header in headers if header[0] != b"content-length"]
        elif self._environ["REQUEST_METHOD"] != "HEAD" and not any(name == b"content-length" for name, _ in headers):
            headers = [*headers, (b"content-length", str(len(body)).encode())]
        return Answer(self._status, headers, body)

    def _push(self, block: bytes, *, is_last: bool = False) -> None:
        """Send a block of a stream and wait until the connection can take more."""
        if not self._is_streaming:
            if not self._status:
                raise RuntimeError("the application never called start_response")
            self._is_streaming = True
            self._run_in_loop(
                self._send({"type": "http.response.start", "status": self._status, "headers": self._headers})
            )
        self._run_in_loop(self._send({"type": "http.response.body", "body": block, "more_body": not is_last}))

    def _run_in_loop(self, sending: Any) -> None:
        asyncio.run_coroutine_threadsafe(sending, self._loop).result()

    def _finish(self, answer: Answer | None) -> None:
        self._loop.call_soon_threadsafe(self._settle, answer, None)

    def _fail(self, error: Exception) -> None:
        """Answer 500 while that is possible; a stream is cut off, so that no client takes half of it for the whole."""
        reason = error if self._is_streaming else Refusal(HTTPStatus.INTERNAL_SERVER_ERROR, Reason.BROKEN)
        self._loop.call_soon_threadsafe(self._settle, None, reason)

    def give_up(self) -> None:
        """Answer 503 in place of the application, whose answer is discarded; a started stream is cut off."""
        if not self._is_streaming and not self.finished.done():
            self.finished.set_exception(Refusal(HTTPStatus.SERVICE_UNAVAILABLE, Reason.DRAINING))

    def _settle(self, answer: Answer | None, error: Exception | None) -> None:
        if self.finished.done():  # the process gave up on it while draining
            return
        if error is not None:
            self.finished.set_exception(error)
        else:
            self.finished.set_result(answer)
