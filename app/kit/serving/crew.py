"""The threads of one process: each waits for whatever happens next, and does all of it."""

import logging
import os
import threading
from collections import deque
from collections.abc import Callable
from typing import Final

from app.kit.serving.poller import Poller

ATTENDING: Final = 4
"""Threads that wait for events at most; one at least, beside those that run the application: it accepts, reads, answers from memory
and sends while all others hang."""
Work = Callable[[], object]
logger = logging.getLogger("gatehouse.serving")


class Crew:
    """Threads that wait for events, and as many more as run the application; the caller bounds how many requests run.

    Few threads wait at once: more would only compete for Python's lock. The others are parked, the warmest on top.
    """

    def __init__(self, poller: Poller, on_event: Callable[[int], object]) -> None:
        self._poller = poller
        self._on_event = on_event
        self._lock = threading.Lock()
        self._count = 0
        self._attending = 0
        """Threads that wait for an event, or do what takes no time."""
        self._parked: list[threading.Lock] = []
        self._queued: deque[Work] = deque()
        self._bell, self._bell_rope = os.pipe()
        os.set_blocking(self._bell, False)
        self._is_closed = False

    def start(self) -> None:
        """Start the first threads."""
        self._poller.arm(self._bell, is_new=True)
        with self._lock:
            for _ in range(ATTENDING):
                self._add_thread()

    def close(self) -> None:
        """End the threads that wait; the others end after their request."""
        with self._lock:
            self._is_closed = True
            while self._parked:
                self._parked.pop().release()
            os.write(self._bell_rope, b"!" * self._count)

    def hand_over(self, work: Work) -> None:
        """Let another thread do `work`."""
        self._queued.append(work)
        os.write(self._bell_rope, b"!")

    def begin(self) -> None:
        """Say that this thread runs the application from now, which may wait; another attends to events meanwhile."""
        with self._lock:
            self._attending -= 1
            if not self._attending:
                self._add_thread()

    def end(self) -> None:
        """Say that the application has returned."""
        with self._lock:
            self._attending += 1

    def _add_thread(self) -> None:
        self._attending += 1
        if self._parked:
            self._parked.pop().release()
        else:
            self._count += 1
            threading.Thread(target=self._run, name=f"serving-{self._count}", daemon=True).start()

    def _run(self) -> None:
        while not self._is_closed:
            if self._attending > ATTENDING:
                self._park()
            try:
                number = self._poller.wait()
                if number == self._bell:
                    self._answer_bell()
                else:
                    self._on_event(number)
            except Exception:
                logger.exception("A thread's work broke")

    def _park(self) -> None:
        with self._lock:
            if self._attending <= ATTENDING or self._is_closed:
                return
            self._attending -= 1
            parking = threading.Lock()
            parking.acquire()
            self._parked.append(parking)
        parking.acquire()

    def _answer_bell(self) -> None:
        try:
            os.read(self._bell, 1)
        except BlockingIOError:
            return
        finally:
            self._poller.arm(self._bell)
        if self._queued:
            self._queued.popleft()()
