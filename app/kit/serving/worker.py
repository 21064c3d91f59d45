"""One serving process: event loop, threads, background jobs, and graceful shutdown."""

import asyncio
import contextlib
import ctypes
import logging
import os
import resource
import signal
import socket
import threading
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field
from types import FrameType
from typing import cast
from wsgiref.types import WSGIApplication

import uvicorn
from uvicorn._types import ASGIApplication

from app.kit.admission import Application
from app.kit.loading import loading
from app.kit.serving.address import BACKLOG, reject_new_connections
from app.kit.serving.at_once import AnswersAtOnce
from app.kit.serving.bridge import Bridge, Threads
from app.kit.serving.connections import Connection, GuardedConfig, WaitingConnections
from app.kit.serving.hash_queue import HashLimits, HashQueue
from app.kit.serving.limits import Limits
from app.kit.serving.pool import GrowingPool, Pool
from app.kit.serving.refusals import OnRefusal, RefusalPage, Refusals, ignore_refusal, plain_page

GRACE_SECONDS = 0.5
"""While draining, a connection that is idle this long is closed; an active client has seen `Connection: close` by then."""
ARRIVAL_SECONDS = 0.1
"""How long connections in their TCP handshake when the drain begins may take to complete it."""
LAST_RESPONSES_SECONDS = 0.5
"""How long the refusals of unfinished requests may take to be sent."""
SWEEP_TICKS = 10
"""uvicorn ticks ten times a second."""
RESTART_AFTER_SECONDS = 1.0
RETURN_SECONDS = 60.0
"""How often free memory is returned to the system."""
logger = logging.getLogger("gatehouse.serving")

Job = Callable[[threading.Event], None]
"""A background job: runs until the event is set."""


@dataclass(frozen=True)
class Plan:
    """The configuration of each worker process."""

    make_app: Callable[[], WSGIApplication]
    threads: int
    hash_limits: HashLimits
    limits: Limits = field(default_factory=Limits)
    page: RefusalPage = plain_page
    on_refusal: OnRefusal = ignore_refusal
    is_one_of_many: bool = False
    reserved_paths: Sequence[str] = ()
    """Paths with their own thread each: they are answered even while every other thread hangs."""


class Server(uvicorn.Server):
    """uvicorn's server, with our drain instead of its shutdown."""

    def __init__(self, config: GuardedConfig, bridge: Bridge, plan: Plan, on_ready: Callable[[], object]) -> None:
        super().__init__(config)
        self.waiting_connections = config.waiting_connections
        self._bridge = bridge
        self._limits = plan.limits
        self._on_ready = on_ready
        self._parent = os.getppid()
        self._has_supervisor = plan.is_one_of_many
        self._leaves_at: float | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        self._kept = [listener.dup() for listener in sockets or []]
        await super().startup(sockets)
        self._loop = asyncio.get_running_loop()
        self._on_ready()

    async def on_tick(self, counter: int) -> bool:
        if self._leaves_at is not None and asyncio.get_running_loop().time() >= self._leaves_at:
            self.should_exit = True
        if counter % SWEEP_TICKS == 0:
            self._sweep()
            self.should_exit = self.should_exit or (self._has_supervisor and os.getppid() != self._parent)
        return await super().on_tick(counter)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Accept the connections in the backlog, close the listeners, and finish the requests in flight.

        Every request that has arrived is answered, with `Connection: close`. A partial request has a few seconds to arrive.
        Unfinished requests are answered 503.
        """
        loop = asyncio.get_running_loop()
        ends_at = loop.time() + self._limits.drain_seconds
        self.waiting_connections.is_draining = True
        for connection in self._connections():
            connection.shutdown()
        for listener in sockets or []:
            reject_new_connections(listener)
        await asyncio.sleep(ARRIVAL_SECONDS)
        await self._close_listeners(sockets or [])
        self._bridge.bodies.drain()
        await self._wait_until_empty(min(ends_at, loop.time() + GRACE_SECONDS))
        for connection in self.waiting_connections.idle():
            connection.transport.close()
        await self._wait_until_empty(min(ends_at, loop.time() + self._limits.drain_arrival_seconds))
        self.waiting_connections.close_waiting()
        await self._wait_until_empty(ends_at)
        self._bridge.give_up()
        await self._wait_until_sent(loop.time() + LAST_RESPONSES_SECONDS)
        for task in list(self.server_state.tasks):
            task.cancel()

    def handle_exit(self, sig: int, _frame: FrameType | None) -> None:
        """SIGTERM starts the drain period, a second one or SIGINT closes the socket; SIGINT after that stops at once.

        Ctrl-C reaches a worker twice, from the terminal and from its parent: both before the next tick, which drains.
        """
        self.force_exit = self.force_exit or (self.waiting_connections.is_draining and sig == signal.SIGINT)
        if sig == signal.SIGTERM and self._leaves_at is None and self._limits.lame_duck_seconds > 0 and self._loop:
            self._bridge.is_leaving = True
            self._leaves_at = self._loop.time() + self._limits.lame_duck_seconds
        else:
            self.should_exit = True

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        """Handle signals like uvicorn, but do not raise the signal again at the end: a drained process exits with status 0."""
        before = {number: signal.signal(number, self.handle_exit) for number in (signal.SIGTERM, signal.SIGINT)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _connections(self) -> list[Connection]:
        return [cast(Connection, connection) for connection in self.server_state.connections]

    def _sweep(self) -> None:
        self.waiting_connections.sweep(self._connections(), asyncio.get_running_loop().time())

    async def _close_listeners(self, sockets: Sequence[socket.socket]) -> None:
        """Stop listening, but accept the connections in the backlog first: the kernel would reset them."""
        for server in self.servers:
            server.close()
        for listener in sockets:
            listener.close()
        loop = asyncio.get_running_loop()
        for listener in self._kept:
            listener.listen(0)
            with contextlib.suppress(OSError):
                while True:
                    client, _ = listener.accept()
                    client.setblocking(False)
                    await loop.connect_accepted_socket(self._connection, client)
            listener.close()

    def _connection(self) -> asyncio.Protocol:
        return Connection(config=self.config, server_state=self.server_state, app_state={})

    async def _wait_until_sent(self, ends_at: float) -> None:
        """Wait briefly for the last answers, even after a second signal, so that none is truncated."""
        loop = asyncio.get_running_loop()
        while self.server_state.tasks and loop.time() < ends_at:
            await asyncio.sleep(0.02)

    async def _wait_until_empty(self, ends_at: float) -> None:
        loop = asyncio.get_running_loop()
        while (self.server_state.connections or self.server_state.tasks) and not self.force_exit:
            if loop.time() > ends_at:
                return
            self._sweep()
            await asyncio.sleep(0.02)


def run_worker(
    plan: Plan, listener: socket.socket, *, background: Sequence[Job] = (), on_ready: Callable[[], object]
) -> None:
    """Serve until SIGTERM or SIGINT, then drain, end the background jobs, and return."""
    _raise_file_limit()
    _keep_one_arena()
    refusals = Refusals(plan.page, retry_after_seconds=plan.limits.retry_after_seconds, on_refusal=plan.on_refusal)
    with loading():
        made = plan.make_app()
    app = made if isinstance(made, Application) else Application(made)
    threads = _threads(plan, app)
    bridge = Bridge(app, threads, refusals, plan.limits, is_one_of_many=plan.is_one_of_many)
    at_once = AnswersAtOnce(app, refusals, is_one_of_many=plan.is_one_of_many)
    server = Server(_config(bridge, at_once, plan.limits, refusals), bridge, plan, on_ready)
    stop = threading.Event()
    jobs = [
        threading.Thread(target=_run_job, args=(job, stop), daemon=True) for job in (*background, return_free_memory)
    ]
    for thread in jobs:
        thread.start()
    try:
        server.run(sockets=[listener])
    finally:
        stop.set()
        threads.close()
        for thread in jobs:
            thread.join(plan.limits.drain_seconds)


def _threads(plan: Plan, app: Application) -> Threads:
    hash_queue = HashQueue(plan.hash_limits, plan.limits.hash_wait_seconds, app.hash_seconds)
    main = Pool(threads=plan.threads, waiting=plan.limits.waiting)
    reserved = {path: Pool(threads=1, waiting=plan.limits.waiting) for path in plan.reserved_paths}
    return Threads(main, GrowingPool(plan.hash_limits.threads), hash_queue, reserved)


def _run_job(job: Job, stop: threading.Event) -> None:
    """Run the job, and restart it if it fails."""
    while not stop.is_set():
        try:
            job(stop)
            return
        except Exception:
            logger.exception("A background job failed; starting it again")
            stop.wait(RESTART_AFTER_SECONDS)


def _config(bridge: Bridge, at_once: AnswersAtOnce, limits: Limits, refusals: Refusals) -> GuardedConfig:
    config = GuardedConfig(
        cast(ASGIApplication, bridge),
        http=Connection,
        loop="uvloop",
        ws="none",
        lifespan="off",
        interface="asgi3",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        workers=1,
        backlog=BACKLOG,
        timeout_keep_alive=limits.keep_alive_seconds,
    )
    config.waiting_connections = WaitingConnections(limits, refusals)
    config.at_once = at_once
    return config


def _raise_file_limit() -> None:
    """Raise the soft limit of open files (often 1,024): every connection is one."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 65536 if hard == resource.RLIM_INFINITY else min(65536, hard)
    if soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def _keep_one_arena() -> None:
    """Let all threads allocate from one heap (glibc); call it before there are any.

    With a heap per thread each keeps the 19 MiB of its last hash: 16 threads were measured at 325 MB, and at 53 MB with
    one heap, at the same speed, because Python's lock keeps threads from competing for it.
    """
    m_arena_max = -8
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).mallopt(m_arena_max, 1)


def return_free_memory(stop: threading.Event) -> None:
    """Return the free pages of the heap to the system once a minute (glibc).

    A hash takes 19 MiB of the one heap. What another thread allocates in the gap that it leaves keeps the next hash out of
    it, so the heap grows by another 19 MiB, of which little is used. Returning all takes a few milliseconds.
    """
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    while trim is not None and not stop.wait(RETURN_SECONDS):
        trim(0)
