"""The log of deliveries of a queue: what it shows, its replay and retention, its bound, and what an account's deletion leaves."""

from datetime import timedelta
from typing import Any

import pytest

from app.identity.assembly.clean_up.expired_rows import clean
from app.identity.assembly.clean_up.queued_messages import EXPIRED, RETENTION
from app.identity.directory.tenants import tenant_writes
from app.identity.platform.encryption import Encryption
from app.identity.platform.outbox import claims, delivery_log, queue_claims, queue_limits, queue_outcomes
from app.identity.platform.outbox.delivery_log import Replay, Selection
from app.identity.platform.outbox.lanes import WEBHOOK
from app.identity.platform.outbox.metrics import OutboxMetrics
from app.identity.platform.outbox.outbox import (
    QUEUE_IS_FULL,
    RETRY_PERIOD,
    Outbox,
    QueuedDelivery,
    decrypt_answer,
    decrypt_payload,
)
from app.identity.platform.outbox.queue_limits import QueueLimits
from app.identity.platform.outbox.sender import DeliveryError, Receipt
from app.identity.platform.store import removal
from app.identity.platform.store.database import Database
from app.identity.platform.store.unit_of_work import UnitOfWork
from app.kit.clock import FixedClock
from tests.support.tenants.posting import SECRET, VAULT, queue_row, queued, row

ROTATED = Encryption((b"1" * 32, SECRET))
GONE = DeliveryError("410", is_final=True, receipt=Receipt(410, {"Body": "gone"}))
DOWN = DeliveryError("503", receipt=Receipt(503))

pytestmark = pytest.mark.both_databases


@pytest.fixture
def database(own_database: Database) -> Database:
    return own_database


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock()


def settle(database: Database, clock: FixedClock, error: DeliveryError | None = None) -> str:
    """Deliver the next due message, or let it fail, and return its id."""
    message = queue_claims.claim(database, clock.now(), WEBHOOK)
    assert message
    if error is None:
        receipt = Receipt(200, {"Body": "thanks"})
        queue_outcomes.settle_sent(database, VAULT, message, clock.now(), receipt)
    else:
        is_paused = error.is_receiver_down
        queue_outcomes.settle_failed(database, VAULT, message, clock.now(), error, is_paused=is_paused)
    return message.message_id


def in_tenant(database: Database, run: Any, tenant: str = "acme") -> Any:
    work = UnitOfWork(database, tenant)
    try:
        result = run(work)
        work.commit()
        return result
    finally:
        work.rollback()


def listed(database: Database, selection: Selection, tenant: str = "acme", **window: int) -> list[str]:
    rows = in_tenant(
        database, lambda work: delivery_log.list_deliveries(work, selection, **{"limit": 50, **window}), tenant
    )
    return [item.message_id for item in rows]


def with_tenant(database: Database, clock: FixedClock, tenant: str = "acme") -> None:
    """Create the tenant, which the cleaner visits."""
    made: Any = {"api_key": tenant, "api_secret": b"", "settings": {}, "brand": {}, "now": clock.now()}
    in_tenant(database, lambda work: tenant_writes.add(work, tenant, **made), tenant)


def posted_hourly(database: Database, clock: FixedClock, number: int, **post: Any) -> list[str]:
    ids = []
    for _ in range(number):
        ids.append(queued(database, clock, **post))
        clock.advance(hours=1)
    return ids


def test_log_lists_newest_first_page_by_page(database: Database, clock: FixedClock) -> None:
    ids = posted_hourly(database, clock, 5)
    settle(database, clock)
    settle(database, clock, GONE)
    pages = [listed(database, Selection("hook"), limit=2, offset=offset) for offset in (0, 2, 4)]
    assert [len(page) for page in pages] == [2, 2, 1]
    assert [item for page in pages for item in page] == ids[::-1]


def test_log_filters_by_state_event_and_time(database: Database, clock: FixedClock) -> None:
    start = clock.now()
    logins = posted_hourly(database, clock, 3)
    other = queued(database, clock, event="Register")
    sent, dead = settle(database, clock), settle(database, clock, GONE)
    for selection, expected in (
        (Selection("hook", state="sent"), [sent]),
        (Selection("hook", state="dead"), [dead]),
        (Selection("hook", event="Register"), [other]),
        (Selection("hook", since=start + timedelta(hours=1), until=start + timedelta(hours=2)), [logins[1]]),
        (Selection("another"), []),
    ):
        assert listed(database, selection) == expected


def test_foreign_tenant_sees_and_replays_nothing(database: Database, clock: FixedClock) -> None:
    message_id = queued(database, clock)
    settle(database, clock, GONE)
    assert listed(database, Selection("hook"), "globex") == []
    assert in_tenant(database, lambda work: delivery_log.find_delivery(work, "hook", message_id), "globex") is None
    now, selection = clock.now(), Selection("hook", state="dead")
    assert not in_tenant(database, lambda work: delivery_log.replay_delivery(work, "hook", message_id, now), "globex")
    assert in_tenant(database, lambda work: delivery_log.replay_deliveries(work, selection, now), "globex") == Replay(0)


def test_delivery_keeps_payload_and_answer(database: Database, clock: FixedClock) -> None:
    message_id = queued(database, clock)
    settle(database, clock)
    found = in_tenant(database, lambda work: delivery_log.find_delivery(work, "hook", message_id))
    assert (found.state, found.status_code, found.event) == ("sent", 200, "Login")
    assert (decrypt_payload(VAULT, found), decrypt_answer(VAULT, found)) == ({"body": "{}"}, {"Body": "thanks"})
    assert in_tenant(database, lambda work: delivery_log.find_delivery(work, "another", message_id)) is None


@pytest.mark.parametrize("error", [None, GONE])
def test_replay_sends_finished_message_again(
    database: Database, clock: FixedClock, error: DeliveryError | None
) -> None:
    message_id = queued(database, clock)
    settle(database, clock, error)
    assert in_tenant(database, lambda work: delivery_log.replay_delivery(work, "hook", message_id, clock.now()))
    assert not in_tenant(database, lambda work: delivery_log.replay_delivery(work, "hook", message_id, clock.now()))
    assert settle(database, clock) == message_id


def test_replay_of_many_takes_selected_ones_in_order(database: Database, clock: FixedClock) -> None:
    start = clock.now()
    ids = posted_hourly(database, clock, 5, order_key="ada")
    for _ in ids:
        settle(database, clock, GONE)
    selection = Selection("hook", state="dead", since=start + timedelta(hours=1))
    assert (
        in_tenant(database, lambda work: delivery_log.replay_deliveries(work, selection, clock.now(), most=3)).count
        == 3
    )
    assert [settle(database, clock) for _ in range(3)] == ids[1:4]


def test_replayed_message_is_retried_for_three_days(database: Database, clock: FixedClock) -> None:
    message_id = queued(database, clock)
    settle(database, clock, GONE)
    clock.advance(days=10)
    in_tenant(database, lambda work: delivery_log.replay_delivery(work, "hook", message_id, clock.now()))
    settle(database, clock, DOWN)
    assert row(database, message_id).state == "waiting"


def test_message_for_full_queue_is_dead_letter_at_once(database: Database, clock: FixedClock) -> None:
    ids = posted_hourly(database, clock, 3)
    queued(database, clock, "other")
    queue_limits.mark_full(database, 2)
    refused = row(database, queued(database, clock))
    assert (refused.state, refused.last_problem, refused.finished_at) == ("dead", QUEUE_IS_FULL, clock.now())
    assert row(database, queued(database, clock, "other")).state == "waiting"
    settle(database, clock)
    queue_limits.mark_full(database, 2)
    assert queue_row(database) is None
    assert in_tenant(database, lambda work: delivery_log.replay_delivery(work, "hook", refused.message_id, clock.now()))
    assert {settle(database, clock) for _ in range(5)} >= {refused.message_id, *ids[1:]}


def test_post_to_full_queue_is_one_statement(database: Database, clock: FixedClock) -> None:
    queued(database, clock), queued(database, clock)
    queue_limits.mark_full(database, 1)
    work = UnitOfWork(database, "acme")
    Outbox(work, clock, VAULT).post("webhook", {}, delivery=QueuedDelivery("hook", "ada"))
    work.commit()
    assert (work.cost.statements, work.cost.commits) == (1, 1)


def test_full_queue_that_fails_stays_paused(database: Database, clock: FixedClock) -> None:
    posted_hourly(database, clock, 3)
    limits = QueueLimits(database, most=2)
    limits.turn(clock.now())
    settle(database, clock, DOWN)
    state = queue_row(database)
    assert (state.is_full, state.failures) == (True, 1)
    queue_limits.mark_full(database, 9)
    assert (queue_row(database).is_full, queue_row(database).failures) == (False, 1)


def test_message_of_paused_queue_is_dead_after_three_days(database: Database, clock: FixedClock) -> None:
    with_tenant(database, clock)
    late = [queued(database, clock, order_key="ada") for _ in range(3)]
    settle(database, clock, DOWN)
    clock.advance(seconds=RETRY_PERIOD.total_seconds() + 1)
    fresh = queued(database, clock, order_key="ada")
    clean(database, clock.now())
    assert {(row(database, item).state, row(database, item).last_problem) for item in late} == {("dead", EXPIRED)}
    assert settle(database, clock) == fresh


def test_cleaning_leaves_message_that_is_being_sent(database: Database, clock: FixedClock) -> None:
    with_tenant(database, clock)
    message_id = queued(database, clock)
    clock.advance(seconds=RETRY_PERIOD.total_seconds() + 1)
    assert queue_claims.claim(database, clock.now(), WEBHOOK)
    clean(database, clock.now())
    assert row(database, message_id).state == "waiting"


def test_finished_messages_stay_thirty_days(database: Database, clock: FixedClock) -> None:
    with_tenant(database, clock)
    queued(database, clock), queued(database, clock)
    settle(database, clock), settle(database, clock, GONE)
    clock.advance(seconds=RETENTION.total_seconds())
    assert clean(database, clock.now()) == 0
    clock.advance(seconds=1)
    assert clean(database, clock.now()) == 2
    assert listed(database, Selection("hook")) == []


def test_state_of_queue_without_messages_is_deleted(database: Database, clock: FixedClock) -> None:
    with_tenant(database, clock)
    queued(database, clock), queued(database, clock)
    settle(database, clock, DOWN)
    clean(database, clock.now())
    assert queue_row(database)
    clock.advance(seconds=RETRY_PERIOD.total_seconds() + 4 * 3600)
    clean(database, clock.now())
    clean(database, clock.now())
    assert queue_row(database) is None


def test_deletion_of_account_erases_what_was_sent(database: Database, clock: FixedClock) -> None:
    sent, dead = (queued(database, clock, order_key="ada") for _ in range(2))
    other = queued(database, clock, order_key="bob")
    for error in (None, None, None):
        settle(database, clock, error)
    in_tenant(database, lambda work: removal.delete_account_rows(work, "ada"))
    contents = [(row(database, item).sealed, row(database, item).sealed_answer) for item in (sent, dead)]
    assert contents == [(None, None)] * 2
    assert row(database, other).sealed_answer
    now = clock.now()
    assert not in_tenant(database, lambda work: delivery_log.replay_delivery(work, "hook", sent, now))
    assert in_tenant(
        database, lambda work: delivery_log.replay_deliveries(work, Selection("hook", "sent"), now)
    ) == Replay(1)


@pytest.mark.parametrize("error", [None, GONE])
def test_waiting_message_of_deleted_account_is_erased_after(
    database: Database, clock: FixedClock, error: DeliveryError | None
) -> None:
    message_id = queued(database, clock, order_key="ada")
    in_tenant(database, lambda work: removal.delete_account_rows(work, "ada"))
    assert decrypt_payload(VAULT, row(database, message_id)) == {"body": "{}"}
    settle(database, clock, error)
    left = row(database, message_id)
    assert (left.sealed, left.sealed_answer) == (None, None)
    assert claims.replay(database, clock.now()) == 0


def test_last_message_of_account_is_erased_after_delivery(database: Database, clock: FixedClock) -> None:
    def post(work: UnitOfWork) -> str:
        delivery = QueuedDelivery("hook", "ada", "DeleteAccount", erase_when_done=True)
        return Outbox(work, clock, VAULT).post("webhook", {"body": "{}"}, delivery=delivery)

    message_id = in_tenant(database, post)
    settle(database, clock)
    assert row(database, message_id).sealed is None


def test_reencryption_covers_payloads_and_answers(database: Database, clock: FixedClock) -> None:
    sent, erased = queued(database, clock), queued(database, clock, order_key="ada")
    settle(database, clock), settle(database, clock)
    in_tenant(database, lambda work: removal.delete_account_rows(work, "ada"))
    assert [claims.reencrypt(database, ROTATED) for _ in range(2)] == [1, 0]
    only_new = Encryption((b"1" * 32,))
    left = row(database, sent)
    assert (decrypt_payload(only_new, left), decrypt_answer(only_new, left)) == ({"body": "{}"}, {"Body": "thanks"})
    assert row(database, erased).sealed is None
    assert claims.reencrypt(database, VAULT, is_clear_only=True) == 0


def test_metrics_count_paused_and_full_queues(database: Database, clock: FixedClock) -> None:
    posted_hourly(database, clock, 3)
    queue_limits.mark_full(database, 2)
    queued(database, clock, "another", tenant="globex")
    settle(database, clock, DOWN)
    *_, queues = OutboxMetrics(database, clock).collect()
    assert {sample.labels["state"]: sample.value for sample in queues.samples} == {"paused": 1, "full": 1}
