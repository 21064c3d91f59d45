"""uvicorn's HTTP protocol with limits on header size, time and number of connections."""

import asyncio
import math
import sys
from http import HTTPStatus
from typing import Any, cast

import httptools
from uvicorn._types import ASGI3Application, ASGIReceiveCallable, ASGISendCallable, Scope
from uvicorn.config import Config
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from app.kit.serving.at_once import AnswersAtOnce
from app.kit.serving.bridge import HAS_LEFT
from app.kit.serving.limits import Limits
from app.kit.serving.refusals import Reason, Refusal, Refusals

EVICTABLE_SECONDS = 1.0
"""A connection must have waited this long before it can be evicted."""
PIPELINED = 16
"""Requests that may wait behind the one being answered on one connection."""
_OFFER = frozenset({b"upgrade", b"http2-settings", b"connection"})
"""Header fields that an offered upgrade is made of."""
_TLS_HANDSHAKE = b"\x16\x03"
"""The first bytes of a TLS connection (RFC 8446 section 5.1): a record of type handshake, of any version."""
_TLS_HINT = "a TLS handshake came to a plain HTTP port"
MIN_READ_BYTES = 32 * 1024
"""What a client must read of its response in `send_seconds`."""


class WaitingConnections:
    """The connections of one process that wait for their client, in the order they began to wait."""

    def __init__(self, limits: Limits, refusals: Refusals) -> None:
        self.limits = limits
        self.refusals = refusals
        self.is_draining = False
        self._waiting: dict[Connection, tuple[float, float]] = {}

    def add(self, connection: "Connection", seconds: float = math.inf) -> None:
        """Record that `connection` waits from now; with `seconds`, for the end of a head."""
        now = connection.loop.time()
        self._waiting.pop(connection, None)
        self._waiting[connection] = (now, now + seconds)

    def remove(self, connection: "Connection") -> None:
        """Record that `connection` no longer waits."""
        self._waiting.pop(connection, None)

    def evict_longest(self, now: float) -> bool:
        """Close the connection that has waited longest; return False if none has waited long enough."""
        connection = next(iter(self._waiting), None)
        if connection is None or self._waiting[connection][0] > now - EVICTABLE_SECONDS:
            return False
        self.remove(connection)
        connection.transport.abort()
        return True

    def sweep(self, connections: "list[Connection]", now: float) -> None:
        """Close connections that wait too long for a head or read their response too slowly; called about once a second."""
        expired = [connection for connection, (_, deadline) in self._waiting.items() if deadline < now]
        for connection in expired:
            connection.give_up(HTTPStatus.REQUEST_TIMEOUT, Reason.SLOW_HEAD)
        for connection in connections:
            connection.check_reading(now, self.limits.send_seconds)

    def close_waiting(self) -> None:
        """While draining: close connections without a request, and refuse partial requests."""
        for connection in list(self._waiting):
            connection.give_up(HTTPStatus.SERVICE_UNAVAILABLE, Reason.DRAINING)

    def idle(self) -> "list[Connection]":
        """Return the connections on which no byte of a request has arrived."""
        return [connection for connection in self._waiting if connection.is_idle]


class GuardedConfig(Config):
    """uvicorn's settings, the registry of waiting connections, and the answers in memory."""

    waiting_connections: WaitingConnections
    at_once: AnswersAtOnce


class Connection(HttpToolsProtocol):
    """One client."""

    config: GuardedConfig

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.waiting_connections = self.config.waiting_connections
        self.is_idle = True
        self._is_in_head = False
        self._has_begun = False
        self._has_ended = False
        self._head_bytes = 0
        self._received = b""
        self._pending: tuple[float, int] | None = None
        self._answer: tuple[bytes, bool] | None = None
        self._answered_at_once = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn does
        super().connection_made(transport)
        limits, count = self.waiting_connections.limits, len(self.connections)
        self.waiting_connections.add(self, limits.head_seconds)
        if count <= limits.connections or self.waiting_connections.evict_longest(self.loop.time()):
            return
        if count > 2 * limits.connections:
            transport.abort()
        self.app = self._refuse(HTTPStatus.SERVICE_UNAVAILABLE, Reason.CONNECTIONS)

    def connection_lost(self, exc: Exception | None) -> None:
        self.waiting_connections.remove(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self.is_idle:
            self.is_idle = False
            self.waiting_connections.add(self, self.waiting_connections.limits.head_seconds)
        self._has_begun = self._has_ended = False
        self._answered_at_once = 0
        self._received = data
        super().data_received(data)
        if not self._is_in_head or self.transport.is_closing():
            return
        if not (self._has_begun and self._has_ended):  # else most of `data` was the request before
            self._head_bytes += len(data)
        if self._head_bytes > self.waiting_connections.limits.head_bytes:
            self.give_up(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, Reason.LARGE_HEAD)

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._is_in_head = self._has_begun = True
        self._head_bytes = 0

    def on_headers_complete(self) -> None:
        self._is_in_head = False
        if self._offers_upgrade():
            return  # the request follows once more, without its offer
        limits = self.waiting_connections.limits
        size_bytes = len(self.url) + sum(len(name) + len(value) + 4 for name, value in self.headers)
        if size_bytes > limits.head_bytes or len(self.headers) > limits.head_fields:
            self.app = self._refuse(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, Reason.LARGE_HEAD)
        self._answer = self._answer_at_once()
        if self._answer is not None:
            return
        self.waiting_connections.add(self)  # for the body, which the bridge times
        super().on_headers_complete()
        if self.waiting_connections.is_draining:
            self.cycle.keep_alive = False
        if len(self.pipeline) > PIPELINED:
            self.transport.abort()

    def on_message_complete(self) -> None:
        self._has_ended = True
        self.waiting_connections.remove(self)
        if self._answer is not None:
            self._send_at_once(*self._answer)
        elif not self._offers_upgrade():
            super().on_message_complete()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self.transport.is_closing() or self._is_answering():
            return
        self.is_idle = not self._is_in_head
        self.waiting_connections.add(self, math.inf if self.is_idle else self.waiting_connections.limits.head_seconds)

    def _answer_at_once(self) -> tuple[bytes, bool] | None:
        """Return the response if it is in memory and may be sent now; parts of a burst wait their turn like other requests."""
        path, _, query = self.url.partition(b"?")
        is_plain = self.parser.get_method() == b"GET" and path.startswith(b"/") and b"#" not in self.url
        is_free = not (self._is_answering() or self.flow.write_paused or self.waiting_connections.is_draining)
        if not is_plain or not is_free or self.app is not self.config.loaded_app or self._answered_at_once >= PIPELINED:
            return None
        scope = self.scope
        scope["method"], scope["raw_path"], scope["query_string"] = "GET", path, query
        scope["http_version"] = self.parser.get_http_version()
        keeps_alive = scope["http_version"] != "1.0" and self.parser.should_keep_alive()
        return self.config.at_once.answer(scope, self.server_state.default_headers, keeps_alive=keeps_alive)

    def _send_at_once(self, answer: bytes, keeps_alive: bool) -> None:
        self._answer = None
        self._answered_at_once += 1
        self.transport.write(answer)
        if not keeps_alive:
            self.transport.close()
        self.on_response_complete()

    def resume_writing(self) -> None:
        self._pending = None
        super().resume_writing()

    def shutdown(self) -> None:
        """Finish the request in flight; the drain closes idle connections a moment later."""
        if self._is_answering():
            self.cycle.keep_alive = False  # the last one to be answered; those before it in line need not close

    def give_up(self, status: HTTPStatus, reason: Reason) -> None:
        """Stop waiting for the client: with a response if it had begun a request, silently if not."""
        self.waiting_connections.remove(self)
        if self.transport.is_closing():
            return
        if self._is_in_head and not self._is_answering():
            self.transport.write(self.waiting_connections.refusals.raw(status, reason))
        self.transport.close()

    def _is_answering(self) -> bool:
        cycle: RequestResponseCycle | None = self.cycle  # uvicorn's annotation leaves out the None it begins with
        return cycle is not None and not cycle.response_complete

    def check_reading(self, now: float, seconds: float) -> None:
        """Abort the connection if the client does not read its response."""
        unsent_bytes = self.transport.get_write_buffer_size()
        if unsent_bytes == 0:
            self._pending = None
        elif self._pending is None:
            self._pending = (now + seconds, unsent_bytes)
        elif now > self._pending[0]:
            if unsent_bytes > self._pending[1] - MIN_READ_BYTES:
                self.transport.abort()
            self._pending = (now + seconds, unsent_bytes)

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: ASGI3Application) -> None:
        cast(dict[str, Any], cycle.scope)[HAS_LEFT] = lambda: cycle.disconnected
        super()._start_asgi_task(cycle, app)

    def _offers_upgrade(self) -> bool:
        return self.parser.should_upgrade() and self.parser.get_method() != b"CONNECT"

    def _unsupported_upgrade_warning(self) -> None:
        """Ignore an offered upgrade (RFC 9110 section 7.8): parse the request once more without it, with its body.

        The parser stops at an offer and skips the body. Java's HTTP client offers HTTP/2 with each request that is not over TLS.
        """
        stop = sys.exc_info()[1]
        if not isinstance(stop, httptools.HttpParserUpgrade) or not self._offers_upgrade():
            self.cycle.keep_alive = False  # CONNECT: what follows is no request
            return
        if self.transport.is_closing():
            return
        lines = [self.parser.get_method() + b" " + self.url + b" HTTP/1.1"]
        lines += [name + b": " + value for name, value in self.headers if name not in _OFFER]
        if not self.parser.should_keep_alive():
            lines.append(b"connection: close")
        self.parser = httptools.HttpRequestParser(self)
        self._received = b"\r\n".join(lines) + b"\r\n\r\n" + self._received[stop.args[0] :]
        super().data_received(self._received)

    def send_400_response(self, msg: str) -> None:
        """Answer a malformed request like uvicorn, but with our error page, a request id and a count."""
        del msg
        hint = _TLS_HINT if self._received.startswith(_TLS_HANDSHAKE) else ""
        self.transport.write(self.waiting_connections.refusals.raw(HTTPStatus.BAD_REQUEST, Reason.MALFORMED, hint))
        self.transport.close()

    def _refuse(self, status: HTTPStatus, reason: Reason) -> ASGI3Application:
        async def app(scope: Scope, receive: ASGIReceiveCallable, send: ASGISendCallable) -> None:
            if scope["type"] == "http":
                await self.waiting_connections.refusals.send(Refusal(status, reason), scope, receive, send)

        return cast(ASGI3Application, app)
