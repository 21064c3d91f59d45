"""The queue in the event loop: which requests get a thread to hash, and which are shed."""

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
        lane, order = HashQueue(HashLimits(places=1), patience_seconds=20), list[str]()

        async def one(place: QueueSlot) -> None:
            grant = await lane.enter(place)
            order.append(place.tenant)
            await asyncio.sleep(0)
            lane.leave(grant)

        async with asyncio.TaskGroup() as all_of_them:
            for _ in range(50):
                all_of_them.create_task(one(LOUD))
            await asyncio.sleep(0)
            all_of_them.create_task(one(QUIET))
        assert "quiet" in order[:4]
        assert len(order) == 51

    looped(test)


def test_wait_that_can_be_foretold_is_refused_at_once() -> None:
    async def test() -> None:
        lane = HashQueue(HashLimits(places=1), patience_seconds=1)  # a turn is taken to last 50 ms until one was seen
        await lane.enter(LOUD)
        line = [asyncio.create_task(lane.enter(LOUD)) for _ in range(30)]
        await settle()
        refused = [task for task in line if task.done()]
        assert len(refused) == 10
        shed = refused[0].exception()
        assert isinstance(shed, Shed)
        assert (shed.unavailable_status, shed.retry_after_seconds) == (429, 2)
        quiet = asyncio.create_task(lane.enter(QUIET))
        await settle()
        assert not quiet.done()
        for task in (*line, quiet):
            task.cancel()
        await asyncio.gather(*line, quiet, return_exceptions=True)

    looped(test)


def test_who_waits_behind_many_tenants_is_refused_with_503() -> None:
    async def test() -> None:
        lane = HashQueue(HashLimits(places=1), patience_seconds=1)
        await lane.enter(LOUD)
        line = [asyncio.create_task(lane.enter(QueueSlot(f"tenant {number}", "sign-in"))) for number in range(20)]
        await settle()
        with pytest.raises(Shed) as refusal:
            await lane.enter(QUIET)
        assert refusal.value.unavailable_status == 503
        for task in line:
            task.cancel()
        await asyncio.gather(*line, return_exceptions=True)

    looped(test)


def test_who_has_waited_too_long_is_refused_and_leaves_the_line() -> None:
    async def test() -> None:
        lane = HashQueue(HashLimits(places=1), patience_seconds=0.06)
        lane._pace_seconds = 0.001  # it expects to be quick
        held = await lane.enter(LOUD)
        with pytest.raises(Shed):
            await lane.enter(QUIET)
        lane.leave(held)
        lane.leave(await lane.enter(LOUD))

    looped(test)


@pytest.mark.parametrize(
    ("room", "status"),
    [(HashLimits(places=1, waiting_of_tenant=2), 429), (HashLimits(places=1, waiting=2), 429)],
)
def test_line_is_bounded_however_quick_it_is(room: HashLimits, status: int) -> None:
    async def test() -> None:
        lane = HashQueue(room, patience_seconds=20)
        lane._pace_seconds = 0.0
        await lane.enter(LOUD)
        line = [asyncio.create_task(lane.enter(LOUD)) for _ in range(2)]
        await settle()
        with pytest.raises(Shed) as refusal:
            await lane.enter(LOUD)
        assert refusal.value.unavailable_status == status
        for task in line:
            task.cancel()
        await asyncio.gather(*line, return_exceptions=True)

    looped(test)


def test_requests_that_hang_keep_neither_places_nor_all_threads() -> None:
    """A captcha's provider that does not answer: its tenant's sign-ins hold threads, and the others still sign in."""

    async def test() -> None:
        lane = HashQueue(HashLimits(places=1, threads=4), patience_seconds=20)
        hanging = [asyncio.create_task(lane.enter(LOUD)) for _ in range(8)]
        await asyncio.sleep(FRESH_SECONDS * 5)
        assert sum(task.done() for task in hanging) == 3
        assert isinstance(await lane.enter(QUIET), Grant)
        for task in hanging:
            task.cancel()
        await asyncio.gather(*hanging, return_exceptions=True)

    looped(test)


def test_client_that_leaves_gives_its_turn_back() -> None:
    async def test() -> None:
        lane = HashQueue(HashLimits(places=1), patience_seconds=20)
        held = await lane.enter(LOUD)
        gone, stays = asyncio.create_task(lane.enter(LOUD)), asyncio.create_task(lane.enter(QUIET))
        await settle()
        lane.leave(held)  # the turn is `gone`'s, which is cancelled in the same moment
        gone.cancel()
        assert isinstance(await stays, Grant)

    looped(test)
