"""The threads that run the application, and their queues."""

import logging
import threading
from collections import deque
from collections.abc import Callable
from queue import SimpleQueue

Work = Callable[[], None]
logger = logging.getLogger("gatehouse.serving")


class Pool:
    """A fixed number of threads behind bounded first-in first-out queues.

    Reads (GET and HEAD) have a separate queue and a quarter of the threads reserved, so that slow writes do not delay pages.
    """

    def __init__(self, *, threads: int, waiting: int) -> None:
        self._ready: SimpleQueue[Work | None] = SimpleQueue()
        self._held: deque[Work] = deque()
        self._lock = threading.Lock()
        self._free_for_writes = threads - threads // 4
        self._waiting = waiting
        self._threads = [
            threading.Thread(target=self._run, name=f"request-{number}", daemon=True) for number in range(threads)
        ]
        for thread in self._threads:
            thread.start()

    def take(self, work: Work, *, is_read: bool) -> bool:
        """Queue `work`; return False if its queue is full."""
        if is_read:
            if self._ready.qsize() >= self._waiting:
                return False
            self._ready.put(work)
            return True
        with self._lock:
            if self._free_for_writes:
                self._free_for_writes -= 1
            elif len(self._held) < self._waiting:
                self._held.append(work)
                return True
            else:
                return False
        self._ready.put(lambda: self._write(work))
        return True

    def close(self) -> None:
        """Stop the threads after the queued work."""
        for _ in self._threads:
            self._ready.put(None)

    def _write(self, work: Work) -> None:
        try:
            work()
        finally:
            with self._lock:
                following = self._held.popleft() if self._held else None
                if following is None:
                    self._free_for_writes += 1
            if following is not None:
                self._ready.put(lambda: self._write(following))

    def _run(self) -> None:
        while (work := self._ready.get()) is not None:
            _do(work)
            del work  # a request and its body are not kept until the next one comes


class GrowingPool:
    """A thread pool that starts threads on demand, up to a maximum; the caller bounds the queue."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._ready: SimpleQueue[Work | None] = SimpleQueue()
        self._free = threading.Semaphore(0)
        self._count = 0

    def run(self, work: Work) -> None:
        """Run `work` in a thread; called by one thread only."""
        self._ready.put(work)
        if not self._free.acquire(blocking=False) and self._count < self._most:
            self._count += 1
            threading.Thread(target=self._run, name=f"hashing-{self._count}", daemon=True).start()

    def close(self) -> None:
        """Stop the threads after the queued work."""
        for _ in range(self._count):
            self._ready.put(None)

    def _run(self) -> None:
        while (work := self._ready.get()) is not None:
            _do(work)
            del work  # as above
            self._free.release()


def _do(work: Work) -> None:
    try:
        work()
    except Exception:
        logger.exception("A request broke its thread's work")
