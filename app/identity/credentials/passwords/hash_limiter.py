"""Bounds how many password hashes run at once: slots that tenants take in turn, and one separate slot for expensive hashes."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import Final, TypeVar

from app.identity.platform.password_hashing import HashingBusy
from app.kit.limits.fair_limiter import FairLimiter, MaxWaiting

Result = TypeVar("Result")


class HashLimiter(FairLimiter):
    """Lets `places` hashes run at once; raises HashingBusy."""

    busy = HashingBusy


_NICENESS: Final = 5
_MAX_IN_LANE: Final = MaxWaiting(of_all=16, of_one_tenant=8)


class ExpensiveLane:
    """Runs one expensive hash at a time, at a lower priority than all other threads.

    So it occupies no place of ordinary hashes, and never more memory than that of one. Raises HashingBusy, as `HashLimiter`.
    """

    def __init__(self) -> None:
        self._limiter = HashLimiter(1, max_waiting=_MAX_IN_LANE)

    def run(self, work: Callable[[], Result], tenant_id: str) -> Result:
        """Return the result of a hash that ran in this lane."""
        with self._limiter.place(tenant_id):
            return self._thread.submit(work).result()

    @cached_property
    def _thread(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(1, "expensive-hash", initializer=_lower_priority)


def _lower_priority() -> None:
    """Lower the priority of this thread. Only Linux has one for each thread; on other systems `nice` means the whole process."""
    if sys.platform == "linux":
        os.nice(_NICENESS)
