"""Waits for events of many sockets in many threads (epoll, kqueue)."""

import select
import sys

if sys.platform == "linux":

    class Poller:
        """Tells one thread for each event. A socket is quiet afterwards, until it is armed again.

        Linux wakes the thread that began to wait last, so that under little load one thread does all the work, with warm caches.
        """

        def __init__(self) -> None:
            self._epoll = select.epoll()

        def arm(self, number: int, *, is_new: bool = False, writes: bool = False) -> None:
            """Wait for bytes to read; with `writes`, for room to write."""
            events = select.EPOLLONESHOT | (select.EPOLLOUT if writes else select.EPOLLIN)
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

else:  # macOS and the BSDs, for development

    class Poller:
        """The same with kqueue. An event may arrive for a disarmed socket; sockets are non-blocking, so it has no effect."""

        def __init__(self) -> None:
            self._kqueue = select.kqueue()

        def arm(self, number: int, *, is_new: bool = False, writes: bool = False) -> None:
            del is_new
            kind = select.KQ_FILTER_WRITE if writes else select.KQ_FILTER_READ
            self._kqueue.control([select.kevent(number, kind, select.KQ_EV_ADD | select.KQ_EV_ONESHOT)], 0)

        def forget(self, number: int) -> None:
            self.arm(number)  # so that the filter exists when it is deleted
            self._kqueue.control([select.kevent(number, select.KQ_FILTER_READ, select.KQ_EV_DELETE)], 0)

        def wait(self) -> int:
            while True:
                for event in self._kqueue.control(None, 1):
                    return int(event.ident)
