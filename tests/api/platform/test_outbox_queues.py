"""Queues of the outbox: messages of an order key go out in order, and a receiver that fails holds up nobody else."""

import threading
from collections.abc import Iterable
from datetime import timedelta

import pytest

from app.identity.platform.outbox import claims, queue_claims, queue_outcomes
from app.identity.platform.outbox.claims import ClaimedMessage
from app.identity.platform.outbox.dispatcher import QueueDispatcher
from app.identity.platform.outbox.lanes import WEBHOOK
from app.identity.platform.outbox.outbox import HELD, RETRY_PERIOD, Outbox, QueuedDelivery, decrypt_answer
from app.identity.platform.outbox.queue_claims import PROBE, Search
from app.identity.platform.outbox.sender import DeliveryError, Receipt
from app.identity.platform.store.database import Database
from app.identity.platform.store.unit_of_work import UnitOfWork
from app.kit.clock import FixedClock
from tests.support.tenants.posting import VAULT, queue_row, queued, row

REFUSED = Receipt(404, {"Body": "no such path"})
ANY = Search()
TIMEOUT = DeliveryError("it did not answer")

pytestmark = pytest.mark.both_databases


@pytest.fixture
def database(own_database: Database) -> Database:
    return own_database


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock()


def claimed(database: Database, clock: FixedClock, search: Search = ANY) -> ClaimedMessage | None:
    return queue_claims.claim(database, clock.now(), WEBHOOK, search)


def require(message: ClaimedMessage | None) -> ClaimedMessage:
    assert message
    return message


def send(database: Database, clock: FixedClock, message: ClaimedMessage | None) -> str:
    """Settle a message as sent and return its id."""
    queue_outcomes.settle_sent(database, VAULT, require(message), clock.now(), Receipt(200))
    return require(message).message_id


def fail(database: Database, clock: FixedClock, message: ClaimedMessage | None, error: DeliveryError = TIMEOUT) -> bool:
    """Settle a message as failed, and return whether it is dead."""
    return queue_outcomes.settle_failed(
        database, VAULT, require(message), clock.now(), error, is_paused=error.is_receiver_down
    )


def sent_in_turn(database: Database, clock: FixedClock) -> list[str]:
    """Send everything that is due, one message after the other, and return the ids."""
    ids = []
    while message := claimed(database, clock):
        ids.append(send(database, clock, message))
    return ids


def test_message_waits_for_earlier_one_of_its_key(database: Database, clock: FixedClock) -> None:
    first, second = (queued(database, clock, order_key="ada") for _ in clock_steps(clock, 2))
    other = queued(database, clock, order_key="bob")
    message = require(claimed(database, clock))
    assert message.message_id == first
    assert require(claimed(database, clock)).message_id == other
    assert claimed(database, clock) is None
    assert row(database, second).due_at == HELD
    send(database, clock, message)
    assert require(claimed(database, clock)).message_id == second


def clock_steps(clock: FixedClock, number: int) -> Iterable[int]:
    for step in range(number):
        yield step
        clock.advance(microseconds=1)


def test_key_of_another_queue_or_tenant_does_not_wait(database: Database, clock: FixedClock) -> None:
    ids = {
        queued(database, clock, order_key="ada"),
        queued(database, clock, "other", order_key="ada"),
        queued(database, clock, tenant="globex", order_key="ada"),
    }
    assert {require(claimed(database, clock)).message_id for _ in ids} == ids


def test_messages_of_one_request_keep_their_order(database: Database, clock: FixedClock) -> None:
    work = UnitOfWork(database, "acme")
    outbox = Outbox(work, clock, VAULT)
    ids = [outbox.post("webhook", {}, delivery=QueuedDelivery("hook", "ada")) for _ in range(20)]
    work.commit()
    clock.advance(seconds=1)
    assert sent_in_turn(database, clock) == ids


def test_refused_message_holds_back_its_key_alone(database: Database, clock: FixedClock) -> None:
    refused, later = (queued(database, clock, order_key="ada") for _ in clock_steps(clock, 2))
    other = queued(database, clock, order_key="bob")
    message = require(claimed(database, clock))
    assert not fail(database, clock, message, DeliveryError("404", receipt=REFUSED))
    assert sent_in_turn(database, clock) == [other]
    clock.advance(seconds=15)
    assert sent_in_turn(database, clock) == [refused, later]


def test_dead_message_lets_next_of_its_key_go(database: Database, clock: FixedClock) -> None:
    _, later = (queued(database, clock, order_key="ada") for _ in clock_steps(clock, 2))
    message = require(claimed(database, clock))
    assert claimed(database, clock) is None
    assert fail(database, clock, message, DeliveryError("410", is_final=True, receipt=Receipt(410)))
    assert sent_in_turn(database, clock) == [later]


def test_expired_lease_keeps_order_and_id(database: Database, clock: FixedClock) -> None:
    first, second = (queued(database, clock, order_key="ada") for _ in clock_steps(clock, 2))
    lost = require(claimed(database, clock))
    clock.advance(seconds=claims.LEASE.total_seconds())
    again = require(claimed(database, clock))
    assert (again.message_id, again.attempts) == (first, 2)
    send(database, clock, lost)  # its worker was only slow: the other one settles
    assert claimed(database, clock) is None
    send(database, clock, again)
    assert require(claimed(database, clock)).message_id == second


def test_workers_at_once_deliver_each_key_in_order(database: Database, clock: FixedClock) -> None:
    expected: dict[str, list[str]] = {key: [] for key in ("ada", "bob", "eve")}
    for _ in clock_steps(clock, 8):
        for key, ids in expected.items():
            ids.append(queued(database, clock, order_key=key))
    delivered: list[tuple[str, str]] = []
    under_way: set[str] = set()
    clash: list[str] = []

    def work() -> None:
        while len(delivered) < 24 and not clash:
            if (message := claimed(database, clock)) is None:
                continue
            key = str(message.order_key)
            clash.extend([key] if key in under_way else [])
            under_way.add(key)
            delivered.append((key, message.message_id))
            under_way.discard(key)
            send(database, clock, message)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert clash == []
    assert {key: [item for of, item in delivered if of == key] for key in expected} == expected


def test_flood_of_one_key_does_not_hide_another(
    database: Database, clock: FixedClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queue_claims, "HELD_AT_ONCE", 10)
    flood = [queued(database, clock, order_key="ada") for _ in clock_steps(clock, 35)]
    other = queued(database, clock, order_key="bob")
    assert require(claimed(database, clock)).message_id == flood[0]
    assert require(claimed(database, clock)).message_id == other
    assert {row(database, message_id).due_at for message_id in flood[1:]} == {HELD}


def test_queue_that_times_out_is_paused_and_then_probed(database: Database, clock: FixedClock) -> None:
    ids = [queued(database, clock) for _ in clock_steps(clock, 4)]
    fail(database, clock, claimed(database, clock))
    assert claimed(database, clock) is None
    clock.advance(seconds=15)
    probe = require(claimed(database, clock))
    assert (probe.failures, claimed(database, clock)) == (1, None)
    send(database, clock, probe)
    assert queue_row(database) is None
    assert {probe.message_id, *sent_in_turn(database, clock)} <= set(ids)
    clock.advance(seconds=60)
    sent_in_turn(database, clock)
    assert {row(database, message_id).state for message_id in ids} == {"sent"}


def test_pause_doubles_up_to_an_hour(database: Database, clock: FixedClock) -> None:
    for _ in range(12):
        queued(database, clock)
    pauses = []
    for _ in range(12):
        fail(database, clock, claimed(database, clock))
        pauses.append(queue_row(database).paused_until - clock.now())
        clock.advance(seconds=pauses[-1].total_seconds())
    for at, pause in enumerate(pauses):
        longest = min(15 * 2**at, 3600)
        assert 0.75 * longest <= pause.total_seconds() <= longest
    state = queue_row(database)
    assert (state.failures, state.failing_since) == (12, FixedClock().now())


def test_failures_at_once_count_as_one(database: Database, clock: FixedClock) -> None:
    for _ in range(3):
        queued(database, clock)
    for message in [claimed(database, clock) for _ in range(3)]:
        fail(database, clock, message)
    assert queue_row(database).failures == 1


def test_late_success_does_not_end_the_pause(database: Database, clock: FixedClock) -> None:
    for _ in range(3):
        queued(database, clock)
    early, failing = claimed(database, clock), claimed(database, clock)
    fail(database, clock, failing)
    send(database, clock, early)
    assert claimed(database, clock) is None


@pytest.mark.parametrize(("hours", "expected"), [(2, 2), (1000, 24)])
def test_retry_after_is_honoured_up_to_a_day(database: Database, clock: FixedClock, hours: int, expected: int) -> None:
    message_id = queued(database, clock)
    error = DeliveryError("503", receipt=Receipt(503), retry_after=timedelta(hours=hours))
    fail(database, clock, claimed(database, clock), error)
    assert queue_row(database).paused_until - clock.now() == timedelta(hours=expected)
    assert row(database, message_id).due_at - clock.now() == timedelta(hours=expected)


@pytest.mark.parametrize(("status", "is_paused"), [(None, True), (500, True), (503, True), (429, True), (404, False)])
def test_status_decides_whether_the_queue_is_paused(
    database: Database, clock: FixedClock, status: int | None, is_paused: bool
) -> None:
    queued(database, clock)
    fail(database, clock, claimed(database, clock), DeliveryError("no", receipt=Receipt(status)))
    assert (queue_row(database) is not None) == is_paused


def test_refusal_of_the_probe_ends_the_pause(database: Database, clock: FixedClock) -> None:
    queued(database, clock), queued(database, clock)
    fail(database, clock, claimed(database, clock))
    clock.advance(seconds=15)
    fail(database, clock, claimed(database, clock), DeliveryError("404", receipt=REFUSED))
    assert queue_row(database) is None


def test_probe_of_a_dead_worker_is_repeated(database: Database, clock: FixedClock) -> None:
    queued(database, clock), queued(database, clock)
    fail(database, clock, claimed(database, clock))
    clock.advance(seconds=15)
    assert claimed(database, clock)
    clock.advance(seconds=PROBE.total_seconds())
    assert claimed(database, clock)


def test_paused_queue_burns_no_attempts(database: Database, clock: FixedClock) -> None:
    ids = [queued(database, clock) for _ in clock_steps(clock, 5)]
    for _ in range(3):
        fail(database, clock, claimed(database, clock))
        clock.advance(hours=1)
    assert sum(row(database, message_id).attempts for message_id in ids) == 3


def test_dead_target_of_a_tenant_delays_no_other(database: Database, clock: FixedClock) -> None:
    for _ in range(50):
        queued(database, clock, "dead", tenant="acme")
    fail(database, clock, claimed(database, clock))
    others = [queued(database, clock, tenant="globex"), queued(database, clock, "alive", tenant="acme")]
    assert {require(claimed(database, clock)).message_id for _ in others} == set(others)
    assert claimed(database, clock) is None


def test_tenants_and_their_queues_take_turns(database: Database, clock: FixedClock) -> None:
    for queue in ("a", "b", "c"):
        for _ in range(4):
            queued(database, clock, queue, tenant="flood")
    queued(database, clock, tenant="acme"), queued(database, clock, tenant="acme")
    order, last, queues = [], "", dict[str, str]()
    while message := claimed(database, clock, Search(last, queues)):
        last = message.tenant_id
        queues[last] = str(message.queue)
        order.append((last, queues[last]))
    assert order[:4] == [("acme", "hook"), ("flood", "a"), ("acme", "hook"), ("flood", "b")]
    assert [queue for _, queue in order[4:]] == ["c", "a", "b", "c", "a", "b", "c", "a", "b", "c"]


def test_dispatcher_leaves_threads_to_others(database: Database, clock: FixedClock) -> None:
    for tenant, queue in (("flood", "a"), ("flood", "b"), ("quiet", "c")):
        for _ in range(9):
            queued(database, clock, queue, tenant=tenant)
    lane = QueueDispatcher(database, clock, WEBHOOK, size=8, lease=claims.LEASE)
    taken = [message for _ in range(20) if (message := lane.take())]
    count = {"flood": 0, "quiet": 0}
    queues: dict[str, int] = {}
    for message in taken:
        count[message.tenant_id] += 1
        queues[str(message.queue)] = queues.get(str(message.queue), 0) + 1
    assert (count, queues["c"]) == ({"flood": 4, "quiet": 3}, 3)
    assert queues["a"] + queues["b"] == 4
    for message in taken:
        lane.done(message)
    assert lane.take()


def test_message_is_dead_three_days_after_posting(database: Database, clock: FixedClock) -> None:
    message_id = queued(database, clock)
    error = DeliveryError("404", receipt=REFUSED)
    tries = 0
    while row(database, message_id).state == "waiting":
        clock.advance(hours=4)
        fail(database, clock, claimed(database, clock), error)
        tries += 1
    dead = row(database, message_id)
    assert RETRY_PERIOD <= dead.finished_at - dead.created_at < RETRY_PERIOD + timedelta(hours=5)
    assert (tries, dead.attempts) == (18, 18)


def test_outcome_is_stored_encrypted_with_its_row(database: Database, clock: FixedClock) -> None:
    message_id = queued(database, clock)
    fail(database, clock, claimed(database, clock), DeliveryError("404", receipt=REFUSED))
    stored = row(database, message_id)
    assert (stored.status_code, decrypt_answer(VAULT, stored)) == (404, REFUSED.answer)
    assert b"no such path" not in stored.sealed_answer


@pytest.mark.parametrize(("kind", "queue"), [("webhook", None), ("mail", "hook")])
def test_kind_and_queue_must_fit(database: Database, clock: FixedClock, kind: str, queue: str | None) -> None:
    work = UnitOfWork(database, "acme")
    with pytest.raises(ValueError, match="queue"):
        Outbox(work, clock, VAULT).post(kind, {}, delivery=QueuedDelivery(queue) if queue else None)
    work.rollback()
