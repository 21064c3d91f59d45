"""Clients that speak to a server byte by byte."""

import socket
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass, field

PATIENCE_SECONDS = 20.0


@dataclass
class Served:
    """A running server."""

    process: "subprocess.Popen[str]"
    host: str
    port: int
    said: list[str] = field(default_factory=list)

    def connect(self, sent: bytes = b"") -> socket.socket:
        client = socket.create_connection((self.host, self.port), timeout=PATIENCE_SECONDS)
        client.sendall(sent)
        return client

    def ask(self, request: bytes) -> bytes:
        """Send `request` on a connection of its own and return all that comes back until the server closes."""
        with self.connect(request) as client:
            return read_all(client)

    def get(self, path: str, *fields: str) -> bytes:
        return self.ask(get(path, "Connection: close", *fields))

    def wait(self) -> int:
        """Wait for the end of the process and return its exit status."""
        assert self.process.stdout is not None
        self.said += self.process.stdout.read().splitlines()  # not `communicate`: it forgets what was read ahead
        return self.process.wait(timeout=PATIENCE_SECONDS)


def get(path: str, *fields: str, host: str = "acme.localhost") -> bytes:
    return "\r\n".join([f"GET {path} HTTP/1.1", f"Host: {host}", *fields, "", ""]).encode("latin-1")


def post(path: str, body: bytes, *fields: str) -> bytes:
    head = [f"POST {path} HTTP/1.1", "Host: acme.localhost", f"Content-Length: {len(body)}", *fields, "", ""]
    return "\r\n".join(head).encode("latin-1") + body


def read_all(client: socket.socket) -> bytes:
    """Everything until the other side closes; a reset counts as a broken answer and fails the test."""
    blocks = []
    while block := client.recv(65536):
        blocks.append(block)
    return b"".join(blocks)


def read_answer(client: socket.socket) -> bytes:
    """One answer with a Content-Length, leaving the connection open."""
    answer = b""
    while b"\r\n\r\n" not in answer:
        block = client.recv(65536)
        assert block, f"closed in the middle of a head: {answer!r}"
        answer += block
    head, _, body = answer.partition(b"\r\n\r\n")
    length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
    while len(body) < length:
        block = client.recv(65536)
        assert block, "closed in the middle of a body"
        body += block
    return head + b"\r\n\r\n" + body


def status(answer: bytes) -> int:
    return int(answer.split(b" ", 2)[1])


def eventually(holds: Callable[[], bool]) -> bool:
    """Whether `holds` comes true within our patience."""
    ends_at = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < ends_at:
        if holds():
            return True
        time.sleep(0.02)
    return False
