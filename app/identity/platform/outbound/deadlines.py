"""One deadline for a whole exchange over HTTP: connecting, TLS, the request, and each byte of the answer.

Timeouts of sockets count anew with each byte, so a server that sends slowly enough would hold a thread for hours. One that sends
quickly is bounded too: interim responses (1xx) without end would take a processor until the deadline.
"""

from __future__ import annotations

import ssl
from collections.abc import Iterable
from typing import Any, Final

import httpcore
import httpx

from app.kit.clock import monotonic

_PIECE: Final = 16_384  # bytes that are written between two looks at the clock
MAX_READ: Final = 1_000_000
"""Bytes of an answer with its heads; its body alone has a lower limit."""


class EndlessAnswer(httpcore.ReadError):
    """More than MAX_READ bytes came."""


class Deadline:
    """A moment in some seconds."""

    def __init__(self, seconds: float) -> None:
        self._ends = monotonic() + seconds

    @property
    def is_over(self) -> bool:
        return monotonic() >= self._ends

    @property
    def seconds(self) -> float:
        """The seconds that are left."""
        return max(self._ends - monotonic(), 0.0)

    def left(self, timeout: float | None, refusal: type[httpcore.TimeoutException]) -> float:
        """Return the seconds that an operation gets. Raises `refusal` if none are left."""
        left = self._ends - monotonic()
        if left <= 0:
            raise refusal("the deadline of the request is over")
        return left if timeout is None else min(timeout, left)


class DeadlineTransport(httpx.HTTPTransport):
    """Sends requests whose operations on the network end with the deadline, through a proxy too. Raises httpx.TimeoutException.

    TLS to a proxy and TLS to the server within it: the second handshake alone has a timeout for each read.
    """

    def __init__(self, deadline: Deadline, **settings: Any) -> None:
        super().__init__(**settings)
        self._pool._network_backend = _Backend(self._pool._network_backend, deadline)


class _Backend(httpcore.NetworkBackend):
    def __init__(self, backend: httpcore.NetworkBackend, deadline: Deadline) -> None:
        self._backend, self._deadline = backend, deadline

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        left = self._deadline.left(timeout, httpcore.ConnectTimeout)
        return _Stream(self._backend.connect_tcp(host, port, left, local_address, socket_options), self._deadline)


class _Stream(httpcore.NetworkStream):
    def __init__(self, stream: httpcore.NetworkStream, deadline: Deadline) -> None:
        self._stream, self._deadline = stream, deadline
        self._read = 0

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        content = self._stream.read(max_bytes, self._deadline.left(timeout, httpcore.ReadTimeout))
        self._read += len(content)
        if self._read > MAX_READ:
            raise EndlessAnswer
        return content

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        for at in range(0, len(buffer), _PIECE):
            self._stream.write(buffer[at : at + _PIECE], self._deadline.left(timeout, httpcore.WriteTimeout))

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        try:
            left = self._deadline.left(timeout, httpcore.ConnectTimeout)
        except httpcore.ConnectTimeout:
            self.close()
            raise
        return _Stream(self._stream.start_tls(ssl_context, server_hostname, left), self._deadline)

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)
