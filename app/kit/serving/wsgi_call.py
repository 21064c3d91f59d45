"""One call of a WSGI application, and its response."""

import contextvars
import logging
from collections.abc import Callable, Iterable, Sequence
from http import HTTPStatus
from types import TracebackType
from typing import Any, Final
from wsgiref.types import WSGIApplication

from app.kit.limits.queue_slot import may_wait
from app.kit.serving.http1.error_responses import ServerRefusal, ServerRefusalReason
from app.kit.serving.http1.response_encoding import BODILESS, LAST_CHUNK, Head, chunk

ExcInfo = tuple[type[BaseException], BaseException, TracebackType] | tuple[None, None, None]
Send = Callable[[bytes], None]
"""Sends a block and waits until the client can take more. Raises OSError if it has gone, or reads too slowly."""

MAX_BUFFERED_BYTES: Final = 256 * 1024
"""An answer that states its length is gathered up to this and sent in one go; the thread is free before it is read."""

logger = logging.getLogger("gatehouse.serving")


class ConnectionAborted(Exception):
    """A started response cannot be completed; the connection closes, so that no client takes the part for a complete response."""


class WsgiCall:
    """Runs the application once."""

    def __init__(self, app: WSGIApplication, environ: dict[str, Any], send: Send, ends: Callable[[], bool]) -> None:
        """Prepare the call. The owner of `send` and `ends` must not keep this object: only the garbage collector frees such a cycle.

        Args:
            ends: whether the connection ends with the response; asked when it begins.
        """
        self.environ = environ
        self.closes = False
        """Whether the response has said that the connection ends with it."""
        self._app = app
        self._send = send
        self._ends = ends
        self._started: tuple[int, Sequence[tuple[str, str]]] | None = None
        self._head: Head | None = None
        self._written: list[bytes] = []
        self._is_streaming = False
        self._is_chunked = False
        self._unsent_bytes: int | None = None

    def run(self, *, may_hash: bool) -> bytes:
        """Call the application; return the response, or its unsent rest.

        Raises:
            ServerRefusal: the application failed.
            ConnectionAborted: it failed, or the client disconnected, in the middle of a stream.
        """
        try:
            # An empty context, so that nothing a request binds for its log lines reaches the next one.
            return contextvars.Context().run(self._call, may_hash)
        except ConnectionAborted:
            raise
        except Exception as error:
            logger.exception("The application raised", extra={"path": self.environ["PATH_INFO"]})
            if self._is_streaming:
                raise ConnectionAborted from error
            raise ServerRefusal(HTTPStatus.INTERNAL_SERVER_ERROR, ServerRefusalReason.BROKEN) from error

    def _call(self, may_hash: bool) -> bytes:
        may_wait.set(may_hash)
        iterable = self._app(self.environ, self._start_response)
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
        if self._started is not None and exc_info is None:
            raise RuntimeError("start_response was called twice")
        self._started, self._head = (int(status[:3]), headers), None
        return self._written.append

    def _gather(self, iterable: Iterable[bytes]) -> bytes:
        is_bodiless = self.environ["REQUEST_METHOD"] == "HEAD"
        stored: list[bytes] = []
        size_bytes, bound_bytes = 0, -1
        for block in iterable:
            if bound_bytes < 0:  # the first block: by now start_response has been called
                is_bodiless = is_bodiless or self._response_head().status in BODILESS
                bound_bytes = self._buffer_limit(iterable)
            if is_bodiless:
                break
            if not block:
                continue
            size_bytes += len(block)
            stored.append(block)
            if self._is_streaming or size_bytes > bound_bytes:
                self._push(self._collected(stored))
                stored = []
        body = self._collected(stored)
        if self._is_streaming:
            return self._final_block(body)
        return self._complete(b"" if is_bodiless else body)

    def _response_head(self) -> Head:
        """Return the response head from the application's `start_response` call."""
        if self._head is None:
            if self._started is None:
                raise RuntimeError("the application never called start_response")
            self._head = Head(*self._started)
        return self._head

    def _buffer_limit(self, iterable: Iterable[bytes]) -> int:
        """How many bytes may be buffered: PEP 3333 allows delaying a block only if the response length is known."""
        is_whole = self._response_head().length is not None or isinstance(iterable, list | tuple)
        return MAX_BUFFERED_BYTES if is_whole else 0

    def _collected(self, stored: list[bytes]) -> bytes:
        """Return the blocks that the application passed to `write`, then the blocks that it yielded."""
        if self._written:
            stored[:0] = self._written
            self._written.clear()
        return stored[0] if len(stored) == 1 else b"".join(stored)

    def _complete(self, body: bytes) -> bytes:
        head = self._response_head()
        length: int | None = len(body)
        if head.status in BODILESS:
            length = None
        elif self.environ["REQUEST_METHOD"] == "HEAD":
            length = head.length
        elif head.length not in {None, length}:
            raise ValueError(f"a body of {length} bytes, and a content-length of {head.length}")
        return self._encoded(head, length=length) + (body if head.status not in BODILESS else b"")

    def _push(self, block: bytes) -> None:
        """Send a block of a stream and wait until the connection can take more."""
        opening = b"" if self._is_streaming else self._start_stream()
        try:
            self._send(opening + self._framed(block))
        except OSError as error:
            raise ConnectionAborted from error

    def _start_stream(self) -> bytes:
        """Begin to stream; return the head."""
        head = self._response_head()
        self._unsent_bytes = head.length
        self._is_chunked = head.length is None and self.environ["SERVER_PROTOCOL"] != "HTTP/1.0"
        opening = self._encoded(head, length=head.length, is_chunked=self._is_chunked)
        self._is_streaming = True
        return opening

    def _framed(self, block: bytes) -> bytes:
        if self._is_chunked:
            return chunk(block) if block else b""
        if self._unsent_bytes is not None:
            self._unsent_bytes -= len(block)
            if self._unsent_bytes < 0:
                raise ValueError("more bytes than the content-length")
        return block

    def _final_block(self, block: bytes) -> bytes:
        framed = self._framed(block)
        if self._unsent_bytes:
            raise ValueError("fewer bytes than the content-length")
        return framed + LAST_CHUNK if self._is_chunked else framed

    def _encoded(self, head: Head, *, length: int | None, is_chunked: bool = False) -> bytes:
        self.closes = head.ends_connection or self._ends()
        return head.encoded(closes=self.closes, length=length, is_chunked=is_chunked)
