"""The thread pool of one process: each thread waits for the next event and handles it completely."""

import logging
import os
import threading
from collections import deque
from collections.abc import Callable
from typing import Final

from app.kit.serving.poller import Poller

MAX_WAITING_THREADS: Final = 4
"""Maximum number of threads that wait for events; at least one more than run the application: it accepts, reads, answers from
memory and sends while all others are blocked."""
Work = Callable[[], object]
logger = logging.getLogger("gatehouse.serving")


class WorkerPool:
    """Threads that wait for events, and as many more as run the application; the caller bounds how many requests run.

    Few threads wait at once: more would only compete for Python's lock. The others are parked on a stack, the last used on top.
    """

    def __init__(self, poller: Poller, on_event: Callable[[int], object]) -> None:
        self._poller = poller
        self._on_event = on_event
        self._lock = threading.Lock()
        self._count = 0
        self._waiting_count = 0
        """Threads that wait for an event, or do work that does not block."""
        self._parked: list[threading.Lock] = []
        self._queued: deque[Work] = deque()
        self._wakeup_reader, self._wakeup_writer = os.pipe()
        os.set_blocking(self._wakeup_reader, False)
        self._is_closed = False

    def start(self) -> None:
        """Start the first threads."""
        self._poller.arm(self._wakeup_reader, is_new=True)
        with self._lock:
            for _ in range(MAX_WAITING_THREADS):
                self._add_thread()

    def close(self) -> None:
        """End the threads that wait; the others end after their request."""
        with self._lock:
            self._is_closed = True
            while self._parked:
                self._parked.pop().release()
            os.write(self._wakeup_writer, b"!" * self._count)

    def submit(self, work: Work) -> None:
        """Let another thread do `work`."""
        self._queued.append(work)
        os.write(self._wakeup_writer, b"!")

    def begin_request(self) -> None:
        """Mark this thread as running the application, which may block; another thread waits for events meanwhile."""
        with self._lock:
            self._waiting_count -= 1
            if not self._waiting_count:
                self._add_thread()

    def end_request(self) -> None:
        """Mark the application as returned."""
        with self._lock:
            self._waiting_count += 1

    def _add_thread(self) -> None:
        self._waiting_count += 1
        if self._parked:
            self._parked.pop().release()
        else:
            self._count += 1
            threading.Thread(target=self._run, name=f"serving-{self._count}", daemon=True).start()

    def _run(self) -> None:
        while not self._is_closed:
            if self._waiting_count > MAX_WAITING_THREADS:
                self._park()
            try:
                number = self._poller.wait()
                if number == self._wakeup_reader:
                    self._run_submitted()
                else:
                    self._on_event(number)
            except Exception:
                logger.exception("A thread's work broke")

    def _park(self) -> None:
        with self._lock:
            if self._waiting_count <= MAX_WAITING_THREADS or self._is_closed:
                return
            self._waiting_count -= 1
            parking = threading.Lock()
            parking.acquire()
            self._parked.append(parking)
        parking.acquire()

    def _run_submitted(self) -> None:
        try:
            os.read(self._wakeup_reader, 1)
        except BlockingIOError:
            return
        finally:
            self._poller.arm(self._wakeup_reader)
        if self._queued:
            self._queued.popleft()()
