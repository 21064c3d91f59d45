"""The connections of one process: how many there are, and which of them have waited too long for their client."""

import socket
from typing import Final

from app.kit.clock import monotonic
from app.kit.serving.connection import ClientConnection, Phase, ServerResources
from app.kit.serving.http1.error_responses import Refusals, ServerRefusalReason
from app.kit.serving.http1.request_body import BodyBudget
from app.kit.serving.poller import Poller
from app.kit.serving.server_limits import ServerLimits
from app.kit.serving.wsgi_environ import environ_of_connection

EVICTABLE_SECONDS: Final = 1.0
"""A connection must have waited this long before it can be evicted."""


class ConnectionRegistry:
    """Accepts clients, within `limits.connections`, and ends waits."""

    def __init__(self, limits: ServerLimits, refusals: Refusals, poller: Poller, *, is_one_of_many: bool) -> None:
        self._limits = limits
        self._resources = ServerResources(limits, refusals, poller, BodyBudget(limits.held_body_bytes))
        self._is_one_of_many = is_one_of_many
        self._by_number: dict[int, ClientConnection] = {}

    def __len__(self) -> int:
        return len(self._by_number)

    def add(self, client: socket.socket, address: object) -> ClientConnection | None:
        """Take a new client; the caller owns its connection. None if there are far too many."""
        client.setblocking(False)
        try:
            if client.family != socket.AF_UNIX:
                client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            own_address = client.getsockname()
        except OSError:  # it has left already
            client.close()
            return None
        count = len(self._by_number) + 1
        has_room = count <= self._limits.connections or self._evict_longest()
        if not has_room and count > 2 * self._limits.connections:
            client.close()
            return None
        common = environ_of_connection(own_address, address, is_one_of_many=self._is_one_of_many)
        connection = ClientConnection(client, common, self._resources, self._remove)
        connection.is_surplus = not has_room
        self._by_number[connection.number] = connection
        return connection

    def take(self, number: int) -> ClientConnection | None:
        """Return the connection of a socket that has woken, owned by the caller; None if it is in use or gone."""
        connection = self._by_number.get(number)
        return connection if connection is not None and connection.owner.acquire(blocking=False) else None

    def sweep(self) -> None:
        """End the waits that have lasted too long; called about once a second."""
        now = monotonic()
        for connection in list(self._by_number.values()):
            if connection.deadline < now and connection.owner.acquire(blocking=False):
                if connection.deadline < now:
                    connection.end_wait(now)
                else:
                    connection.wait()

    def close_idle(self) -> None:
        """While draining: close the connections on which no byte of a request has arrived."""
        self._end_waits({Phase.IDLE})

    def close_waiting(self) -> None:
        """While draining: close connections without a request, and refuse partial requests."""
        self._end_waits({Phase.IDLE, Phase.HEAD, Phase.BODY})

    def _remove(self, connection: ClientConnection) -> None:
        """Forget a connection that is about to close."""
        del self._by_number[connection.number]

    def _end_waits(self, phases: set[Phase]) -> None:
        now = monotonic()
        for connection in list(self._by_number.values()):
            if connection.phase in phases and connection.owner.acquire(blocking=False):
                if connection.phase in phases:
                    connection.end_wait(now, ServerRefusalReason.DRAINING)
                else:
                    connection.wait()

    def _evict_longest(self) -> bool:
        """Close the connection that has waited longest; return False if none has waited long enough."""
        latest = monotonic() - EVICTABLE_SECONDS
        waiting = [connection for connection in list(self._by_number.values()) if connection.since <= latest]
        for connection in sorted(waiting, key=lambda item: item.since):
            if connection.owner.acquire(blocking=False):
                connection.close()
                return True
        return False
