"""The server of one process: from a connection to its response, until a signal; then the graceful shutdown."""

import contextlib
import os
import select
import signal
import socket
import time
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field
from types import FrameType
from wsgiref.types import WSGIApplication

from app.kit.clock import monotonic
from app.kit.limits.queue_slot import WsgiApp
from app.kit.serving.connection_registry import ConnectionRegistry
from app.kit.serving.dispatcher import Queues, RequestDispatcher
from app.kit.serving.hash_queue import HashLimits, HashQueue
from app.kit.serving.http1.error_responses import OnRefusal, RefusalPage, Refusals, default_page, ignore_refusal
from app.kit.serving.listener import Listener
from app.kit.serving.poller import Poller
from app.kit.serving.request_slots import SlotPool
from app.kit.serving.server_limits import ServerLimits
from app.kit.serving.worker_pool import WorkerPool

GRACE_SECONDS = 0.5
"""While draining, a connection that is idle this long is closed; an active client has seen `Connection: close` by then."""
ARRIVAL_SECONDS = 0.1
"""How long connections in their TCP handshake when the drain begins may take to complete it."""
LAST_RESPONSES_SECONDS = 0.5
"""How long the refusals of unfinished requests may take to be sent."""
TICK_SECONDS = 0.1
DRAIN_TICK_SECONDS = 0.02
SWEEP_SECONDS = 1.0


@dataclass(frozen=True)
class ServerConfig:
    """The configuration of each worker process."""

    make_app: Callable[[], WSGIApplication]
    threads: int
    hash_limits: HashLimits
    limits: ServerLimits = field(default_factory=ServerLimits)
    page: RefusalPage = default_page
    on_refusal: OnRefusal = ignore_refusal
    is_one_of_many: bool = False
    reserved_paths: Sequence[str] = ()
    """Paths with their own thread each: they are answered even while every other thread hangs."""


class HttpServer:
    """Accepts clients and serves them, until a signal begins the drain."""

    def __init__(self, app: WsgiApp, plan: ServerConfig, listener: socket.socket) -> None:
        limits = self._limits = plan.limits
        refusals = Refusals(plan.page, retry_after_seconds=limits.retry_after_seconds, on_refusal=plan.on_refusal)
        poller = Poller()
        workers = self._workers = WorkerPool(poller, self._on_event)
        hash_queue = self._hash_queue = HashQueue(plan.hash_limits, limits.hash_wait_seconds, app.hash_seconds)
        reserved = {path: SlotPool(threads=1, waiting=limits.waiting) for path in plan.reserved_paths}
        queues = Queues(SlotPool(threads=plan.threads, waiting=limits.waiting), hash_queue, reserved)
        self._service = RequestDispatcher(app, queues, refusals, workers)
        self._connections = ConnectionRegistry(limits, refusals, poller, is_one_of_many=plan.is_one_of_many)
        self._listener = Listener(listener, poller)
        self._parent = os.getppid() if plan.is_one_of_many else None
        self._drains_at: float | None = None
        self._swept_at = 0.0
        self._is_draining = self._should_exit = self._force_exit = False

    def run(self, on_ready: Callable[[], object]) -> None:
        """Serve until SIGTERM or SIGINT, then drain."""
        with self._signals() as woken:
            self._workers.start()
            self._listener.open()
            on_ready()
            while not self._should_exit:
                if select.select([woken], [], [], TICK_SECONDS)[0]:
                    os.read(woken, 4096)
                self._tick()
            try:
                self._drain()
            finally:
                self._workers.close()

    def _on_event(self, number: int) -> None:
        """Handle the event of a socket, in a worker thread."""
        if number == self._listener.number:
            accepted = self._listener.accept()
            connection = self._connections.add(*accepted) if accepted is not None else None
        else:
            connection = self._connections.take(number)
        if connection is None:
            return
        connection.resume()
        self._service.advance(connection)

    def _tick(self) -> None:
        now = monotonic()
        self._hash_queue.tick()
        if now - self._swept_at >= SWEEP_SECONDS:
            self._swept_at = now
            self._connections.sweep()
            self._listener.open()
            self._should_exit = self._should_exit or (self._parent is not None and os.getppid() != self._parent)
        if self._drains_at is not None and now >= self._drains_at:
            self._should_exit = True

    def _drain(self) -> None:
        """Accept the connections in the backlog, close the listener, and finish the requests in flight.

        Every request that has arrived is answered, with `Connection: close`. A partial request has a few seconds to arrive.
        Unfinished requests are answered 503.
        """
        ends_at = monotonic() + self._limits.drain_seconds
        self._is_draining = self._service.is_draining = True
        self._listener.refuse_new()
        self._wait(monotonic() + ARRIVAL_SECONDS, until_empty=False)
        for client, address in self._listener.close():
            connection = self._connections.add(client, address)
            if connection is not None:
                connection.wait()
        self._wait(min(ends_at, monotonic() + GRACE_SECONDS))
        self._connections.close_idle()
        self._wait(min(ends_at, monotonic() + self._limits.drain_arrival_seconds))
        self._connections.close_waiting()
        self._wait(ends_at)
        self._service.refuse_unfinished()
        self._force_exit = False  # even after a second signal, so that no answer is truncated
        self._wait(monotonic() + LAST_RESPONSES_SECONDS)

    def _wait(self, ends_at: float, *, until_empty: bool = True) -> None:
        """Wait until the time is up, until no connection is left, or until a second Ctrl-C."""
        while monotonic() < ends_at and not self._force_exit and not (until_empty and not self._connections):
            self._tick()
            time.sleep(DRAIN_TICK_SECONDS)

    def _on_signal(self, number: int, _frame: FrameType | None) -> None:
        """SIGTERM starts the drain period, a second one or SIGINT closes the socket; SIGINT after that stops at once.

        Ctrl-C reaches a worker twice, from the terminal and from its parent: both before the drain has begun.
        """
        self._force_exit = self._force_exit or (self._is_draining and number == signal.SIGINT)
        if number == signal.SIGTERM and self._drains_at is None and self._limits.lame_duck_seconds > 0:
            self._service.is_lame_duck = True
            self._drains_at = monotonic() + self._limits.lame_duck_seconds
        else:
            self._should_exit = True

    @contextlib.contextmanager
    def _signals(self) -> Generator[int, None, None]:
        """Handle signals within the block, which gets a file that can be read after one; a drained process exits with status 0."""
        woken, wakes = os.pipe()
        os.set_blocking(woken, False)
        os.set_blocking(wakes, False)
        descriptor = signal.set_wakeup_fd(wakes, warn_on_full_buffer=False)
        before = {number: signal.signal(number, self._on_signal) for number in (signal.SIGTERM, signal.SIGINT)}
        try:
            yield woken
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
            signal.set_wakeup_fd(descriptor)
            os.close(woken)
            os.close(wakes)
