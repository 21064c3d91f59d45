"""The pause of a queue ends before its time: the next message is a probe, and the order of each account stays."""

from datetime import timedelta

import pytest

from app.identity.platform.outbox import queue_claims, queue_outcomes, queue_pauses
from app.identity.platform.outbox.claims import ClaimedMessage
from app.identity.platform.outbox.lanes import WEBHOOK
from app.identity.platform.outbox.queue_pauses import Resumption
from app.identity.platform.outbox.sender import DeliveryError, Receipt
from app.identity.platform.store.database import Database
from app.identity.platform.store.unit_of_work import UnitOfWork
from app.kit.clock import FixedClock
from tests.support.tenants.posting import VAULT, queue_row, queued, row

DOWN = DeliveryError("503", receipt=Receipt(503), retry_after=timedelta(hours=24))
REFUSED = DeliveryError("404", receipt=Receipt(404), retry_after=timedelta(hours=24))

pytestmark = pytest.mark.both_databases


@pytest.fixture
def database(own_database: Database) -> Database:
    return own_database


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock()


def claimed(database: Database, clock: FixedClock) -> ClaimedMessage | None:
    return queue_claims.claim(database, clock.now(), WEBHOOK)


def fail(database: Database, clock: FixedClock, error: DeliveryError = DOWN) -> str:
    """Claim a message, let it fail, and return its id."""
    message = claimed(database, clock)
    assert message
    queue_outcomes.settle_failed(database, VAULT, message, clock.now(), error, is_paused=error.is_receiver_down)
    return message.message_id


def sent_in_turn(database: Database, clock: FixedClock) -> list[str]:
    """Send everything that is due, one message after the other, and return the ids."""
    ids = []
    while message := claimed(database, clock):
        queue_outcomes.settle_sent(database, VAULT, message, clock.now(), Receipt(200))
        ids.append(message.message_id)
    return ids


def end_pause(database: Database, clock: FixedClock, queue: str = "hook", most: int = 1000) -> Resumption:
    work = UnitOfWork(database, "acme")
    try:
        ended = queue_pauses.end_pause(work, "webhook", queue, clock.now(), most=most)
        work.commit()
        return ended
    finally:
        work.rollback()


def posted(database: Database, clock: FixedClock, *keys: str | None, queue: str = "hook") -> list[str]:
    ids = []
    for key in keys:
        ids.append(queued(database, clock, queue, order_key=key))
        clock.advance(microseconds=1)
    return ids


def test_messages_follow_in_order_after_the_probe(database: Database, clock: FixedClock) -> None:
    first, second, third = posted(database, clock, "ada", "ada", "ada")
    other = posted(database, clock, "bob")
    assert fail(database, clock) == first
    assert sent_in_turn(database, clock) == []
    assert end_pause(database, clock) == Resumption(was_paused=True, count=1)
    sent = sent_in_turn(database, clock)
    assert [message_id for message_id in sent if message_id not in other] == [first, second, third]
    assert (set(other) < set(sent), queue_row(database)) == (True, None)


def test_receiver_that_still_fails_gets_one_message(database: Database, clock: FixedClock) -> None:
    posted(database, clock, *(str(number) for number in range(5)))
    began = clock.now()
    for failures in range(1, 4):
        fail(database, clock)
        state = queue_row(database)
        assert (state.failures, claimed(database, clock)) == (failures, None)
        end_pause(database, clock)
        clock.advance(seconds=1)
    assert queue_row(database).failing_since == began


def test_message_put_off_by_itself_is_due_in_its_order(database: Database, clock: FixedClock) -> None:
    first, second = posted(database, clock, "ada", "ada")
    fail(database, clock, REFUSED)
    assert sent_in_turn(database, clock) == []
    assert end_pause(database, clock) == Resumption(was_paused=False, count=1)
    assert sent_in_turn(database, clock) == [first, second]


def test_message_being_sent_is_left_to_its_worker(database: Database, clock: FixedClock) -> None:
    first, _ = posted(database, clock, "ada", "ada")
    message = claimed(database, clock)
    assert message
    before = row(database, first).due_at
    assert end_pause(database, clock) == Resumption(was_paused=False, count=0)
    assert (row(database, first).due_at, claimed(database, clock)) == (before, None)


def test_pause_of_another_queue_or_tenant_goes_on(database: Database, clock: FixedClock) -> None:
    posted(database, clock, "ada", queue="other")
    foreign = queued(database, clock, tenant="globex", order_key="ada")
    fail(database, clock), fail(database, clock)
    assert end_pause(database, clock) == Resumption(was_paused=False, count=0)
    assert claimed(database, clock) is None
    assert row(database, foreign, "globex").due_at > clock.now()


def test_end_of_a_pause_takes_the_next_ones_of_many(database: Database, clock: FixedClock) -> None:
    posted(database, clock, *(str(number) for number in range(5)))
    failed = []
    for _ in range(5):
        failed.append(fail(database, clock, REFUSED))
        clock.advance(seconds=1)
    assert end_pause(database, clock, most=2).count == 2
    assert set(sent_in_turn(database, clock)) == set(failed[:2])
    assert end_pause(database, clock).count == 3
