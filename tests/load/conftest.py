"""A server process, and clients that speak to it byte by byte."""

import json
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
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
        out, _ = self.process.communicate(timeout=PATIENCE_SECONDS)
        self.said += out.splitlines()
        return self.process.returncode


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


@pytest.fixture
def serving() -> Iterator[Callable[..., Served]]:
    """Starts servers: `serving(workers=2, limits={"waiting": 4})`."""
    started: list[subprocess.Popen[str]] = []

    def start(**settings: Any) -> Served:
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.load.application", json.dumps(settings)],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        said = []
        assert process.stdout is not None
        for line in process.stdout:
            if line.startswith("ready "):
                host, port = line.split()[1].rsplit(":", 1)
                return Served(process, host, int(port), said)
            said.append(line.strip())
        raise AssertionError(f"the server did not start; it said {said}")

    yield start
    for process in started:
        if process.poll() is None:
            process.kill()
        process.communicate()


@pytest.fixture
def served(serving: Callable[..., Served]) -> Served:
    return serving(threads=4)


def eventually(holds: Callable[[], bool]) -> bool:
    """Whether `holds` comes true within our patience."""
    ends_at = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < ends_at:
        if holds():
            return True
        time.sleep(0.02)
    return False
