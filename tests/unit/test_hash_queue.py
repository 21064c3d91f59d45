"""The hashing queue in the event loop: which requests get a thread, and which are refused."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from app.kit.admission import QueueSlot, Shed
from app.kit.serving.hash_queue import FRESH_SECONDS, Grant, HashLimits, HashQueue
from tests.support.event_loop import run_coroutine

LOUD, QUIET = QueueSlot("loud", "sign-in"), QueueSlot("quiet", "sign-in")


def looped(test: Callable[[], Awaitable[None]]) -> None:
    async def bounded() -> None:
        async with asyncio.timeout(20):
            await test()

    run_coroutine(bounded())


async def settle() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


def test_quiet_tenant_runs_in_the_first_round() -> None:
    async def test() -> None:
        queue, order = HashQueue(HashLimits(running=1), patience_seconds=20), list[str]()

        async def one(place: QueueSlot) -> None:
            grant = await queue.enter(place)
            order.append(place.owner)
            await asyncio.sleep(0)
            queue.leave(grant)

        async with asyncio.TaskGroup() as all_of_them:
            for _ in range(50):
                all_of_them.create_task(one(LOUD))
            await asyncio.sleep(0)
            all_of_them.create_task(one(QUIET))
        assert "quiet" in order[:4]
        assert len(order) == 51

    looped(test)


def test_predictably_long_wait_is_refused_at_once() -> None:
    async def test() -> None:
        queue = HashQueue(HashLimits(running=1), patience_seconds=1)  # a turn is taken to last 50 ms until one was seen
        await queue.enter(LOUD)
        line = [asyncio.create_task(queue.enter(LOUD)) for _ in range(30)]
        await settle()
        refused = [task for task in line if task.done()]
        assert len(refused) == 10
        shed = refused[0].exception()
        assert isinstance(shed, Shed)
        assert (shed.unavailable_status, shed.retry_after_seconds) == (429, 2)
        quiet = asyncio.create_task(queue.enter(QUIET))
        await settle()
        assert not quiet.done()
        for task in (*line, quiet):
            task.cancel()
        await asyncio.gather(*line, quiet, return_exceptions=True)

    looped(test)


def test_wait_behind_many_tenants_is_refused_with_503() -> None:
    async def test() -> None:
        queue = HashQueue(HashLimits(running=1), patience_seconds=1)
        await queue.enter(LOUD)
        line = [asyncio.create_task(queue.enter(QueueSlot(f"tenant {number}", "sign-in"))) for number in range(20)]
        await settle()
        with pytest.raises(Shed) as refusal:
            await queue.enter(QUIET)
        assert refusal.value.unavailable_status == 503
        for task in line:
            task.cancel()
        await asyncio.gather(*line, return_exceptions=True)

    looped(test)


def test_request_after_the_longest_wait_is_refused_and_dequeued() -> None:
    async def test() -> None:
        queue = HashQueue(HashLimits(running=1), patience_seconds=0.06)
        queue._pace_seconds = 0.001  # it expects to be quick
        held = await queue.enter(LOUD)
        with pytest.raises(Shed):
            await queue.enter(QUIET)
        queue.leave(held)
        queue.leave(await queue.enter(LOUD))

    looped(test)


@pytest.mark.parametrize(
    ("limits", "status"),
    [(HashLimits(running=1, waiting_per_owner=2), 429), (HashLimits(running=1, waiting=2), 429)],
)
def test_queue_is_bounded_at_any_pace(limits: HashLimits, status: int) -> None:
    async def test() -> None:
        queue = HashQueue(limits, patience_seconds=20)
        queue._pace_seconds = 0.0
        await queue.enter(LOUD)
        line = [asyncio.create_task(queue.enter(LOUD)) for _ in range(2)]
        await settle()
        with pytest.raises(Shed) as refusal:
            await queue.enter(LOUD)
        assert refusal.value.unavailable_status == status
        for task in line:
            task.cancel()
        await asyncio.gather(*line, return_exceptions=True)

    looped(test)


def test_hanging_requests_keep_neither_slots_nor_all_threads() -> None:
    """A captcha's provider that does not answer: its tenant's sign-ins hold threads, and the others still sign in."""

    async def test() -> None:
        queue = HashQueue(HashLimits(running=1, threads=4), patience_seconds=20)
        hanging = [asyncio.create_task(queue.enter(LOUD)) for _ in range(8)]
        await asyncio.sleep(FRESH_SECONDS * 5)
        assert sum(task.done() for task in hanging) == 3
        assert isinstance(await queue.enter(QUIET), Grant)
        for task in hanging:
            task.cancel()
        await asyncio.gather(*hanging, return_exceptions=True)

    looped(test)


def test_cancelled_request_gives_its_slot_back() -> None:
    async def test() -> None:
        queue = HashQueue(HashLimits(running=1), patience_seconds=20)
        held = await queue.enter(LOUD)
        gone, stays = asyncio.create_task(queue.enter(LOUD)), asyncio.create_task(queue.enter(QUIET))
        await settle()
        queue.leave(held)  # the turn is `gone`'s, which is cancelled in the same moment
        gone.cancel()
        assert isinstance(await stays, Grant)

    looped(test)
