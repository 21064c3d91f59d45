"""Several worker processes on one socket: start them, restart those that end, forward signals, wait for all."""

import contextlib
import logging
import os
import signal
import socket
import sys
import time
from collections.abc import Callable, Sequence

from app.kit.clock import monotonic
from app.kit.serving.listen_address import reject_new_connections
from app.kit.serving.server import ServerConfig
from app.kit.serving.worker_process import RESTART_AFTER_SECONDS, Job, run_worker

WATCHED = {signal.SIGTERM, signal.SIGINT, signal.SIGCHLD}
logger = logging.getLogger("gatehouse.serving")


class Supervisor:
    """The parent process. It forks before there are threads, and never runs the application itself."""

    def __init__(
        self,
        plan: ServerConfig,
        listener: socket.socket,
        workers: int,
        background: Sequence[Job],
        on_end: Callable[[int], object] = str,
    ) -> None:
        self._plan = plan
        self._listener = listener
        self._workers = workers
        self._background = background
        self._on_end = on_end
        self._number_of: dict[int, int] = {}  # process id -> which worker
        self._ready_from, self._ready_to = os.pipe()
        os.set_blocking(self._ready_from, False)
        self._not_ready = workers

    def run(self, on_ready: Callable[[], object]) -> int:
        """Serve until a signal to stop; return the exit status: 1 if a worker cannot start."""
        signal.pthread_sigmask(signal.SIG_BLOCK, WATCHED)
        for number in range(self._workers):
            self._fork(number)
        try:
            return self._watch(on_ready)
        finally:
            self._stop()

    def _watch(self, on_ready: Callable[[], object]) -> int:
        while True:
            received = signal.sigtimedwait(WATCHED, 0.05 if self._not_ready else 1.0)
            if self._not_ready and self._count_ready() == 0:
                on_ready()
            if received is not None and received.si_signo != signal.SIGCHLD:
                return 0
            for number, status in self._reap():
                if self._not_ready:
                    logger.error("A worker process cannot start; exit status %s", status)
                    return 1
                logger.warning("A worker process ended with status %s; starting another", status)
                time.sleep(RESTART_AFTER_SECONDS)
                self._fork(number)

    def _fork(self, number: int) -> None:
        sys.stdout.flush()
        sys.stderr.flush()
        process = os.fork()
        if process == 0:
            self._run_as_worker(number)
        self._number_of[process] = number

    def _run_as_worker(self, number: int) -> None:
        """Run as a worker; never returns."""
        status = 1
        try:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, WATCHED)
            os.close(self._ready_from)
            jobs = self._background if number == 0 else ()
            run_worker(self._plan, self._listener, background=jobs, on_ready=self._report_ready)
            status = 0
        except BaseException:
            logger.exception("A worker process failed")
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(status)

    def _report_ready(self) -> None:
        os.write(self._ready_to, b"r")

    def _count_ready(self) -> int:
        with contextlib.suppress(BlockingIOError):
            self._not_ready -= len(os.read(self._ready_from, self._not_ready))
        return self._not_ready

    def _reap(self) -> list[tuple[int, int]]:
        """Return the workers that have ended, with their exit status (negative: the signal)."""
        ended_workers = []
        for process in list(self._number_of):
            ended, status = os.waitpid(process, os.WNOHANG)
            if ended:
                self._on_end(ended)
                ended_workers.append((self._number_of.pop(process), os.waitstatus_to_exitcode(status)))
        return ended_workers

    def _stop(self) -> None:
        """Drain the workers, and close our listening socket with theirs: later connections would hang in its backlog."""
        self._terminate_workers()
        self._wait_as_lame_duck(0.0 if self._not_ready else self._plan.limits.lame_duck_seconds)
        reject_new_connections(self._listener)
        self._listener.close()
        for process in list(self._number_of):
            os.waitpid(process, 0)

    def _terminate_workers(self) -> None:
        for process in self._number_of:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGTERM)

    def _wait_as_lame_duck(self, seconds: float) -> None:
        """Wait until the workers close their sockets: when the time is up, at a second signal, or when all have ended."""
        ends_at = monotonic() + seconds
        while self._number_of and (left := ends_at - monotonic()) > 0:
            received = signal.sigtimedwait(WATCHED, left)
            self._reap()
            if received is not None and received.si_signo != signal.SIGCHLD:
                self._terminate_workers()
                return
