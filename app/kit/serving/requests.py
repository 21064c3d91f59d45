"""Requests as they arrive on one connection: parsed, within the bounds of heads, bodies and memory."""

import io
import threading
from collections import deque
from http import HTTPStatus
from typing import Any, Final

import httptools

from app.kit.serving.environ import UnreadBody, decoded, key_of, split_target
from app.kit.serving.limits import Limits
from app.kit.serving.refusals import Reason, Refusal

PIPELINED: Final = 32
"""Complete requests that may wait on one connection; beyond it the connection is closed."""
FRAMING_BYTES: Final = 128 * 1024
FRAMING_FACTOR: Final = 8
"""Chunk sizes, chunk extensions and trailer may take this many bytes beside a body, and this many for each of its bytes: nobody
keeps them, but the parser holds an unfinished one (a body in chunks of one byte has five beside each)."""
_OFFER: Final = frozenset({b"upgrade", b"http2-settings", b"connection"})
"""Header fields that an offered upgrade is made of."""
_TLS_HANDSHAKE: Final = b"\x16\x03"
"""The first bytes of a TLS connection (RFC 8446 section 5.1): a record of type handshake, of any version."""
_TLS_HINT: Final = "a TLS handshake came to a plain HTTP port"


class HeldBodies:
    """Counts the bytes of request bodies that one process holds."""

    def __init__(self, most_bytes: int) -> None:
        self._most_bytes = most_bytes
        self._held_bytes = 0
        self._lock = threading.Lock()

    def add(self, size_bytes: int) -> bool:
        """Add to what is held; return False if it is too much."""
        with self._lock:
            self._held_bytes += size_bytes
            return self._held_bytes <= self._most_bytes

    def release(self, size_bytes: int) -> None:
        """Subtract what was added."""
        with self._lock:
            self._held_bytes -= size_bytes


class Request:
    """One request. It is answered when its body is here, or at once if the body is not to be read."""

    __slots__ = ("allowed_bytes", "body", "environ", "expects", "has_body", "held_bytes", "keeps_alive", "refusal")

    def __init__(self, environ: dict[str, Any], *, keeps_alive: bool) -> None:
        self.environ = environ
        self.keeps_alive = keeps_alive
        self.refusal: Refusal | None = None
        self.has_body = False
        """Whether the head announces a body."""
        self.expects = False
        """Whether the client waits for `100 Continue`."""
        self.allowed_bytes = 0
        self.held_bytes = 0
        self.body: bytes | bytearray = b""


class RequestReader:
    """Makes requests from the bytes of one connection. Used by one thread at a time."""

    def __init__(self, common: dict[str, Any], limits: Limits, held: HeldBodies) -> None:
        self.complete: deque[Request] = deque()
        """Requests to be answered, in order."""
        self.partial: Request | None = None
        """The request whose body is arriving."""
        self.is_in_head = False
        self.begun = 0
        """Requests that have begun so far."""
        self.is_over = False
        """Whether nothing that follows is a request."""
        self.is_flooded = False
        """Whether too many requests wait."""
        self.problem: tuple[HTTPStatus, Reason, str] | None = None
        """Why what follows the complete requests is none: status, reason, hint."""
        self.has_rest = False
        """Whether the client still sends what nobody reads."""
        self._common = common
        self._limits = limits
        self._held = held
        self._parser = httptools.HttpRequestParser(self)
        self._target = b""
        self._fields: list[tuple[bytes, bytes]] = []
        self._head_bytes = self._fed_bytes = self._arrived_bytes = 0
        self._has_begun = self._has_ended = self._is_offer = False

    def feed(self, data: bytes) -> None:
        """Take what has arrived."""
        if self.is_over:
            return
        self._has_begun = self._has_ended = False
        self._fed_bytes = len(data)
        self._arrived_bytes += len(data)
        try:
            self._parse(data)
        except httptools.HttpParserError:
            if not self.is_over:
                self._end(
                    HTTPStatus.BAD_REQUEST, Reason.MALFORMED, _TLS_HINT if data.startswith(_TLS_HANDSHAKE) else ""
                )
            return
        if self.is_in_head:
            if not (self._has_begun and self._has_ended):  # else most of `data` was the request before
                self._head_bytes += len(data)
            if self._head_bytes > self._limits.head_bytes:
                self._end(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, Reason.LARGE_HEAD)
        elif self.partial is not None and self._is_framing_large(self.partial.held_bytes):
            self._end(HTTPStatus.BAD_REQUEST, Reason.MALFORMED)

    def release(self, request: Request) -> None:
        """Forget the body of a request."""
        if request.held_bytes:
            self._held.release(request.held_bytes)
            request.held_bytes = 0
        request.body = b""

    def close(self) -> None:
        """Forget all; the parser and this object refer to each other."""
        for request in (*self.complete, self.partial):
            if request is not None:
                self.release(request)
        self.complete.clear()
        self.partial = None
        del self._parser
        self.is_over = True

    def _parse(self, data: bytes) -> None:
        while True:
            try:
                self._parser.feed_data(data)
                return
            except httptools.HttpParserUpgrade as stop:
                if not self._is_offer:  # CONNECT: what follows is no request
                    self.is_over = True
                    return
                data = self._without_offer() + data[stop.args[0] :]
                self._parser = httptools.HttpRequestParser(self)

    def _without_offer(self) -> bytes:
        """Return the head of a request without its offered upgrade, which is ignored (RFC 9110 section 7.8).

        The parser stops at an offer and skips the body. Java's HTTP client offers HTTP/2 with each request that is not over TLS.
        """
        lines = [self._parser.get_method() + b" " + self._target + b" HTTP/1.1"]
        lines += [name + b": " + value for name, value in self._fields if name.lower() not in _OFFER]
        if not self._parser.should_keep_alive():
            lines.append(b"connection: close")
        return b"\r\n".join(lines) + b"\r\n\r\n"

    def _end(self, status: HTTPStatus, reason: Reason, hint: str = "") -> None:
        self.problem = (status, reason, hint)
        self.is_over = self.has_rest = True
        self.is_in_head = False
        if self.partial is not None:
            self.release(self.partial)
            self.partial = None

    # What the parser calls.

    def on_message_begin(self) -> None:
        if not self.is_over:
            self.is_over = self.is_flooded = len(self.complete) >= PIPELINED
        if self.is_over:
            raise ValueError("nothing more is read")
        self._target, self._fields = b"", []
        self._head_bytes, self._arrived_bytes = 0, self._fed_bytes
        self._is_offer = False
        self.is_in_head = self._has_begun = True
        self.begun += 1

    def on_url(self, target: bytes) -> None:
        self._target += target

    def on_header(self, name: bytes, value: bytes) -> None:
        if self.is_in_head:  # else it is a trailer, which is ignored
            self._fields.append((name, value))

    def on_headers_complete(self) -> None:
        self.is_in_head = False
        method: bytes = self._parser.get_method()
        if self._parser.should_upgrade() and method != b"CONNECT":
            self._is_offer = True
            return
        request = self.partial = self._made(method.decode("ascii"))
        length = int(request.environ.get("CONTENT_LENGTH", "0"))
        if length > request.allowed_bytes:
            request.environ["wsgi.input"] = UnreadBody()
        if request.refusal is not None or length > request.allowed_bytes:
            self._answer_unread(request)

    def on_body(self, body: bytes) -> None:
        request = self.partial
        if request is None:
            return
        request.expects = False
        request.held_bytes += len(body)
        if not self._held.add(len(body)):
            request.refusal = Refusal(HTTPStatus.SERVICE_UNAVAILABLE, Reason.BODIES)
            self._answer_unread(request)
        elif request.held_bytes > request.allowed_bytes:
            request.environ["wsgi.input"] = UnreadBody()
            self._answer_unread(request)
        elif not request.body:
            request.body = body
        else:
            if isinstance(request.body, bytes):
                request.body = bytearray(request.body)
            request.body += body

    def on_message_complete(self) -> None:
        self._has_ended = True
        self.has_rest = False
        request = self.partial
        if request is None:  # an offer, or a body that is not read
            return
        self.partial = None
        if request.body:
            request.environ["CONTENT_LENGTH"] = str(len(request.body))
        request.environ["wsgi.input"] = io.BytesIO(request.body)
        request.body = b""
        self.complete.append(request)
        self.is_over = not request.keeps_alive

    def _answer_unread(self, request: Request) -> None:
        """Answer before the rest of the request has arrived, and close."""
        self.release(request)
        self.partial = None
        request.keeps_alive = False
        self.complete.append(request)
        self.is_over = self.has_rest = True

    def _keeps_alive(self, method: str, version: str) -> bool:
        is_kept: bool = self._parser.should_keep_alive()
        return is_kept and version != "1.0" and method != "CONNECT"

    def _made(self, method: str) -> Request:
        """Return the request that the head describes. Raises ValueError for an impossible target."""
        path, query = split_target(self._target)
        version: str = self._parser.get_http_version()
        environ = self._common.copy()
        environ["REQUEST_METHOD"] = method
        environ["PATH_INFO"] = decoded(path)
        environ["QUERY_STRING"] = query.decode("latin-1")
        environ["SERVER_PROTOCOL"] = f"HTTP/{version}"
        request = Request(environ, keeps_alive=self._keeps_alive(method, version))
        is_ambiguous = self._take_fields(environ)
        is_chunked = environ.pop("HTTP_TRANSFER_ENCODING", None) is not None
        request.has_body = is_chunked or "CONTENT_LENGTH" in environ
        request.expects = environ.get("HTTP_EXPECT", "").lower() == "100-continue"
        request.allowed_bytes = self._limits.body_bytes_for(environ["PATH_INFO"])
        if self._is_large():
            request.refusal = Refusal(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, Reason.LARGE_HEAD)
        elif is_ambiguous or ("HTTP_HOST" not in environ and version != "1.0"):
            request.refusal = Refusal(HTTPStatus.BAD_REQUEST, Reason.HOST)
        return request

    def _take_fields(self, environ: dict[str, Any]) -> bool:
        """Add the header fields; return whether there are several hosts."""
        is_ambiguous = False
        for name, raw in self._fields:
            key = key_of(name)
            if key is None:
                continue
            value = raw.decode("latin-1")
            if key in environ:
                value = environ[key] + ("; " if key == "HTTP_COOKIE" else ",") + value
                is_ambiguous = is_ambiguous or key == "HTTP_HOST"
            environ[key] = value
        return is_ambiguous

    def _is_framing_large(self, body_bytes: int) -> bool:
        beside_bytes = self._arrived_bytes - self._limits.head_bytes - body_bytes
        return beside_bytes > FRAMING_BYTES + FRAMING_FACTOR * body_bytes

    def _is_large(self) -> bool:
        if len(self._fields) > self._limits.head_fields:
            return True
        if self._arrived_bytes <= self._limits.head_bytes:  # of which some may be others'
            return False
        size_bytes = len(self._target) + sum(len(name) + len(value) + 4 for name, value in self._fields)
        return size_bytes > self._limits.head_bytes
