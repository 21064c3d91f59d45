"""Waiting for many sockets in many threads (Linux)."""

import select
from typing import Final

_READS: Final = select.EPOLLONESHOT | select.EPOLLIN
_WRITES: Final = select.EPOLLONESHOT | select.EPOLLOUT


class Poller:
    """Tells one thread for each event. A socket is quiet afterwards, until it is armed again.

    The system wakes the thread that began to wait last, so that under little load one thread does all the work, with warm caches.
    """

    def __init__(self) -> None:
        self._epoll = select.epoll()

    def arm(self, number: int, *, is_new: bool = False, writes: bool = False) -> None:
        """Wait for bytes to read; with `writes`, for room to write."""
        events = _WRITES if writes else _READS
        if is_new:
            self._epoll.register(number, events)
        else:
            self._epoll.modify(number, events)

    def forget(self, number: int) -> None:
        """Stop to wait for a socket; a closed one is forgotten by itself."""
        self._epoll.unregister(number)

    def wait(self) -> int:
        """Return the number of a socket that has woken."""
        while True:
            for number, _ in self._epoll.poll(-1, 1):
                return int(number)
