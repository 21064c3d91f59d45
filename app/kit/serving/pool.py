"""The threads that run the application, and the line before them."""

import logging
import threading
from collections.abc import Callable
from queue import SimpleQueue

Work = Callable[[], None]
logger = logging.getLogger("gatehouse.serving")


class Pool:
    """A fixed number of threads behind a bounded line, first come first served.

    Unlike `concurrent.futures`, it says no when the line is full, and its threads do not hold up the end of the process.
    """

    def __init__(self, *, threads: int, waiting: int) -> None:
        self._work: SimpleQueue[Work | None] = SimpleQueue()
        self._waiting = waiting
        self._threads = [
            threading.Thread(target=self._run, name=f"request-{number}", daemon=True) for number in range(threads)
        ]
        for thread in self._threads:
            thread.start()

    def take(self, work: Work) -> bool:
        """Put `work` in line, or return False when too many wait already."""
        if self._work.qsize() >= self._waiting:
            return False
        self._work.put(work)
        return True

    def close(self) -> None:
        """Let the threads end after what is in line."""
        for _ in self._threads:
            self._work.put(None)

    def _run(self) -> None:
        while (work := self._work.get()) is not None:
            try:
                work()
            except Exception:
                logger.exception("A request broke its thread's work")
            del work  # a request and its body are not kept until the next one comes
