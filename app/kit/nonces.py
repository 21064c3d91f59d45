"""Single-use nonces, kept in this process's memory, or in Redis if several processes share them."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Final

from app.kit.limits import LimitsUnavailable

if TYPE_CHECKING:
    from redis import Redis

MOST_IN_MEMORY: Final = 500_000
"""Only nonces of valid signatures are kept; more within two windows than one process can serve indicate a bug."""


class Nonces:
    """Keeps each nonce for as long as its signature is valid.

    Args:
        window_seconds: how far the time of a signature may be off, either way.
    """

    def __init__(self, redis_url: str, window_seconds: int) -> None:
        self._redis = _redis_at(redis_url) if redis_url else None
        self._window = window_seconds
        self._lock = threading.Lock()
        self._taken: set[str] = set()
        self._ending: dict[
            int, list[str]
        ] = {}  # those of `_taken`, by the last second in which their signature is valid
        self._cleared_at = 0

    def take(self, nonce: str, at: int, now: int) -> bool:
        """Claim the nonce; return False if it was claimed before. `at` is the signature's time; both are Unix seconds.

        Costs one round trip to Redis, if configured.

        Raises:
            LimitsUnavailable: Redis does not answer or memory is full, so a replay could not be detected.
        """
        if self._redis is None:
            return self._take_in_memory(nonce, at, now)
        from redis import RedisError

        try:
            # One window more, because the signature is valid longer for an instance whose clock is behind.
            lifetime = at + self._window - now + 1 + self._window
            return bool(self._redis.set(f"gatehouse:nonce:{nonce}", b"", nx=True, ex=max(lifetime, 1)))
        except RedisError as problem:
            raise LimitsUnavailable(str(problem)) from problem

    def _take_in_memory(self, nonce: str, at: int, now: int) -> bool:
        with self._lock:
            if now != self._cleared_at:
                self._cleared_at = now
                for second in [one for one in self._ending if one < now]:
                    self._taken.difference_update(self._ending.pop(second))
            if nonce in self._taken:
                return False
            if len(self._taken) >= MOST_IN_MEMORY:
                raise LimitsUnavailable("more nonces than memory holds")
            self._taken.add(nonce)
            self._ending.setdefault(at + self._window, []).append(nonce)
            return True


def _redis_at(url: str) -> Redis:
    from redis import Redis

    return Redis.from_url(url, socket_timeout=2, socket_connect_timeout=2)
