"""One serving process: its limits, background jobs, and memory."""

import contextlib
import ctypes
import logging
import resource
import socket
import sys
import threading
from collections.abc import Callable, Sequence
from functools import partial

from app.kit.gc_pause import gc_paused
from app.kit.limits.queue_slot import WsgiApp
from app.kit.serving.server import HttpServer, ServerConfig

RESTART_AFTER_SECONDS = 1.0
LOAD_AFTER_SECONDS = 0.3
"""Delay of background jobs after the start, so that the first page and probes have the interpreter to themselves."""
SWITCH_SECONDS = 0.001
"""How long a thread keeps Python's lock while others wait for it: by default 5 ms, so that a request waits that long for each thread
that is busy for another tenant."""
RETURN_SECONDS = 5.0
"""How often free memory is returned to the system."""
logger = logging.getLogger("gatehouse.serving")

Job = Callable[[threading.Event], None]
"""A background job: runs until the event is set."""


def run_worker(
    plan: ServerConfig, listener: socket.socket, *, background: Sequence[Job] = (), on_ready: Callable[[], object]
) -> None:
    """Serve until SIGTERM or SIGINT, then drain, end the background jobs, and return."""
    _raise_file_limit()
    _keep_one_arena()
    sys.setswitchinterval(SWITCH_SECONDS)
    with gc_paused():
        made = plan.make_app()
    app = made if isinstance(made, WsgiApp) else WsgiApp(made)
    server = HttpServer(app, plan, listener)
    stop, has_loaded = threading.Event(), threading.Event()

    def load(stop: threading.Event) -> None:
        try:
            if not stop.wait(LOAD_AFTER_SECONDS):
                with gc_paused():
                    app.load()
        finally:
            has_loaded.set()

    def after_loading(job: Job, stop: threading.Event) -> None:
        """Run a job that imports code of its own, which would take the interpreter from the first page."""
        has_loaded.wait()
        if not stop.is_set():
            job(stop)

    jobs = [
        threading.Thread(target=_run_job, args=(job, stop), daemon=True)
        for job in (*(partial(after_loading, job) for job in background), load, return_free_memory)
    ]
    for thread in jobs:
        thread.start()
    try:
        server.run(on_ready)
    finally:
        stop.set()
        for thread in jobs:
            thread.join(plan.limits.drain_seconds)


def _run_job(job: Job, stop: threading.Event) -> None:
    """Run the job, and restart it if it fails."""
    while not stop.is_set():
        try:
            job(stop)
            return
        except Exception:
            logger.exception("A background job failed; starting it again")
            stop.wait(RESTART_AFTER_SECONDS)


def _raise_file_limit() -> None:
    """Raise the soft limit of open files (often 1,024): every connection is one."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    requested = 65536 if hard == resource.RLIM_INFINITY else min(65536, hard)
    if soft < requested:
        resource.setrlimit(resource.RLIMIT_NOFILE, (requested, hard))


def _keep_one_arena() -> None:
    """Let all threads allocate from one heap (glibc); call it before there are any.

    With a heap per thread each keeps the 19 MiB of its last hash: 16 threads were measured at 325 MB, and at 53 MB with
    one heap, at the same speed, because Python's lock keeps threads from competing for it.
    """
    m_arena_max = -8
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).mallopt(m_arena_max, 1)


def return_free_memory(stop: threading.Event) -> None:
    """Return the free pages of the heap to the system every few seconds (glibc).

    A hash takes 19 MiB of the one heap. What another thread allocates in the gap that it leaves keeps the next hash out of
    it, so the heap grows by another 19 MiB, of which little is used. Returning all takes a few milliseconds. With ten sign-ins at once
    a process was measured at 180 MB; 8 seconds later it had 123 MB, and 180 MB with a minute between two returns.
    """
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    while trim is not None and not stop.wait(RETURN_SECONDS):
        trim(0)
