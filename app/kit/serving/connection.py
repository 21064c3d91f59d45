"""A client connection: its socket, its requests, the response, and their deadlines."""

from __future__ import annotations

import math
import select
import socket
import threading
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, auto
from http import HTTPStatus
from typing import Any, Final

from app.kit.clock import monotonic
from app.kit.serving.http1.error_responses import Refusals, ServerRefusalReason
from app.kit.serving.http1.request_body import BodyBudget
from app.kit.serving.http1.request_reader import Request, RequestReader
from app.kit.serving.poller import Poller
from app.kit.serving.server_limits import ServerLimits

READ_BYTES: Final = 64 * 1024
MIN_READ_BYTES: Final = 32 * 1024
"""How much of its response a client must read in `send_seconds`."""
REST_SECONDS: Final = 5.0
REST_BYTES: Final = 16 * 1024 * 1024
"""How much of an unread request is read and dropped. Closing at once, with unread bytes of the client, resets the connection, and
the client may lose a response in transit."""
_CONTINUE: Final = b"HTTP/1.1 100 Continue\r\n\r\n"


class Phase(Enum):
    """The phase of a waiting connection."""

    IDLE = auto()
    """The first byte of a request."""
    HEAD = auto()
    BODY = auto()
    SENDING = auto()
    """The client is to read its response."""
    REST = auto()
    """The response is sent, and the rest of the request is dropped."""


@dataclass(frozen=True, slots=True)
class ServerResources:
    """What the connections of one process share."""

    limits: ServerLimits
    refusals: Refusals
    poller: Poller
    held_bodies: BodyBudget


class ClientConnection:
    """One client connection. Only the thread that holds `owner` uses it, to serve it or to end its wait.

    A connection that waits has no owner; the poller tells one thread when something has happened, and that thread takes it. A
    request keeps its owner until it is answered, also in a queue. A closed connection keeps its last owner, so no thread uses its
    socket number, which the system may give to the next client.
    """

    def __init__(
        self,
        client: socket.socket,
        common: dict[str, Any],
        resources: ServerResources,
        on_close: Callable[[ClientConnection], None],
    ) -> None:
        self.owner = threading.Lock()
        self.owner.acquire()
        self.number = client.fileno()
        self.phase = Phase.IDLE
        self.since = math.inf
        """Since when it waits for its client."""
        self.deadline = math.inf
        self.is_closed = False
        self.is_surplus = False
        """Whether there are too many connections: each request is refused."""
        self._socket = client
        self._resources = resources
        self._on_close = on_close
        self._reader = RequestReader(common, resources.limits, resources.held_bodies)
        self._arming = threading.Lock()
        self._is_registered = False
        self._counted = -1
        self._unsent: memoryview | None = None
        self._unsent_before = 0
        self._rest_bytes = REST_BYTES
        self._ends = False
        self._answered = 0

    @property
    def may_answer(self) -> bool:
        """Whether the next response may be sent."""
        return not (self.is_closed or self._ends or self._unsent)

    @property
    def has_more(self) -> bool:
        """Whether another complete request waits."""
        return bool(self._reader.complete)

    def resume(self) -> None:
        """Continue after the wait: read, or send the rest of the response."""
        if self._unsent is not None:
            self._flush()
        else:
            self._receive()

    def next_request(self) -> Request | None:
        """Return the next complete request; None if there is none."""
        if self._reader.complete:
            return self._reader.complete.popleft()
        if self._reader.problem is not None:
            problem = self._reader.problem
            self.answer(self._resources.refusals.answer(problem.status, problem.reason, hint=problem.hint), closes=True)
        return None

    def answer(self, response: bytes, *, closes: bool) -> None:
        """Send a response, the rest of it when the client takes more; `closes` ends the connection after it."""
        self._ends = self._ends or closes
        self._answered += 1
        self._unsent = memoryview(response)
        self._flush()

    def release(self, request: Request) -> None:
        """Forget the body of a request."""
        self._reader.release(request)

    def send(self, block: bytes) -> None:
        """Send a block of a stream, and wait until the client has taken it. Raises OSError."""
        left = memoryview(block)
        poll = select.poll()
        poll.register(self._socket, select.POLLOUT)
        ends_at, before = monotonic() + self._resources.limits.send_seconds, len(left)
        while left:
            try:
                left = left[self._socket.send(left) :]
            except BlockingIOError:
                poll.poll(max(0.0, ends_at - monotonic()) * 1000)
                if monotonic() >= ends_at:
                    if len(left) > before - MIN_READ_BYTES:
                        raise
                    ends_at, before = monotonic() + self._resources.limits.send_seconds, len(left)

    def has_left(self) -> bool:
        """Whether the client has disconnected."""
        return self._next_byte() == b""

    def wait(self) -> None:
        """Wait for the client; another thread may own the connection from then on."""
        if self.is_closed:
            return
        partial = self._reader.partial
        if partial is not None and partial.expects and self.may_answer:
            partial.expects = False
            try:
                self._socket.send(_CONTINUE)
            except OSError:
                self.close()
                return
        self._set_deadline()
        with self._arming:
            self.owner.release()
            self._resources.poller.arm(self.number, is_new=not self._is_registered, writes=self._unsent is not None)
            self._is_registered = True

    def phase_now(self) -> Phase:
        """Return the phase in which the connection must wait."""
        if self._unsent is not None:
            return Phase.SENDING
        if self._ends:
            return Phase.REST
        if self._reader.partial is not None:
            return Phase.BODY
        return Phase.HEAD if self._reader.is_in_head else Phase.IDLE

    def end_wait(self, now: float, reason: ServerRefusalReason | None = None) -> None:
        """End the wait: with a response if the client has begun a request. Called by the owner.

        Args:
            reason: why, unless the client was too slow.
        """
        if self.phase is Phase.SENDING and reason is None and self._unsent is not None:
            if len(self._unsent) <= self._unsent_before - MIN_READ_BYTES:
                self._unsent_before, self.deadline = len(self._unsent), now + self._resources.limits.send_seconds
            else:
                self.close()
        elif self.phase in {Phase.HEAD, Phase.BODY}:
            slow = ServerRefusalReason.SLOW_HEAD if self.phase is Phase.HEAD else ServerRefusalReason.SLOW_BODY
            self._refuse(HTTPStatus.SERVICE_UNAVAILABLE if reason else HTTPStatus.REQUEST_TIMEOUT, reason or slow)
        elif self.phase is not Phase.IDLE or not self._next_byte():  # else a request has just arrived
            self.close()
        self.wait()

    def close(self) -> None:
        """Close the connection. Called by its owner, which keeps it."""
        if self.is_closed:
            return
        self.is_closed = True
        self._reader.close()
        self._unsent = None
        self._on_close(self)
        with self._arming:
            self._socket.close()

    def _refuse(self, status: HTTPStatus, reason: ServerRefusalReason) -> None:
        partial = self._reader.partial
        accept = partial.environ.get("HTTP_ACCEPT", "") if partial is not None else ""
        self._reader.has_rest = True
        self.answer(self._resources.refusals.answer(status, reason, accept=accept), closes=True)

    def _next_byte(self) -> bytes | None:
        """Return the next byte without taking it; None if there is none, nothing if the client has disconnected."""
        try:
            return self._socket.recv(1, socket.MSG_PEEK)
        except BlockingIOError:
            return None
        except OSError:
            return b""

    def _receive(self) -> None:
        try:
            data = self._socket.recv(READ_BYTES)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if self._ends:
            self._rest_bytes -= len(data)
        if not data or self._rest_bytes < 0:
            self.close()
            return
        if not self._ends:
            self._reader.feed(data)
            if self._reader.is_flooded:
                self.close()

    def _flush(self) -> None:
        left = self._unsent or memoryview(b"")
        try:
            sent = self._socket.send(left)
        except BlockingIOError:
            return
        except OSError:
            self.close()
            return
        self._unsent = left[sent:] if sent < len(left) else None
        if self._unsent is None and self._ends:
            self._end()

    def _end(self) -> None:
        """All is sent: close, or let the client read it first if it still sends."""
        if not self._reader.has_rest:
            self.close()
            return
        try:
            self._socket.shutdown(socket.SHUT_WR)
        except OSError:
            self.close()

    def _set_deadline(self) -> None:
        """Start the deadline of the wait, unless the phase is unchanged."""
        phase, count = self.phase_now(), self._reader.begun + self._answered
        if phase is self.phase and count == self._counted:
            return
        now, limits = monotonic(), self._resources.limits
        self.phase, self.since, self._counted = phase, now, count
        if self.phase is Phase.SENDING:
            self._unsent_before = len(self._unsent or b"")
            self.since = math.inf
            self.deadline = now + limits.send_seconds
        elif self.phase is Phase.REST:
            self.deadline = now + REST_SECONDS
        elif self.phase is Phase.BODY:
            self.deadline = now + limits.body_seconds
        elif self.phase is Phase.HEAD or not self._answered:
            self.deadline = now + limits.head_seconds
        else:
            self.deadline = now + limits.keep_alive_seconds
