"""The Redis client for limits and nonces that processes share; each wait is bounded by the request's time budget and a circuit breaker."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, TypeVar

from app.kit.clock import monotonic
from app.kit.limits.time_budget import CircuitBreaker, CircuitOpen, Measured, remaining_seconds

if TYPE_CHECKING:
    from redis import ConnectionPool, Redis

Answer = TypeVar("Answer")

PATIENCE_SECONDS: Final = 1.0
"""Seconds without a response after which the server counts as hanging."""
_MIN_SECONDS: Final = 0.001  # 0 would not wait at all, which is another mode of a socket


class SharedStoreUnavailable(Exception):
    """The shared store does not answer; the request is refused with 503 rather than let through uncounted."""

    unavailable_status = 503


class SharedStore:
    """The Redis server at an address. Opens no connection before the first command. Thread-safe."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._circuit = CircuitBreaker(self._probe)

    @cached_property
    def pool(self) -> ConnectionPool:
        """The connections; each waits as long as the request that uses it may."""
        from redis import ConnectionPool
        from redis.backoff import NoBackoff
        from redis.exceptions import ConnectionError as ConnectionLost
        from redis.retry import Retry

        # Reconnects once after a lost connection, and waits once for a server that hangs; by default, redis-py retries ten times.
        pool = ConnectionPool.from_url(self.url, retry=Retry(NoBackoff(), 1, supported_errors=(ConnectionLost,)))
        pool.connection_class = type("BoundedConnection", (_Bounded, pool.connection_class), {})
        return pool

    @cached_property
    def redis(self) -> Redis:
        """The client."""
        from redis import Redis

        return Redis(connection_pool=self.pool)

    def call(self, question: Callable[[], Answer]) -> Answer:
        """Return the result of a Redis command.

        Raises:
            SharedStoreUnavailable: it did not answer, has not answered recently, or the request has used up its time.
        """
        from redis import RedisError
        from redis.exceptions import TimeoutError as RedisHangs

        started = monotonic()
        try:
            self._circuit.admit()
            if remaining_seconds(PATIENCE_SECONDS) <= 0:
                raise SharedStoreUnavailable("The request has used up its time for Redis.")
            with Measured():
                return question()
        except CircuitOpen:
            raise SharedStoreUnavailable("Redis did not answer recently.") from None
        except RedisHangs as problem:
            if monotonic() - started >= PATIENCE_SECONDS:
                self._circuit.record_timeout()
            else:  # the request had used up its time at other dependencies
                self._circuit.record_doubt()
            raise SharedStoreUnavailable(str(problem)) from problem
        except RedisError as problem:
            raise SharedStoreUnavailable(str(problem)) from problem

    def _probe(self) -> None:
        """Probe the server; an error response counts as an answer."""
        from redis import RedisError
        from redis.exceptions import TimeoutError as RedisHangs

        try:
            self.redis.ping()
        except RedisHangs:
            raise
        except RedisError:
            return


class _Bounded:
    """A connection of redis-py that waits no longer than the request may, at most `PATIENCE_SECONDS`."""

    @property
    def socket_timeout(self) -> float:
        return max(_MIN_SECONDS, min(PATIENCE_SECONDS, remaining_seconds(PATIENCE_SECONDS)))

    @socket_timeout.setter
    def socket_timeout(self, _: float | None) -> None:
        """Ignore assignments: redis-py sets its caller's timeout."""

    socket_connect_timeout = socket_timeout

    def send_packed_command(self, command: Any, check_health: bool = True) -> None:
        self.update_current_socket_timeout(-1)  # type: ignore[attr-defined]  # to that of the request at hand
        super().send_packed_command(command, check_health)  # type: ignore[misc]  # of the class that it is mixed into
