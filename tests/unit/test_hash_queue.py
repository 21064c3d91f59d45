"""The queue for hashes: which requests may run, and which are refused."""

import pytest

from app.kit.admission import QueueSlot, Shed
from app.kit.serving.hash_queue import ACTIVE_SECONDS, FRESH_SECONDS, Grant, HashLimits, HashQueue

LOUD, QUIET = QueueSlot("loud", "sign-in"), QueueSlot("quiet", "sign-in")


class Line:
    """A queue whose time passes only by `later`, and who came to the end of the wait in it."""

    def __init__(self, limits: HashLimits, patience_seconds: float) -> None:
        self.at = 0.0
        self.queue = HashQueue(limits, patience_seconds, now=lambda: self.at)
        self.ended: list[tuple[str, Grant | Shed]] = []

    def enter(self, slot: QueueSlot) -> Grant | None:
        return self.queue.enter(slot, lambda end: self.ended.append((slot.owner, end)))

    def run(self, slot: QueueSlot) -> Grant:
        grant = self.enter(slot)
        assert grant is not None
        return grant

    def later(self, seconds: float) -> None:
        self.at += seconds
        self.queue.tick()


def test_quiet_tenant_runs_in_the_first_round() -> None:
    line = Line(HashLimits(running=1), patience_seconds=20)
    running = line.run(LOUD)
    for slot in [LOUD] * 49 + [QUIET]:
        assert line.enter(slot) is None
    for number in range(50):
        running.leave()
        assert len(line.ended) == number + 1
        grant = line.ended[-1][1]
        assert isinstance(grant, Grant)
        running = grant
    assert "quiet" in [owner for owner, _ in line.ended[:3]]


def test_predictably_long_wait_is_refused_at_once() -> None:
    line = Line(HashLimits(running=1), patience_seconds=1)  # a turn is taken to last 50 ms until one was seen
    line.run(LOUD)
    for _ in range(20):
        line.enter(LOUD)
    with pytest.raises(Shed) as refusal:
        line.enter(LOUD)
    assert (refusal.value.unavailable_status, refusal.value.retry_after_seconds) == (429, 2)
    assert line.enter(QUIET) is None
    assert line.ended == []


def test_wait_behind_many_tenants_is_refused_with_503() -> None:
    line = Line(HashLimits(running=1), patience_seconds=1)
    line.run(LOUD)
    for number in range(20):
        line.enter(QueueSlot(f"tenant {number}", "sign-in"))
    with pytest.raises(Shed) as refusal:
        line.enter(QUIET)
    assert refusal.value.unavailable_status == 503


def test_request_after_the_longest_wait_is_refused_and_dequeued() -> None:
    line = Line(HashLimits(running=1), patience_seconds=1.0)
    held = line.run(LOUD)
    held.fresh_until = 9.0  # it hashes slowly
    line.enter(QUIET)
    line.later(0.9)
    assert line.ended == []
    line.later(0.2)
    assert [(owner, type(end)) for owner, end in line.ended] == [("quiet", Shed)]
    held.leave()
    line.run(LOUD).leave()
    assert len(line.ended) == 1


@pytest.mark.parametrize(
    ("limits", "status"),
    [(HashLimits(running=1, waiting_per_owner=2), 429), (HashLimits(running=1, waiting=2), 429)],
)
def test_queue_is_bounded_at_any_pace(limits: HashLimits, status: int) -> None:
    line = Line(limits, patience_seconds=20)
    line.queue._pace_seconds = 0.0
    line.run(LOUD)
    for _ in range(2):
        line.enter(LOUD)
    with pytest.raises(Shed) as refusal:
        line.enter(LOUD)
    assert refusal.value.unavailable_status == status


def test_hanging_requests_keep_neither_slots_nor_all_threads() -> None:
    """A captcha's provider that does not answer: its tenant's sign-ins hold threads, and the others still sign in."""
    line = Line(HashLimits(running=1, threads=4), patience_seconds=20)
    line.run(LOUD)
    for _ in range(7):
        assert line.enter(LOUD) is None
    for _ in range(5):
        line.later(FRESH_SECONDS)
    assert len(line.ended) == 2
    assert line.enter(QUIET) is None
    owner, end = line.ended[-1]
    assert owner == "quiet"
    assert isinstance(end, Grant)


def test_slot_is_fresh_as_long_as_hashes_last() -> None:
    queue = HashQueue(HashLimits(running=1), patience_seconds=20, hash_seconds=lambda: 1.0, now=lambda: 100.0)
    grant = queue.enter(LOUD, lambda _: None)
    assert grant is not None
    assert grant.fresh_until == 104.0


def test_request_may_enter_again_when_its_turn_comes() -> None:
    """The turn is called outside of the queue's lock."""
    line = Line(HashLimits(running=1, threads=2), patience_seconds=20)
    held = line.run(LOUD)
    again: list[Grant | None] = []
    line.queue.enter(QUIET, lambda _: again.append(line.enter(LOUD)))
    held.leave()
    assert again == [None]


def test_owner_runs_on_half_while_another_is_active() -> None:
    line = Line(HashLimits(running=4), patience_seconds=20)
    line.run(QUIET).leave()
    loud = [line.enter(LOUD) for _ in range(6)]
    assert [grant is not None for grant in loud] == [True, True, False, False, False, False]
    for _ in range(2):
        line.later(FRESH_SECONDS / 4)
        line.enter(QUIET)
    assert [owner for owner, end in line.ended if isinstance(end, Grant)] == [
        "quiet",
        "quiet",
    ]  # they wait for none of the others


def test_owner_runs_on_all_once_no_other_is_active() -> None:
    line = Line(HashLimits(running=4), patience_seconds=20)
    line.run(QUIET).leave()
    line.later(ACTIVE_SECONDS + 1)
    assert [line.enter(LOUD) is not None for _ in range(5)] == [True, True, True, True, False]
