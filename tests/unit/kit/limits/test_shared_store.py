"""What one request finds out about Redis, and what others learn from it."""

from __future__ import annotations

import pytest

from app.kit.limits import time_budget
from app.kit.limits.shared_store import SharedStore, SharedStoreUnavailable
from tests.support.processes.outages import frozen
from tests.support.services.servers import Redis


def test_request_without_time_opens_no_circuit(own_redis: Redis) -> None:
    """It has used up its time before, so it cannot tell whether Redis hangs: others wait for the answer, and get it."""
    store = SharedStore(own_redis.url())
    assert store.call(store.redis.ping)
    with frozen(own_redis, 0.3):
        with time_budget.at_most(0.02), pytest.raises(SharedStoreUnavailable):
            store.call(store.redis.ping)
        assert store.call(store.redis.ping)
