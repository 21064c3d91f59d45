"""The queue for hashes: which requests may run, and which are refused."""

import pytest

from app.kit.limits.queue_slot import LoadShed, QueueSlot
from app.kit.serving.hash_queue import ACTIVE_SECONDS, FRESH_SECONDS, HashLimits, HashQueue, HashSlot

LOUD, QUIET = QueueSlot("loud", "sign-in"), QueueSlot("quiet", "sign-in")


class HashLine:
    """A queue whose time passes only by `later`, and who came to the end of the wait in it."""

    def __init__(self, limits: HashLimits, patience_seconds: float) -> None:
        self.at = 0.0
        self.queue = HashQueue(limits, patience_seconds, now=lambda: self.at)
        self.ended: list[tuple[str, HashSlot | LoadShed]] = []

    def acquire(self, slot: QueueSlot) -> HashSlot | None:
        return self.queue.acquire(slot, lambda end: self.ended.append((slot.owner, end)))

    def run(self, slot: QueueSlot) -> HashSlot:
        grant = self.acquire(slot)
        assert grant is not None
        return grant

    def later(self, seconds: float) -> None:
        self.at += seconds
        self.queue.tick()


def test_quiet_tenant_runs_in_the_first_round() -> None:
    line = HashLine(HashLimits(running=1), patience_seconds=20)
    running = line.run(LOUD)
    for slot in [LOUD] * 49 + [QUIET]:
        assert line.acquire(slot) is None
    for number in range(50):
        running.release()
        assert len(line.ended) == number + 1
        grant = line.ended[-1][1]
        assert isinstance(grant, HashSlot)
        running = grant
    assert "quiet" in [owner for owner, _ in line.ended[:3]]


def test_predictably_long_wait_is_refused_at_once() -> None:
    line = HashLine(HashLimits(running=1), patience_seconds=1)  # a turn is taken to last 50 ms until one was seen
    line.run(LOUD)
    for _ in range(20):
        line.acquire(LOUD)
    with pytest.raises(LoadShed) as refusal:
        line.acquire(LOUD)
    assert (refusal.value.unavailable_status, refusal.value.retry_after_seconds) == (429, 2)
    assert line.acquire(QUIET) is None
    assert line.ended == []


def test_wait_behind_many_tenants_is_refused_with_503() -> None:
    line = HashLine(HashLimits(running=1), patience_seconds=1)
    line.run(LOUD)
    for number in range(20):
        line.acquire(QueueSlot(f"tenant {number}", "sign-in"))
    with pytest.raises(LoadShed) as refusal:
        line.acquire(QUIET)
    assert refusal.value.unavailable_status == 503


def test_request_after_the_longest_wait_is_refused_and_dequeued() -> None:
    line = HashLine(HashLimits(running=1), patience_seconds=1.0)
    stored = line.run(LOUD)
    stored.fresh_until = 9.0  # it hashes slowly
    line.acquire(QUIET)
    line.later(0.9)
    assert line.ended == []
    line.later(0.2)
    assert [(owner, type(end)) for owner, end in line.ended] == [("quiet", LoadShed)]
    stored.release()
    line.run(LOUD).release()
    assert len(line.ended) == 1


@pytest.mark.parametrize(
    ("limits", "status"),
    [(HashLimits(running=1, waiting_per_owner=2), 429), (HashLimits(running=1, waiting=2), 429)],
)
def test_queue_is_bounded_at_any_pace(limits: HashLimits, status: int) -> None:
    line = HashLine(limits, patience_seconds=20)
    line.queue._pace_seconds = 0.0
    line.run(LOUD)
    for _ in range(2):
        line.acquire(LOUD)
    with pytest.raises(LoadShed) as refusal:
        line.acquire(LOUD)
    assert refusal.value.unavailable_status == status


def test_hanging_requests_keep_neither_slots_nor_all_threads() -> None:
    """A captcha's provider that does not answer: its tenant's sign-ins hold threads, and the others still sign in."""
    line = HashLine(HashLimits(running=1, threads=4), patience_seconds=20)
    line.run(LOUD)
    for _ in range(7):
        assert line.acquire(LOUD) is None
    for _ in range(5):
        line.later(FRESH_SECONDS)
    assert len(line.ended) == 2
    assert line.acquire(QUIET) is None
    owner, end = line.ended[-1]
    assert owner == "quiet"
    assert isinstance(end, HashSlot)


def test_slot_is_fresh_as_long_as_hashes_last() -> None:
    queue = HashQueue(HashLimits(running=1), patience_seconds=20, hash_seconds=lambda: 1.0, now=lambda: 100.0)
    grant = queue.acquire(LOUD, lambda _: None)
    assert grant is not None
    assert grant.fresh_until == 104.0


def test_request_may_enter_again_when_its_turn_comes() -> None:
    """The turn is called outside of the queue's lock."""
    line = HashLine(HashLimits(running=1, threads=2), patience_seconds=20)
    stored = line.run(LOUD)
    again: list[HashSlot | None] = []
    line.queue.acquire(QUIET, lambda _: again.append(line.acquire(LOUD)))
    stored.release()
    assert again == [None]


def test_owner_runs_on_half_while_another_is_active() -> None:
    line = HashLine(HashLimits(running=4), patience_seconds=20)
    line.run(QUIET).release()
    loud = [line.acquire(LOUD) for _ in range(6)]
    assert [grant is not None for grant in loud] == [True, True, False, False, False, False]
    for _ in range(2):
        line.later(FRESH_SECONDS / 4)
        line.acquire(QUIET)
    assert [owner for owner, end in line.ended if isinstance(end, HashSlot)] == [
        "quiet",
        "quiet",
    ]  # they wait for none of the others


def test_owner_runs_on_all_once_no_other_is_active() -> None:
    line = HashLine(HashLimits(running=4), patience_seconds=20)
    line.run(QUIET).release()
    line.later(ACTIVE_SECONDS + 1)
    assert [line.acquire(LOUD) is not None for _ in range(5)] == [True, True, True, True, False]
