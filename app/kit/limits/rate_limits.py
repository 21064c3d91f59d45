"""Rate limits, kept outside every transaction: in memory, or in Redis where several processes share them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from math import ceil
from typing import TYPE_CHECKING, Any

from app.kit.clock import Clock, SystemClock
from app.kit.limits.shared_store import SharedStore
from app.kit.limits.sliding_window import WindowCounts

if TYPE_CHECKING:
    from limits import RateLimitItemPerSecond
    from limits.strategies import SlidingWindowCounterRateLimiter


@dataclass(frozen=True)
class Rate:
    """`amount` requests in `seconds`."""

    amount: int
    seconds: int


_TAKE_BACK = """
for _, key in ipairs(KEYS) do
    if (tonumber(redis.call('get', key)) or 0) > 0 then
        redis.call('decr', key)
        return
    end
end
"""


class OverLimit(Exception):
    """The limit is used up for `retry_after_seconds`."""

    def __init__(self, retry_after_seconds: int) -> None:
        super().__init__(f"over the limit for {retry_after_seconds} s")
        self.retry_after_seconds = retry_after_seconds


class RateLimits:
    """Rate limits with sliding windows: in memory by the given clock, in the shared store by the machine's."""

    def __init__(self, shared: SharedStore | None = None, clock: Clock | None = None) -> None:
        self._counts = _SharedCounts(shared) if shared is not None else WindowCounts(clock or SystemClock())

    def count_against(self, what: str, rate: Rate, *who: str, count: int = 1) -> None:
        """Count events in the window of `what` and `who`: all or none of them.

        Raises:
            OverLimit: the window is used up.
            SharedStoreUnavailable: Redis does not answer.
        """
        wait_seconds = self._counts.add((what, *who), rate.amount, rate.seconds, count)
        if wait_seconds is not None:
            raise OverLimit(max(1, ceil(wait_seconds)))

    def give_back(self, what: str, rate: Rate, *who: str) -> None:
        """Take back one event that `count_against` counted."""
        self._counts.give_back((what, *who), rate.amount, rate.seconds)

    def refuse_over_limit(self, what: str, rate: Rate, *who: str) -> None:
        """Raise OverLimit if the window is used up, without counting an event: for limits on failures."""
        wait_seconds = self._counts.seconds_to_wait((what, *who), rate.amount, rate.seconds)
        if wait_seconds is not None:
            raise OverLimit(max(1, ceil(wait_seconds)))


class _SharedCounts:
    """The counters in the shared store. Raises SharedStoreUnavailable where it does not answer."""

    def __init__(self, shared: SharedStore) -> None:
        self._shared = shared

    @cached_property
    def _windows(self) -> SlidingWindowCounterRateLimiter:
        from limits.storage import RedisStorage
        from limits.strategies import SlidingWindowCounterRateLimiter

        return SlidingWindowCounterRateLimiter(RedisStorage(self._shared.url, connection_pool=self._shared.pool))

    def add(self, key: tuple[str, ...], most: int, seconds: int, count: int) -> float | None:
        """Count the events, as `WindowCounts.add` does."""
        return self._call(partial(self._windows.hit, cost=count), key, most, seconds)

    def seconds_to_wait(self, key: tuple[str, ...], most: int, seconds: int) -> float | None:
        """Return the seconds as `WindowCounts.seconds_to_wait` does."""
        return self._call(self._windows.test, key, most, seconds)

    def give_back(self, key: tuple[str, ...], most: int, seconds: int) -> None:
        """Take back one event, as `WindowCounts.give_back` does."""
        self._call(self._take_back, key, most, seconds)

    def _take_back(self, item: RateLimitItemPerSecond, *who: str) -> bool:
        storage: Any = self._windows.storage
        key = item.key_for(*who)
        windows = [storage._current_window_key(key), storage._previous_window_key(key)]
        storage.storage.eval(_TAKE_BACK, len(windows), *map(storage.prefixed_key, windows))
        return True

    def _call(self, question: Callable[..., bool], who: tuple[str, ...], most: int, seconds: int) -> float | None:
        item = _item(most, seconds)
        if self._shared.call(partial(question, item, *who)):
            return None
        stats = self._shared.call(partial(self._windows.get_window_stats, item, *who))
        now = SystemClock().now().timestamp()  # the library counts from the epoch, by the machine's clock
        return stats.reset_time - now


@lru_cache(maxsize=1024)
def _item(most: int, seconds: int) -> RateLimitItemPerSecond:
    from limits import RateLimitItemPerSecond

    return RateLimitItemPerSecond(most, seconds, namespace="gatehouse")
