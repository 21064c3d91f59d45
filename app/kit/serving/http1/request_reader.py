"""Requests as they arrive on one connection: parsed, within the bounds of heads, bodies and memory."""

import io
from collections import deque
from http import HTTPStatus
from typing import Any, Final

from app.kit.serving.http1 import request_head
from app.kit.serving.http1.error_responses import ServerRefusal, ServerRefusalReason
from app.kit.serving.http1.request_body import BodyBudget, ChunkedBody, FixedBody, UnreadBody
from app.kit.serving.server_limits import ServerLimits

PIPELINED: Final = 32
"""Complete requests that may wait on one connection; beyond it the connection is closed."""
_END: Final = b"\r\n\r\n"


class Request:
    """One request. It is answered when its body is here, or at once if the body is not to be read."""

    __slots__ = ("allowed_bytes", "body", "environ", "expects", "has_body", "held_bytes", "keeps_alive", "refusal")

    def __init__(self, environ: dict[str, Any], *, keeps_alive: bool) -> None:
        self.environ = environ
        self.keeps_alive = keeps_alive
        self.refusal: ServerRefusal | None = None
        self.has_body = False
        """Whether the head announces a body."""
        self.expects = False
        """Whether the client waits for `100 Continue`."""
        self.allowed_bytes = 0
        self.held_bytes = 0
        self.body: bytes | bytearray = b""


class RequestReader:
    """Makes requests from the bytes of one connection. Used by one thread at a time."""

    def __init__(self, common: dict[str, Any], limits: ServerLimits, stored: BodyBudget) -> None:
        self.complete: deque[Request] = deque()
        """Requests to be answered, in order."""
        self.partial: Request | None = None
        """The request whose body is arriving."""
        self.is_in_head = False
        self.begun = 0
        """Requests that have begun so far."""
        self.is_over = False
        """Whether no further request is read."""
        self.is_flooded = False
        """Whether too many requests wait."""
        self.problem: ServerRefusal | None = None
        """The refusal of the bytes after the complete requests, if they are malformed."""
        self.has_rest = False
        """Whether the client still sends bytes that are discarded."""
        self._common = common
        self._limits = limits
        self._held = stored
        self._unread = b""
        self._checked = 0
        """How many bytes of an unfinished head are checked."""
        self._body: FixedBody | ChunkedBody | None = None

    def feed(self, data: bytes) -> None:
        """Parse received bytes."""
        if self.is_over:
            return
        self._unread = self._unread + data if self._unread else data
        try:
            while self._advance():
                pass
        except ServerRefusal as refusal:
            self._end(refusal)

    def release(self, request: Request) -> None:
        """Forget the body of a request."""
        if request.held_bytes:
            self._held.release(request.held_bytes)
            request.held_bytes = 0
        request.body = b""

    def close(self) -> None:
        """Drop all requests and buffers."""
        for request in (*self.complete, self.partial):
            if request is not None:
                self.release(request)
        self.complete.clear()
        self.partial = None
        self._unread = b""
        self.is_over = True

    def _advance(self) -> bool:
        """Take the next head or body; return whether there may be another one."""
        is_complete = self._read_head() if self.partial is None else self._read_body(self.partial)
        return is_complete and not self.is_over

    def _end(self, refusal: ServerRefusal) -> None:
        self.problem = refusal
        self.is_over = self.has_rest = True
        self.is_in_head = False
        if self.partial is not None:
            self.release(self.partial)
            self.partial = None

    def _read_head(self) -> bool:
        """Take the next head; return whether it is complete."""
        if not self.is_in_head:
            self._unread = request_head.after_empty_lines(self._unread)
            if self._unread in {b"", b"\r"} or not self._begin():
                return False
        end = self._unread.find(_END, max(0, self._checked - len(_END)))
        self._check_size(end)
        if end < 0:
            self._checked = request_head.check_beginning(self._unread, self._checked)
            return False
        head, self._unread = self._unread[:end], self._unread[end + len(_END) :]
        self._take(request_head.lines_of(head))
        return True

    def _begin(self) -> bool:
        """Begin a request; return False if too many wait already."""
        self.is_over = self.is_flooded = len(self.complete) >= PIPELINED
        if not self.is_over:
            self.is_in_head, self._checked = True, 0
            self.begun += 1
        return not self.is_over

    def _check_size(self, end: int) -> None:
        """Refuse a head that is too large (RFC 9112 section 3 names the status for its first line)."""
        most_bytes = self._limits.head_bytes
        if (end if end >= 0 else len(self._unread)) > most_bytes:
            if b"\r\n" not in self._unread[:most_bytes]:
                raise ServerRefusal(HTTPStatus.REQUEST_URI_TOO_LONG, ServerRefusalReason.LARGE_HEAD)
            raise ServerRefusal(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, ServerRefusalReason.LARGE_HEAD)

    def _take(self, lines: list[bytes]) -> None:
        """Take a complete head."""
        request = self._made(lines)
        self.is_in_head = False
        self.partial = request
        length = self._body.length if self._body is not None else 0
        if length > request.allowed_bytes:
            request.environ["wsgi.input"] = UnreadBody()
            self._answer_unread(request)

    def _made(self, lines: list[bytes]) -> Request:
        """Return the request that a head describes."""
        environ = self._common.copy()
        environ["REQUEST_METHOD"], target, environ["SERVER_PROTOCOL"] = request_head.read_request_line(lines[0])
        if len(lines) - 1 > self._limits.head_fields:
            raise ServerRefusal(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, ServerRefusalReason.LARGE_HEAD)
        request_head.add_fields(lines[1:], environ)
        self._body = request_head.body_of(environ)
        request_head.take_target(target, environ)
        request = Request(environ, keeps_alive=request_head.keeps_alive(environ))
        request.has_body = self._body is not None
        request.expects = request_head.expects_continue(environ)
        request.allowed_bytes = self._limits.body_bytes_for(environ["PATH_INFO"])
        return request

    def _read_body(self, request: Request) -> bool:
        """Consume received body bytes; return whether the body is complete."""
        if self._body is not None:
            content, self._unread = self._body.feed(self._unread)
            if content and not self._keep(request, content):
                return False
            if not self._body.is_complete:
                return False
        self.partial = None
        if request.body:
            request.environ["CONTENT_LENGTH"] = str(len(request.body))
        request.environ["wsgi.input"] = io.BytesIO(request.body)
        request.body = b""
        self.complete.append(request)
        self.is_over = not request.keeps_alive
        return True

    def _keep(self, request: Request, content: bytes) -> bool:
        """Keep a part of a body; return False if the request is answered without the rest."""
        request.expects = False
        request.held_bytes += len(content)
        if not self._held.add(len(content)):
            request.refusal = ServerRefusal(HTTPStatus.SERVICE_UNAVAILABLE, ServerRefusalReason.BODIES)
        elif request.held_bytes > request.allowed_bytes:
            request.environ["wsgi.input"] = UnreadBody()
        else:
            if not request.body:
                request.body = content
                return True
            if isinstance(request.body, bytes):
                request.body = bytearray(request.body)
            request.body += content
            return True
        self._answer_unread(request)
        return False

    def _answer_unread(self, request: Request) -> None:
        """Answer before the rest of the request has arrived, and close."""
        self.release(request)
        self.partial = None
        request.keeps_alive = False
        self.complete.append(request)
        self.is_over = self.has_rest = True
