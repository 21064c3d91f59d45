"""Clients that exchange raw bytes with a server."""

import os
import signal
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import TextIO

PATIENCE_SECONDS = 20.0


@dataclass
class Served:
    """A running server."""

    process: ForkServerProcess
    stdout: TextIO
    host: str
    port: int
    output: list[str] = field(default_factory=list)

    def connect(self, sent: bytes = b"") -> socket.socket:
        client = socket.create_connection((self.host, self.port), timeout=PATIENCE_SECONDS)
        client.sendall(sent)
        return client

    def ask(self, request: bytes) -> bytes:
        """Send `request` on a new connection and return all bytes until the server closes it."""
        with self.connect(request) as client:
            return read_all(client)

    def get(self, path: str, *fields: str) -> bytes:
        return self.ask(get(path, "Connection: close", *fields))

    def statuses(self, request: bytes) -> list[int]:
        """Send `request` and a well-formed one after it; return the status of each answer until the connection closes.

        Two statuses: the server found the end of `request`. One: it refused it, or closed after it, and read no further.
        """
        answer = self.ask(request + FOLLOWING)
        assert SMUGGLED not in answer, "what lies within a request was answered"
        return [int(part[:3]) for part in answer.split(b"HTTP/1.1 ")[1:]]

    @property
    def pid(self) -> int:
        assert self.process.pid is not None
        return self.process.pid

    def signal(self, number: signal.Signals) -> None:
        os.kill(self.pid, number)

    def children(self) -> list[int]:
        """Return the process ids of the workers."""
        return [int(pid) for pid in Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text().split()]

    def wait(self) -> int | None:
        """Wait until the process has ended and return its exit status."""
        self.output += self.stdout.read().splitlines()
        self.process.join(PATIENCE_SECONDS)
        return self.process.exitcode


def get(path: str, *fields: str, host: str = "acme.localhost") -> bytes:
    return "\r\n".join([f"GET {path} HTTP/1.1", f"Host: {host}", *fields, "", ""]).encode("latin-1")


def post(path: str, body: bytes, *fields: str) -> bytes:
    head = [f"POST {path} HTTP/1.1", "Host: acme.localhost", f"Content-Length: {len(body)}", *fields, "", ""]
    return "\r\n".join(head).encode("latin-1") + body


FOLLOWING = get("/memory/following", "Connection: close")
SMUGGLED = b"/memory/smuggled"
HIDDEN = get("/memory/smuggled")
"""A request inside a request: no response to it is allowed."""


def head(line: str, *fields: str, host: str | None = "acme.localhost") -> bytes:
    """Return the head of a request; a `host` of None leaves out the field."""
    hosts = [f"Host: {host}"] if host is not None else []
    return "\r\n".join([line, *hosts, *fields, "", ""]).encode("latin-1")


def read_all(client: socket.socket) -> bytes:
    """Return all bytes until the server closes; a reset raises and fails the test."""
    blocks = []
    while block := client.recv(65536):
        blocks.append(block)
    return b"".join(blocks)


def read_answer(client: socket.socket) -> bytes:
    """Return one response with a Content-Length and leave the connection open."""
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
    """Return whether `holds` becomes true within PATIENCE_SECONDS."""
    ends_at = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < ends_at:
        if holds():
            return True
        time.sleep(0.02)
    return False
