"""A tap between two processes of the service: forwards all bytes and records them."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from threading import Thread


@dataclass
class Tap:
    """Listens at `port` of the loopback and passes connections on to `target`."""

    target: int
    listener: socket.socket
    received: list[bytearray] = field(default_factory=list)  # bytes of each client, by connection

    @property
    def port(self) -> int:
        port: int = self.listener.getsockname()[1]
        return port

    def requests(self) -> list[bytes]:
        """Return each HTTP request that was recorded completely."""
        return [request for data in self.received for request in _requests(bytes(data))]

    def repeat(self, request: bytes) -> int:
        """Replay a request on its own connection; return the status of the response."""
        with socket.create_connection(("127.0.0.1", self.target), timeout=30) as there:
            there.sendall(request)
            return int(there.recv(65_536).split(b" ", 2)[1])

    def serve(self) -> None:
        with suppress(OSError):
            while True:
                here, _ = self.listener.accept()
                data = bytearray()
                self.received.append(data)
                Thread(target=self._pass_on, args=(here, data), daemon=True).start()

    def _pass_on(self, here: socket.socket, data: bytearray) -> None:
        with here, suppress(OSError), socket.create_connection(("127.0.0.1", self.target)) as there:
            back = Thread(target=_copy, args=(there, here, bytearray()), daemon=True)
            back.start()
            _copy(here, there, data)
            back.join()


def _copy(source: socket.socket, sink: socket.socket, seen: bytearray) -> None:
    with suppress(OSError):
        while part := source.recv(65_536):
            seen += part
            sink.sendall(part)
    with suppress(OSError):
        sink.shutdown(socket.SHUT_WR)


def _requests(data: bytes) -> Iterator[bytes]:
    while b"\r\n\r\n" in data:
        head, _, rest = data.partition(b"\r\n\r\n")
        fields = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:])
        length = int(fields.get(b"content-length", b"0"))
        if len(rest) < length:
            return
        yield head + b"\r\n\r\n" + rest[:length]
        data = rest[length:]


@contextmanager
def tapped(target: int) -> Iterator[Tap]:
    """Give a tap before a port of the loopback."""
    listener = socket.create_server(("127.0.0.1", 0))
    tap = Tap(target, listener)
    Thread(target=tap.serve, daemon=True).start()
    try:
        yield tap
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
