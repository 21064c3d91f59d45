"""The listening socket of one process."""

import logging
import socket
import threading

from app.kit.serving.listen_address import reject_new_connections
from app.kit.serving.poller import Poller

Accepted = tuple[socket.socket, object]
"""A client and its address."""
logger = logging.getLogger("gatehouse.serving")


class Listener:
    """Accepts clients one by one; several threads and processes may wait."""

    def __init__(self, listening: socket.socket, poller: Poller) -> None:
        self.number = listening.fileno()
        self._socket = listening
        self._poller = poller
        self._lock = threading.Lock()
        self._is_new = True
        self._is_closed = self._is_armed = False

    def open(self) -> None:
        """Wait for clients, unless it already waits: after too many open files it has stopped."""
        with self._lock:
            self._arm()

    def accept(self) -> Accepted | None:
        """Take a client, after the socket has woken; None if another thread or process was quicker."""
        with self._lock:
            self._is_armed = False
            if self._is_closed:
                return None
            try:
                accepted = self._socket.accept()
            except (BlockingIOError, ConnectionAbortedError):
                accepted = None
            except OSError:
                logger.exception("Clients cannot be accepted; trying again in a second")
                return None
            self._arm()
            return accepted

    def refuse_new(self) -> None:
        """Drop new connections; those that have begun still arrive."""
        reject_new_connections(self._socket)

    def close(self) -> list[Accepted]:
        """Stop listening; return the clients in the backlog, which the kernel would reset."""
        left: list[Accepted] = []
        with self._lock:
            self._is_closed = True
            self._poller.forget(self.number)
            self._socket.listen(0)
            try:
                while True:
                    left.append(self._socket.accept())
            except OSError:
                self._socket.close()
        return left

    def _arm(self) -> None:
        if not self._is_armed and not self._is_closed:
            self._poller.arm(self.number, is_new=self._is_new)
            self._is_new, self._is_armed = False, True
