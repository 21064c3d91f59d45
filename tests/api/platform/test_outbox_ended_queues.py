"""The end of a queue, such as that of a deleted webhook: its messages become dead letters a thousand at once, none is forgotten."""

import threading
from datetime import timedelta

import pytest

from app.identity.platform.outbox import queue_claims, queue_outcomes
from app.identity.platform.outbox.claims import ClaimedMessage
from app.identity.platform.outbox.lanes import WEBHOOK
from app.identity.platform.outbox.sender import DeliveryError, Receipt
from app.identity.platform.store import removal
from app.identity.platform.store.database import Database
from app.identity.platform.store.unit_of_work import UnitOfWork
from app.kit.clock import FixedClock
from tests.support.tenants.posting import VAULT, queued, row

ENDED = DeliveryError("the webhook was deleted", ends_queue=True)
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


def fail(database: Database, clock: FixedClock, error: DeliveryError = ENDED) -> bool:
    """Claim a message and let it fail; return whether there was one."""
    if (message := claimed(database, clock)) is None:
        return False
    queue_outcomes.settle_failed(database, VAULT, message, clock.now(), error, is_paused=False)
    return True


def posted(database: Database, clock: FixedClock, *keys: str | None) -> list[str]:
    ids = []
    for key in keys:
        ids.append(queued(database, clock, order_key=key))
        clock.advance(microseconds=1)
    return ids


def states(database: Database, ids: list[str]) -> set[tuple[str, str | None]]:
    return {(item.state, item.last_problem) for item in (row(database, message_id) for message_id in ids)}


DEAD = {("dead", "the webhook was deleted")}


def test_all_messages_that_wait_end_with_one(database: Database, clock: FixedClock) -> None:
    put_off = posted(database, clock, "ada")
    fail(database, clock, REFUSED)
    ids = posted(database, clock, "ada", "ada", "bob", None)
    others = [queued(database, clock, "other"), queued(database, clock, tenant="globex")]
    assert fail(database, clock)
    assert states(database, [*put_off, *ids]) == DEAD
    assert sorted(row(database, message_id).attempts for message_id in ids) == [0, 0, 0, 1]
    assert {row(database, others[0]).state, row(database, others[1], "globex").state} == {"waiting"}


def test_message_being_sent_is_settled_by_its_worker(database: Database, clock: FixedClock) -> None:
    first, later = posted(database, clock, "ada", "ada")
    message = claimed(database, clock)
    assert message
    posted(database, clock, "bob")
    assert fail(database, clock)
    assert (states(database, [first]), states(database, [later])) == ({("waiting", None)}, DEAD)
    queue_outcomes.settle_sent(database, VAULT, message, clock.now(), Receipt(200))
    assert row(database, first).state == "sent"


def test_long_queue_ends_in_few_claims(database: Database, clock: FixedClock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queue_outcomes, "ENDED_AT_ONCE", 10)
    ids = posted(database, clock, *(f"account-{number % 3}" for number in range(32)))
    claims = 0
    while fail(database, clock):
        claims += 1
    assert (claims, states(database, ids)) == (3, DEAD)


def test_content_about_a_deleted_account_is_erased(database: Database, clock: FixedClock) -> None:
    ids = posted(database, clock, "bob", "ada")
    work = UnitOfWork(database, "acme")
    removal.delete_account_rows(work, "ada")
    work.commit()
    assert fail(database, clock)
    assert [row(database, message_id).sealed is None for message_id in ids] == [False, True]


def test_no_message_stays_held_back_behind_ended_ones(
    database: Database, clock: FixedClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Workers end the queue, others hold messages back, and events still arrive, all at once."""
    monkeypatch.setattr(queue_outcomes, "ENDED_AT_ONCE", 3)
    is_posted = threading.Event()
    ids = posted(database, clock, *["ada"] * 10)

    def post() -> None:
        for number in range(40):
            ids.extend(posted(database, clock, "ada" if number % 4 else "bob"))
        is_posted.set()

    def end() -> None:
        while not is_posted.is_set():
            fail(database, clock)

    threads = [threading.Thread(target=run) for run in (post, end, end, end)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    while fail(database, clock):
        pass
    assert states(database, ids) == DEAD
