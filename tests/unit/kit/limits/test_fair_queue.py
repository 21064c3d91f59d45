"""The fair queue serves owners round-robin, then their classes, then in order of arrival."""

import threading
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from app.identity.credentials.passwords.hash_limiter import HashLimiter
from app.identity.platform.password_hashing import HashingBusy
from app.kit.limits.fair_queue import FairQueue


def served(queue: FairQueue[str]) -> Iterator[str]:
    while (item := queue.pop()) is not None:
        yield item


def test_quiet_owner_is_served_in_the_first_round() -> None:
    queue: FairQueue[str] = FairQueue()
    for number in range(100):
        queue.push("loud", "sign-in", f"loud {number}")
    queue.push("quiet", "sign-in", "quiet")
    assert list(served(queue))[:3] == ["loud 0", "quiet", "loud 1"]


def test_classes_of_one_owner_alternate() -> None:
    queue: FairQueue[str] = FairQueue()
    for number in range(3):
        queue.push("acme", "bulk", f"bulk {number}")
    queue.push("acme", "sign-in", "sign-in")
    assert list(served(queue)) == ["bulk 0", "sign-in", "bulk 1", "bulk 2"]


@pytest.mark.parametrize("owner", ["loud", "quiet", "new"])
@pytest.mark.parametrize("kind", ["sign-in", "bulk"])
def test_ahead_counts_what_is_served_before(owner: str, kind: str) -> None:
    queue: FairQueue[str] = FairQueue()
    for number in range(9):
        queue.push("loud", "sign-in" if number % 3 else "bulk", "loud")
    queue.push("quiet", "sign-in", "quiet")
    foretold = queue.ahead(owner, kind)
    queue.push(owner, kind, "asked")
    assert abs(list(served(queue)).index("asked") - foretold) <= 2  # the turn that is under way is not counted


def test_discarded_entry_leaves_the_queue() -> None:
    queue: FairQueue[str] = FairQueue()
    queue.push("acme", "sign-in", "first")
    queue.push("acme", "sign-in", "second")
    queue.discard("acme", "sign-in", "first")
    queue.discard("acme", "sign-in", "never there")
    assert (len(queue), queue.size_of("acme"), queue.pop(), len(queue)) == (1, 1, "second", 0)
    assert queue.pop() is None


def test_owner_that_may_not_run_is_skipped() -> None:
    queue: FairQueue[str] = FairQueue()
    queue.push("hanging", "sign-in", "hanging")
    queue.push("acme", "sign-in", "acme")
    assert queue.pop(lambda owner: owner != "hanging") == "acme"
    assert queue.pop(lambda owner: owner != "hanging") is None
    assert queue.pop() == "hanging"


def test_limiter_serves_the_quiet_tenant_in_the_first_round() -> None:
    limiter, order, arrived = HashLimiter(1), list[str](), threading.Semaphore(0)

    def wait_for_place(tenant: str) -> None:
        arrived.release()
        with limiter.place(tenant):
            order.append(tenant)

    with limiter.place("loud"):
        threads = [threading.Thread(target=wait_for_place, args=("loud",)) for _ in range(20)]
        for thread in threads:
            thread.start()
        while limiter.waiting < 20:
            arrived.acquire(timeout=1)
        threads.append(threading.Thread(target=wait_for_place, args=("quiet",)))
        threads[-1].start()
        while limiter.waiting < 21:
            arrived.acquire(timeout=0.01)
    for thread in threads:
        thread.join(10)
    assert "quiet" in order[:2]
    assert len(order) == 21


def test_hash_after_the_longest_wait_is_refused_and_dequeued() -> None:
    limiter = HashLimiter(1, max_wait_seconds=0.05)
    with ExitStack() as stored:
        stored.enter_context(limiter.place("acme"))
        with pytest.raises(HashingBusy), limiter.place("globex"):
            pass
        assert limiter.waiting == 0
    with limiter.place("globex"):
        pass
