"""A worker that delivers queues: it stores what a sender returns or raises, and one dead receiver leaves the others alone."""

import itertools
import threading
from collections import Counter

import pytest

from app.identity.platform.outbox import claims, queue_claims, queue_limits
from app.identity.platform.outbox.dispatcher import dispatcher
from app.identity.platform.outbox.lanes import WEBHOOK
from app.identity.platform.outbox.outbox import decrypt_answer
from app.identity.platform.outbox.sender import DeliveryError, Message, Receipt, Sender
from app.identity.platform.store.database import Database
from app.kit.clock import FixedClock, SystemClock
from tests.support.processes.installation import eventually
from tests.support.tenants.posting import VAULT, queue_row, queued, row, worker


class Receivers(Sender):
    """Receivers of queues, which answer as `answers` says, by default 200."""

    def __init__(self) -> None:
        self.answers: dict[str, Exception] = {}
        self.received: list[tuple[str, str]] = []
        self.messages: list[Message] = []
        self.hangs = threading.Event()
        """Set: the receivers in `hanging` answer."""
        self.hanging: set[str] = set()

    def send(self, message: Message) -> Receipt:
        self.messages.append(message)
        if message.queue in self.hanging:
            self.hangs.wait(60)
        if problem := self.answers.get(str(message.queue)):
            raise problem
        self.received.append((str(message.queue), message.message_id))
        return Receipt(200, {"Body": "thanks"})


@pytest.fixture
def receivers(monkeypatch: pytest.MonkeyPatch) -> Receivers:
    made = Receivers()
    monkeypatch.setattr("app.identity.assembly.worker.WebhookSender", lambda *_: made)
    return made


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock()


@pytest.mark.both_databases
def test_receipt_of_sender_is_stored(own_database: Database, clock: FixedClock, receivers: Receivers) -> None:
    message_id = queued(own_database, clock, order_key="ada")
    worker(own_database, clock).deliver_due()
    sent = row(own_database, message_id)
    assert (sent.state, sent.status_code, decrypt_answer(VAULT, sent)) == ("sent", 200, {"Body": "thanks"})
    (message,) = receivers.messages
    assert (message.queue, message.order_key, message.created_at) == ("hook", "ada", clock.now())


@pytest.mark.both_databases
def test_dead_receiver_gets_one_message_per_pause(
    own_database: Database, clock: FixedClock, receivers: Receivers
) -> None:
    receivers.answers = {"dead": DeliveryError("it did not answer")}
    for _ in range(30):
        queued(own_database, clock, "dead")
    alive = {queued(own_database, clock, "alive"), queued(own_database, clock, "alive", tenant="globex")}
    delivery = worker(own_database, clock)
    delivery.deliver_due()
    assert {message_id for _, message_id in receivers.received} == alive
    for tries in range(1, 6):
        assert len(receivers.messages) - len(alive) == tries
        clock.advance(hours=1)
        delivery.deliver_due()
    receivers.answers = {}
    clock.advance(hours=4)
    while delivery.deliver_due():
        pass
    assert len(receivers.received) == 32


def test_bug_in_sender_does_not_pause_the_queue(
    own_database: Database, clock: FixedClock, receivers: Receivers, caplog: pytest.LogCaptureFixture
) -> None:
    receivers.answers = {"hook": KeyError("bug")}
    message_id = queued(own_database, clock)
    worker(own_database, clock).deliver_due()
    assert (queue_row(own_database), row(own_database, message_id).last_problem) == (None, "KeyError")
    assert "outbox.broken" in caplog.text


def test_message_for_full_queue_is_logged(
    own_database: Database, clock: FixedClock, receivers: Receivers, caplog: pytest.LogCaptureFixture
) -> None:
    queued(own_database, clock), queued(own_database, clock)
    queue_limits.mark_full(own_database, 1)
    queued(own_database, clock)
    assert ("outbox.queue_full" in caplog.text, "outbox.full" in caplog.text) == (True, True)


def test_hanging_receivers_of_a_tenant_delay_no_other(own_database: Database, receivers: Receivers) -> None:
    receivers.hanging = {f"hanging{number}" for number in range(10)}
    for queue in receivers.hanging:
        for _ in range(5):
            queued(own_database, SystemClock(), queue)
    stop = threading.Event()
    running = threading.Thread(target=worker(own_database, SystemClock()).run, args=(stop,))
    running.start()
    try:
        eventually(lambda: len(receivers.messages) >= 4, "the tenant has as many threads as it gets")
        message_id = queued(own_database, SystemClock(), tenant="globex")
        eventually(lambda: ("hook", message_id) in receivers.received, "the webhook of another tenant is sent")
        assert len(receivers.messages) == 5
    finally:
        receivers.hangs.set()
        stop.set()
        running.join(60)


def test_slow_receivers_of_tenants_leave_half_of_the_threads(
    own_database: Database, clock: FixedClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They take each message in the last moment, so that no queue is paused."""
    seconds = [0.0]
    monkeypatch.setattr("app.identity.platform.outbox.dispatcher.monotonic", lambda: seconds[0])
    for tenant, number in itertools.product(("slow-1", "slow-2"), range(20)):
        queued(own_database, clock, f"hook-{number % 5}", tenant=tenant)
    lane = dispatcher(own_database, clock, WEBHOOK, size=4, lease=claims.LEASE)
    first = [lane.take() for _ in range(lane.size)]
    assert Counter(message.tenant_id for message in first if message) == {"slow-1": 4, "slow-2": 4}
    seconds[0] += 14
    for message in filter(None, first):
        lane.done(message)
    taken = [message for message in (lane.take() for _ in range(lane.size)) if message]
    assert len(taken) == 4
    others = [queued(own_database, clock, tenant="globex", order_key=str(number)) for number in range(3)]
    assert {message.message_id for message in (lane.take() for _ in others) if message} == set(others)
    lane.done(taken[0])
    another = lane.take()
    assert another is not None, "a thread of theirs is free"


def test_message_of_killed_worker_is_sent_again_in_order(
    own_database: Database, clock: FixedClock, receivers: Receivers
) -> None:
    ids = []
    for _ in range(3):
        ids.append(queued(own_database, clock, order_key="ada"))
        clock.advance(microseconds=1)
    assert queue_claims.claim(own_database, clock.now(), WEBHOOK)  # by a worker that is killed
    survivor = worker(own_database, clock)
    assert survivor.deliver_due() == 0
    clock.advance(seconds=claims.LEASE.total_seconds())
    survivor.deliver_due()
    assert [message_id for _, message_id in receivers.received] == ids
