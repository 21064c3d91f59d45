"""Single-use nonces, kept in this process's memory, or in Redis if several processes share them."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Final

from app.kit.clock import monotonic
from app.kit.limits.shared_store import SharedStoreUnavailable

if TYPE_CHECKING:
    from app.kit.limits.shared_store import SharedStore

MAX_IN_MEMORY: Final = 500_000
"""Only nonces of valid signatures are kept; more within two windows than one process can serve indicate a bug."""
_SINCE: Final = "gatehouse:nonces:since"
"""The key with the time, in Unix seconds, since which Redis has kept every nonce. It is lost with the nonces when Redis restarts empty."""


class Nonces:
    """Keeps each nonce for as long as its signature is valid.

    Args:
        window_seconds: how far the time of a signature may be off, either way.
        refuses_forgotten: whether to refuse signatures older than Redis's oldest record, because their use cannot be checked. Not
        for signers whose clock may be wrong.
        elapsed: a monotonic clock, in seconds.
    """

    def __init__(
        self,
        shared: SharedStore | None,
        window_seconds: int,
        *,
        refuses_forgotten: bool = False,
        elapsed: Callable[[], float] = monotonic,
    ) -> None:
        self._shared = shared
        self._elapsed = elapsed
        self._window = window_seconds
        self._refuses_forgotten = refuses_forgotten
        self._lock = threading.Lock()
        self._taken: set[str] = set()
        self._ending: dict[int, list[str]] = {}
        """The nonces of `_taken` by their expiry in `elapsed`: if the system clock were used and set back, an expired signature
        could become valid again."""
        self._cleared_at = 0

    @staticmethod
    def begin(shared: SharedStore, now: int) -> None:
        """Record in Redis the time since which it stores nonces, before the first call needs it. Raises SharedStoreUnavailable."""
        shared.call(partial(shared.redis.set, _SINCE, now + 1, nx=True))

    def take(self, nonce: str, at: int, now: int) -> bool:
        """Claim the nonce; return False if it was claimed before. `at` is the signature's time; both are Unix seconds.

        Costs one round trip to Redis, if configured.

        Raises:
            SharedStoreUnavailable: Redis does not answer, it has forgotten nonces of that time, or memory is full: a replay could
                not be detected.
        """
        if self._shared is None:
            return self._take_in_memory(nonce, now)
        # One window more, because the signature is valid longer for an instance whose clock is behind.
        lifetime = max(at + self._window - now + 1 + self._window, 1)
        with self._shared.redis.pipeline(transaction=False) as pipeline:
            pipeline.set(_SINCE, now + 1, nx=True)  # the next second: in this one, others may have been used
            pipeline.get(_SINCE)
            pipeline.set(f"gatehouse:nonce:{nonce}", b"", nx=True, ex=lifetime)
            _, since, is_new = self._shared.call(pipeline.execute)
        if self._refuses_forgotten and at < int(since or now + 1):
            raise SharedStoreUnavailable("Redis has come back without its nonces, so this call may be a replay.")
        return bool(is_new)

    def _take_in_memory(self, nonce: str, now: int) -> bool:
        with self._lock:
            elapsed = self._elapsed()
            if now != self._cleared_at:
                self._cleared_at = now
                for second in [item for item in self._ending if item < elapsed]:
                    self._taken.difference_update(self._ending.pop(second))
            if nonce in self._taken:
                return False
            if len(self._taken) >= MAX_IN_MEMORY:
                raise SharedStoreUnavailable("more nonces than memory holds")
            self._taken.add(nonce)
            self._ending.setdefault(int(elapsed) + 2 * self._window + 1, []).append(nonce)
            return True
