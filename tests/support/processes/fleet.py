"""Several instances behind load balancers that check `/health/ready`, with simulated users."""

from __future__ import annotations

import http.client
import json
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from typing import Any

from tests.support.processes.commands import Version
from tests.support.processes.installation import Installation, eventually
from tests.support.services.servers import end, free_port

PROBE_SECONDS = 0.1
HANG_SECONDS = 60
FALL = 3
"""Consecutive failed probes after which a load balancer stops sending requests to an instance."""
LEAVE_SECONDS = 0.2
"""Between the last request that is sent to an instance and its end: some are on their way."""
THINK_SECONDS = 0.1
"""Between two requests of a simulated user: users without a pause would take the processor from the processes that start."""
HOP = {"connection", "transfer-encoding", "keep-alive", "date", "server"}


class Balancer:
    """Sends each request to the next instance that was ready when it was asked last."""

    def __init__(self) -> None:
        self._states: dict[int, bool] = {}
        self._missed: Counter[int] = Counter()
        self._turn = count()
        self._over = threading.Event()
        self.least_ready: int | None = None
        """The fewest instances that were ready at one time since the first two were."""
        self._thread = threading.Thread(target=self._probe, daemon=True)
        self._thread.start()

    def add(self, port: int) -> None:
        """Take an instance in, and wait until it is ready."""
        self._states[port] = False
        eventually(lambda: self._states[port], f"port {port} is ready")

    def remove(self, port: int) -> None:
        """Stop sending requests to the instance, as an operator does before a restart."""
        del self._states[port]

    def ready(self) -> list[int]:
        return [port for port, is_ready in sorted(self._states.copy().items()) if is_ready]

    def pick(self) -> int:
        """Return the port of an instance that is ready."""
        ready = eventually(self.ready, "an instance is ready")
        return int(ready[next(self._turn) % len(ready)])

    def close(self) -> None:
        self._over.set()
        self._thread.join()

    def _probe(self) -> None:
        while not self._over.wait(PROBE_SECONDS):
            requested = list(self._states)
            for port in requested:
                self._missed[port] = 0 if _is_ready(port) else self._missed[port] + 1
                is_ready = not self._missed[port] or (self._states.get(port, False) and self._missed[port] < FALL)
                if port in self._states:
                    self._states[port] = is_ready
            ready = len([port for port in requested if self._states.get(port, True)])
            if self.least_ready is not None or ready > 1:
                self.least_ready = min(self.least_ready or ready, ready)


def _is_ready(port: int) -> bool:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        connection.request("GET", "/health/ready")
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


@contextmanager
def proxied(balancer: Balancer) -> Iterator[int]:
    """Give the port of a reverse proxy before a balancer: for parts that know one address only."""

    class Proxy(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def forward(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            answer = send(balancer.pick(), self.command, self.path, dict(self.headers), body)
            self.send_response(answer.status)
            for name, value in answer.headers:
                if name.lower() not in {*HOP, "content-length"}:
                    self.send_header(name, value)
            self.send_header("Content-Length", str(len(answer.content)))
            self.end_headers()
            self.wfile.write(answer.content)

        do_GET = do_POST = forward  # noqa: N815 - names of the library

        def log_message(self, *_: Any) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Proxy)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()


@dataclass
class FleetAnswer:
    status: int
    headers: list[tuple[str, str]]
    content: bytes

    def json(self) -> Any:
        return json.loads(self.content)

    def header(self, name: str) -> list[str]:
        return [value for known, value in self.headers if known.lower() == name]


def send(port: int, method: str, path: str, headers: Mapping[str, str], body: bytes = b"") -> FleetAnswer:
    """Ask an instance once, over a connection of its own."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=HANG_SECONDS)
    try:
        connection.request(method, path, body or None, {**headers, "Connection": "close"})
        answer = connection.getresponse()
        return FleetAnswer(answer.status, answer.getheaders(), answer.read())
    finally:
        connection.close()


@dataclass
class Load:
    """Simulated users that repeat one action, each in a thread; failures are recorded."""

    done: Counter[str] = field(default_factory=Counter)
    failed: list[str] = field(default_factory=list)
    _over: threading.Event = field(default_factory=threading.Event)
    _threads: list[threading.Thread] = field(default_factory=list)

    def add(self, name: str, act: Callable[[], None]) -> None:
        """Begin to do something over and over; it raises where it fails."""
        self._threads.append(threading.Thread(target=self._repeat, args=(name, act), daemon=True))
        self._threads[-1].start()

    def more(self, name: str, times: int = 3) -> None:
        """Wait until it was done some more times: what has just changed was met."""
        expected = self.done[name] + times
        eventually(lambda: self.failed or self.done[name] >= expected, f"{name} goes on")

    def end(self) -> None:
        self._over.set()
        for thread in self._threads:
            thread.join(HANG_SECONDS)

    def _repeat(self, name: str, act: Callable[[], None]) -> None:
        while not self._over.is_set():
            try:
                act()
                self.done[name] += 1
            except Exception as problem:  # noqa: BLE001 - any exception is a failed request
                self.failed.append(f"{time.strftime('%X')} {name}: {type(problem).__name__} {problem}"[:700])
            self._over.wait(THINK_SECONDS)


@dataclass
class Fleet:
    """The instances of one installation, started and stopped by hand."""

    installation: Installation
    running: dict[int, int] = field(default_factory=dict)  # port or, where nothing is served, process id -> process id

    def serve(self, version: Version, balancer: Balancer, *arguments: str) -> int:
        """Start an instance and wait until it is ready; return its port."""
        port = free_port()
        bind = ("serve", "--bind", f"127.0.0.1:{port}", *arguments)
        self.running[port] = self._start(version, *bind)
        balancer.add(port)
        return port

    def work(self, version: Version) -> int:
        """Start a worker."""
        pid = self._start(version, "worker")
        self.running[pid] = pid
        return pid

    def _start(self, version: Version, *arguments: str) -> int:
        return version.start(self.installation.environ, *arguments, log=self.installation.folder / "log")

    def retire(self, key: int, balancer: Balancer | None = None) -> None:
        """Stop an instance or a worker: it receives no new requests and answers those in progress."""
        if balancer is not None:
            balancer.remove(key)
            time.sleep(LEAVE_SECONDS)
        end(self.running.pop(key), signal.SIGTERM)

    def close(self) -> None:
        for pid in self.running.values():
            end(pid, signal.SIGKILL)
