"""How many requests run at once: reads keep a quarter of the places, and each place goes to the request that waits longest."""

import pytest

from app.kit.serving.request_slots import QueueFull, Slot, SlotPool


class RequestLine:
    """A pool, and the requests that got a place after a wait."""

    def __init__(self, *, threads: int, waiting: int) -> None:
        self.pool = SlotPool(threads=threads, waiting=waiting)
        self.started: list[tuple[str, Slot]] = []

    def acquire(self, name: str, *, is_read: bool) -> Slot | None:
        return self.pool.acquire(lambda permit: self.started.append((name, permit)), is_read=is_read)

    @property
    def names(self) -> list[str]:
        return [name for name, _ in self.started]


def test_writes_leave_a_quarter_to_reads() -> None:
    line = RequestLine(threads=4, waiting=10)
    assert all(line.acquire(f"write {number}", is_read=False) for number in range(3))
    assert line.acquire("write 3", is_read=False) is None
    assert line.acquire("read", is_read=True) is not None
    assert line.acquire("read 2", is_read=True) is None
    assert line.names == []


def test_place_goes_to_the_longest_waiting_request() -> None:
    line = RequestLine(threads=4, waiting=10)
    writes = [line.acquire("write", is_read=False) for _ in range(3)]
    read = line.acquire("read", is_read=True)
    line.acquire("waiting write", is_read=False)
    line.acquire("waiting read", is_read=True)
    assert read is not None
    read.release()
    assert line.names == ["waiting read"]
    assert writes[0] is not None
    writes[0].release()
    assert line.names == ["waiting read", "waiting write"]


@pytest.mark.parametrize("is_read", [True, False])
def test_full_queue_refuses(is_read: bool) -> None:
    line = RequestLine(threads=1, waiting=2)
    stored = line.acquire("runs", is_read=is_read)
    assert [line.acquire(f"waits {number}", is_read=is_read) for number in range(2)] == [None, None]
    with pytest.raises(QueueFull):
        line.acquire("too many", is_read=is_read)
    assert stored is not None
    stored.release()
    assert line.names == ["waits 0"]
    assert line.acquire("waits again", is_read=is_read) is None


def test_all_places_are_free_again_in_the_end() -> None:
    line = RequestLine(threads=4, waiting=100)
    permits = [line.acquire(str(number), is_read=number % 3 == 0) for number in range(60)]
    running = [permit for permit in permits if permit is not None]
    assert len(running) == 4
    while running:
        before = len(line.started)
        running.pop().release()
        running += [permit for _, permit in line.started[before:]]
        assert len(running) <= 4
    assert len(line.started) == 56
    assert [line.acquire("again", is_read=number == 0) is not None for number in range(4)] == [True] * 4
