"""Connections that do not wait for ever: uvicorn's HTTP protocol with bounds on heads, time and number."""

import asyncio
import math
from http import HTTPStatus
from typing import Any, cast

from uvicorn._types import ASGI3Application, ASGIReceiveCallable, ASGISendCallable, Scope
from uvicorn.config import Config
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from app.kit.serving.bridge import HAS_LEFT
from app.kit.serving.limits import Limits
from app.kit.serving.refusals import Reason, Refusal, Refusals

SETTLED_SECONDS = 1.0
"""A connection must have waited this long before it can be made to give up its place."""
PIPELINED = 16
"""Requests that may wait behind the one being answered on one connection."""
TAKEN_BYTES = 32 * 1024
"""What a client must take of its answer in `send_seconds`."""


class Book:
    """All connections of one process on which the client's next move is awaited, in the order they began to wait."""

    def __init__(self, limits: Limits, refusals: Refusals) -> None:
        self.limits = limits
        self.refusals = refusals
        self.is_draining = False
        self._waiting: dict[Connection, tuple[float, float]] = {}

    def wait_for(self, connection: "Connection", seconds: float = math.inf) -> None:
        """Note that `connection` waits from now, for the end of a head if `seconds` are given."""
        now = connection.loop.time()
        self._waiting.pop(connection, None)
        self._waiting[connection] = (now, now + seconds)

    def arrived(self, connection: "Connection") -> None:
        """Note that `connection` waits no more."""
        self._waiting.pop(connection, None)

    def make_room(self, now: float) -> bool:
        """Close the connection that has waited longest; False if there is none that has waited for long."""
        connection = next(iter(self._waiting), None)
        if connection is None or self._waiting[connection][0] > now - SETTLED_SECONDS:
            return False
        self.arrived(connection)
        connection.transport.abort()
        return True

    def sweep(self, connections: "list[Connection]", now: float) -> None:
        """Close what has waited too long for a head, or takes its answer too slowly; called about once a second."""
        late = [connection for connection, (_, deadline) in self._waiting.items() if deadline < now]
        for connection in late:
            connection.give_up(HTTPStatus.REQUEST_TIMEOUT, Reason.SLOW_HEAD)
        for connection in connections:
            connection.check_taking(now, self.limits.send_seconds)

    def close_waiting(self) -> None:
        """While draining: close connections that have no request, cut those whose request never came whole."""
        for connection in list(self._waiting):
            connection.give_up(HTTPStatus.SERVICE_UNAVAILABLE, Reason.DRAINING)

    def resting(self) -> "list[Connection]":
        """Connections on which nothing of a request has arrived."""
        return [connection for connection in self._waiting if connection.is_resting]


class GuardedConfig(Config):
    """uvicorn's settings, and the book its connections are kept in."""

    book: Book


class Connection(HttpToolsProtocol):
    """One client."""

    config: GuardedConfig

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.book = self.config.book
        self.is_resting = True
        self._is_in_head = False
        self._has_begun = False
        self._has_ended = False
        self._head_bytes = 0
        self._pending: tuple[float, int] | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn does
        super().connection_made(transport)
        limits, count = self.book.limits, len(self.connections)
        self.book.wait_for(self, limits.head_seconds)
        if count <= limits.connections or self.book.make_room(self.loop.time()):
            return
        if count > 2 * limits.connections:
            transport.abort()
        self.app = self._refuse(HTTPStatus.SERVICE_UNAVAILABLE, Reason.CONNECTIONS)

    def connection_lost(self, exc: Exception | None) -> None:
        self.book.arrived(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self.is_resting:
            self.is_resting = False
            self.book.wait_for(self, self.book.limits.head_seconds)
        self._has_begun = self._has_ended = False
        super().data_received(data)
        if not self._is_in_head or self.transport.is_closing():
            return
        if not (self._has_begun and self._has_ended):  # else most of `data` was the request before
            self._head_bytes += len(data)
        if self._head_bytes > self.book.limits.head_bytes:
            self.give_up(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, Reason.LARGE_HEAD)

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._is_in_head = self._has_begun = True
        self._head_bytes = 0

    def on_headers_complete(self) -> None:
        self._is_in_head = False
        limits = self.book.limits
        size_bytes = len(self.url) + sum(len(name) + len(value) + 4 for name, value in self.headers)
        if size_bytes > limits.head_bytes or len(self.headers) > limits.head_fields:
            self.app = self._refuse(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, Reason.LARGE_HEAD)
        self.book.wait_for(self)  # for the body, which the bridge times
        super().on_headers_complete()
        if self.book.is_draining:
            self.cycle.keep_alive = False
        if len(self.pipeline) > PIPELINED:
            self.transport.abort()

    def on_message_complete(self) -> None:
        self._has_ended = True
        self.book.arrived(self)
        super().on_message_complete()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self.transport.is_closing() or not self.cycle.response_complete:
            return
        self.is_resting = not self._is_in_head
        self.book.wait_for(self, math.inf if self.is_resting else self.book.limits.head_seconds)

    def resume_writing(self) -> None:
        self._pending = None
        super().resume_writing()

    def shutdown(self) -> None:
        """Finish what is in flight; what rests is closed by the drain, a moment later, if it still rests then."""
        if self._is_answering():
            self.cycle.keep_alive = False  # the last one to be answered; those before it in line need not close

    def give_up(self, status: HTTPStatus, reason: Reason) -> None:
        """Stop waiting for the client: with an answer if it had begun a request, silently if not."""
        self.book.arrived(self)
        if self.transport.is_closing():
            return
        if self._is_in_head and not self._is_answering():
            self.transport.write(self.book.refusals.raw(status, reason))
        self.transport.close()

    def _is_answering(self) -> bool:
        cycle: RequestResponseCycle | None = self.cycle  # uvicorn's annotation leaves out the None it begins with
        return cycle is not None and not cycle.response_complete

    def check_taking(self, now: float, seconds: float) -> None:
        """Cut the client off when it does not take its answer."""
        unsent_bytes = self.transport.get_write_buffer_size()
        if unsent_bytes == 0:
            self._pending = None
        elif self._pending is None:
            self._pending = (now + seconds, unsent_bytes)
        elif now > self._pending[0]:
            if unsent_bytes > self._pending[1] - TAKEN_BYTES:
                self.transport.abort()
            self._pending = (now + seconds, unsent_bytes)

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: ASGI3Application) -> None:
        cast(dict[str, Any], cycle.scope)[HAS_LEFT] = lambda: cycle.disconnected
        super()._start_asgi_task(cycle, app)

    def _unsupported_upgrade_warning(self) -> None:
        """Answer as if no upgrade had been offered; the parser stops at an offer, so nothing can follow it."""
        self.cycle.keep_alive = False

    def send_400_response(self, msg: str) -> None:
        """Answer a malformed request like uvicorn, but with our error page, a request id and a count."""
        del msg
        self.transport.write(self.book.refusals.raw(HTTPStatus.BAD_REQUEST, Reason.MALFORMED))
        self.transport.close()

    def _refuse(self, status: HTTPStatus, reason: Reason) -> ASGI3Application:
        async def app(scope: Scope, receive: ASGIReceiveCallable, send: ASGISendCallable) -> None:
            if scope["type"] == "http":
                await self.book.refusals.send(Refusal(status, reason), scope, receive, send)

        return cast(ASGI3Application, app)
