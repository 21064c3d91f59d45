"""Deliveries survive failing receivers, killed workers and database outages: nothing is lost, and each account's order is kept.

Runs against separate processes on both databases, with receivers over HTTPS.
"""

from __future__ import annotations

import itertools
import json
import signal
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from statistics import median
from typing import Any

import pytest
from sqlalchemy import select, update

from app.identity.platform.encryption import Encryption
from app.identity.platform.outbox import all_tenants
from app.identity.platform.outbox.outbox import HELD, Outbox, QueuedDelivery, outbox, outbox_queues
from app.identity.platform.store.database import Database
from app.identity.platform.store.unit_of_work import UnitOfWork
from app.kit.clock import SystemClock
from tests.support.fakes.https_receiver import HttpsReceiver, answering, authority, https_receiver
from tests.support.processes.installation import Installation, eventually, installed, migrated
from tests.support.services.servers import Postgres, end
from tests.support.tenants.tenant_server import MANAGE

pytestmark = pytest.mark.both_databases("first")

ACCOUNTS, CHANGES = 4, 6
BACKLOG = 2_000
MAX_AT_DEAD_TARGET = 10
"""Three at once, and then one in each pause, which is longer each time."""
BURSTS = (500, 200, 200, 500, 500, 503, 200, 0, 200, 200, -1, 200, 200, 429, 200, 404, 200, 200)
"""What a failing receiver answers in turn; 0: it closes the connection without an answer, -1: in the middle of one."""
HANGING = 2
"""Requests that it takes first, and never answers."""


@contextmanager
def with_receiver(ours: Installation) -> Iterator[Installation]:
    """Start the installation, which trusts the receivers' certificates."""
    trusted = ours.folder / "authority.pem"
    trusted.write_text(authority().pem)
    ours.environ["SSL_CERT_FILE"] = str(trusted)
    ours.tenant(email_verification="optional")
    ours.start()
    yield ours


@pytest.fixture(params=["sqlite", "postgres"])
def ours(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Installation]:
    urls = request.getfixturevalue("copied_postgres") if request.param == "postgres" else None
    with installed(tmp_path, urls) as made, with_receiver(made) as started:
        yield started


@pytest.fixture
def receiver() -> Iterator[HttpsReceiver]:
    with https_receiver() as made:
        yield made


@pytest.fixture
def dead() -> Iterator[HttpsReceiver]:
    """A receiver that takes each request and never answers."""
    with https_receiver() as made:
        made.hangs()
        yield made


@pytest.fixture
def database(ours: Installation) -> Iterator[Database]:
    with opened(ours) as made:
        yield made


@contextmanager
def opened(ours: Installation) -> Iterator[Database]:
    """Give the installation's database, opened by the test itself."""
    made = Database(ours.settings.database, pool_size=2)
    yield made
    made.dispose()


def subscribe(ours: Installation, url: str) -> str:
    """Create a webhook of each change of an account; return its id."""
    response = ours.send(
        "POST", "/v2/manage/webhook", {"Event": "UpdateProfile", "TargetUrl": url, "Name": "faults"}, with_secret=True
    )
    assert response.status_code == 200, response.text
    return str(response.json()["Id"])


def accounts(ours: Installation, count: int = ACCOUNTS) -> list[str]:
    uids = []
    for number in range(count):
        email = [{"Type": "Primary", "Value": f"person-{number}@example.test"}]
        response = ours.send("POST", MANAGE, {"Email": email, "Password": "Zebra-kettle-91"}, with_secret=True)
        assert response.status_code == 200, response.text
        uids.append(response.json()["Uid"])
    return uids


def change(ours: Installation, uids: Sequence[str], changes: int = CHANGES) -> None:
    """Change each account several times, one change after the other; the accounts beside each other."""
    statuses: list[int] = []

    def change_one(uid: str) -> None:
        for number in range(changes):
            response = ours.send("PUT", f"{MANAGE}/{uid}", {"LastName": str(number)}, with_secret=True)
            statuses.append(response.status_code)

    threads = [threading.Thread(target=change_one, args=(uid,)) for uid in uids]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert statuses == [200] * (len(uids) * changes)


def states(database: Database, event: str = "UpdateProfile") -> Counter[str]:
    """Count the deliveries of an event in each state."""
    work = UnitOfWork(database, all_tenants.EXEMPT)
    try:
        return Counter(row.state for row in work.all(select(outbox.c.state).where(outbox.c.event == event)))
    finally:
        work.rollback()


def end_waits(database: Database) -> None:
    """Make due now what waits after a failure, and what a killed worker had claimed; other tests check how long that takes."""
    now = datetime.now(UTC)
    work = UnitOfWork(database, all_tenants.EXEMPT)
    try:
        waits = (
            outbox.c.queue.is_not(None),
            outbox.c.state == "waiting",
            outbox.c.due_at.between(now, HELD - timedelta(1)),
        )
        work.run(update(outbox).where(*waits).values(due_at=now))
        work.commit()
    finally:
        work.rollback()
    for tenant_id in tenants_with_pauses(database):
        with UnitOfWork(database, tenant_id).separate_transaction() as tenant_work:
            paused = (outbox_queues.c.tenant_id == tenant_id, outbox_queues.c.paused_until > now)
            tenant_work.run(update(outbox_queues).where(*paused).values(paused_until=now))


def tenants_with_pauses(database: Database) -> set[str]:
    work = UnitOfWork(database, all_tenants.EXEMPT)
    try:
        return {row.tenant_id for row in work.all(select(outbox_queues.c.tenant_id))}
    finally:
        work.rollback()


def deliver_all(database: Database, count: int = ACCOUNTS * CHANGES) -> None:
    def is_done() -> bool:
        end_waits(database)
        return states(database) == {"sent": count}

    eventually(is_done, "every delivery arrives")


def arrivals(receiver: HttpsReceiver) -> dict[str, list[str]]:
    """Return what arrived first of each account's changes, in order; each id has one body, however often it came."""
    bodies: dict[str, bytes] = {}
    for request in list(receiver.received):
        if len(request.body) < int(request.headers["content-length"]):
            continue  # its worker was killed while it sent
        assert bodies.setdefault(request.headers["webhook-id"], request.body) == request.body
    found: dict[str, list[str]] = {}
    for message_id, body in bodies.items():
        event = json.loads(body)
        assert event["HookId"] == message_id
        if event["HookName"] == "updateprofile":
            found.setdefault(event["Data"]["Uid"], []).append(event["Data"]["LastName"])
    return found


def in_order(uids: Sequence[str], rounds: int = 1) -> dict[str, list[str]]:
    return {uid: [str(number) for number in range(CHANGES)] * rounds for uid in uids}


def report(what: str, receiver: HttpsReceiver) -> None:
    """Print how many deliveries came, and how many of them more than once."""
    tries = Counter(request.headers["webhook-id"] for request in receiver.received)
    repeated = sum(count > 1 for count in tries.values())
    print(f"\n  {what}: {len(tries)} deliveries in {tries.total()} requests, {repeated} more than once")


def delays(database: Database) -> list[float]:
    """Return how long each delivery of a change waited until its target had it, in milliseconds, the oldest first."""
    work = UnitOfWork(database, all_tenants.EXEMPT)
    try:
        columns = select(outbox.c.created_at, outbox.c.finished_at).where(outbox.c.event == "UpdateProfile")
        rows = work.all(columns.order_by(outbox.c.created_at))
    finally:
        work.rollback()
    return [(row.finished_at - row.created_at) / timedelta(milliseconds=1) for row in rows]


def fail_in_turn(receiver: HttpsReceiver) -> None:
    """Let a receiver hang first, and then fail as `BURSTS` says."""
    remaining, lock = itertools.chain([None] * HANGING, itertools.cycle(BURSTS)), threading.Lock()

    def answer(handler: BaseHTTPRequestHandler) -> None:
        with lock:
            status = next(remaining)
        if status is None:
            receiver.ended.wait(60)
        elif status < 0:
            handler.send_response(500)
            handler.send_header("Content-Length", "1000")
            handler.end_headers()
        elif status:
            answering(status, b"", {})(handler)

    receiver.answer = answer


def end_worker(ours: Installation) -> None:
    """End the process that delivers as a power cut does, and start it again."""
    end(ours.running.pop(), signal.SIGKILL)
    if ours.settings.is_sqlite:
        ours.start()  # which serves, too
    else:
        ours.run("worker")


def test_order_outlives_a_failing_receiver(
    ours: Installation, database: Database, receiver: HttpsReceiver, capsys: pytest.CaptureFixture[str]
) -> None:
    subscribe(ours, receiver.url())
    uids = accounts(ours)
    fail_in_turn(receiver)
    change(ours, uids)
    deliver_all(database)

    assert arrivals(receiver) == in_order(uids)
    assert len(receiver.received) > ACCOUNTS * CHANGES, "what failed came again"
    with capsys.disabled():
        report("a failing receiver", receiver)


class HangsAfter:
    """Answers some requests, and the others once it is released."""

    def __init__(self, count: int) -> None:
        self.hangs, self.released = threading.Event(), threading.Event()
        self._remaining = itertools.count(1)
        self._count = count

    def __call__(self, handler: BaseHTTPRequestHandler) -> None:
        if next(self._remaining) > self._count:
            self.hangs.set()
            self.released.wait(60)
        answering(200, b"", {})(handler)


def test_order_outlives_killed_workers(
    ours: Installation, database: Database, receiver: HttpsReceiver, capsys: pytest.CaptureFixture[str]
) -> None:
    subscribe(ours, receiver.url())
    uids = accounts(ours)
    receiver.answer = begun = HangsAfter(5)
    change(ours, uids)
    for _ in range(3):
        eventually(begun.hangs.is_set, "deliveries are on their way")
        former, begun = begun, HangsAfter(5)
        receiver.answer = begun
        end_worker(ours)
        former.released.set()
        end_waits(database)
    begun.released.set()
    deliver_all(database)

    assert arrivals(receiver) == in_order(uids)
    twice = Counter(request.headers["webhook-id"] for request in receiver.received)
    assert max(twice.values()) > 1, "what was on its way at a kill came again"
    with capsys.disabled():
        report("three kills", receiver)


def test_order_outlives_a_database_restart(
    tmp_path: Path, own_postgres: Postgres, receiver: HttpsReceiver, capsys: pytest.CaptureFixture[str]
) -> None:
    """The database is gone when the receiver answers, and comes back."""
    with installed(tmp_path, migrated(own_postgres.database("gatehouse"))) as made, with_receiver(made) as started:
        subscribe(started, receiver.url())
        uids = accounts(started)
        receiver.answer = begun = HangsAfter(ACCOUNTS)
        change(started, uids)
        eventually(begun.hangs.is_set, "deliveries are on their way")
        own_postgres.stop()
        begun.released.set()
        eventually(lambda: "outbox.not_settled" in (tmp_path / "log").read_text(), "the worker cannot store outcomes")
        own_postgres.start()
        with opened(started) as database:
            deliver_all(database)

    assert arrivals(receiver) == in_order(uids)
    with capsys.disabled():
        report("a restart of the database", receiver)


def post_backlog(ours: Installation, database: Database) -> None:
    """Queue thousands of deliveries of the newest webhook, as a flood of sign-ins does."""
    work = UnitOfWork(database, all_tenants.EXEMPT)
    try:
        pings = select(outbox.c.tenant_id, outbox.c.queue).where(outbox.c.event == "ping")
        ping: Any = work.all(pings.order_by(outbox.c.created_at))[-1]
    finally:
        work.rollback()
    with UnitOfWork(database, ping.tenant_id).separate_transaction() as own:
        messages = Outbox(own, SystemClock(), Encryption(ours.settings.secrets))
        for number in range(BACKLOG):
            delivery = QueuedDelivery(ping.queue, f"account-{number % 500}", "Login")
            messages.post("webhook", {"body": "{}"}, delivery=delivery)


def add_dead_target(ours: Installation, dead: HttpsReceiver, *, is_same_tenant: bool) -> None:
    """Give a webhook of a target that never answers to our tenant or to another one."""
    hooks = {"webhooks": [{"event": "Login", "target_url": dead.url()}]}
    acme = {"name": "acme", "settings": {"email_verification": "optional"}}
    if is_same_tenant:
        ours.state({**acme, **hooks})
    else:
        ours.state(acme, {"name": "slow", **hooks})


def change_and_deliver(ours: Installation, database: Database, uids: Sequence[str], rounds: int) -> None:
    change(ours, uids)
    eventually(lambda: states(database) == {"sent": rounds * ACCOUNTS * CHANGES}, "the others are delivered")


@pytest.mark.parametrize("is_same_tenant", [False, True], ids=["other", "same"])
def test_dead_target_holds_up_no_other(
    ours: Installation,
    database: Database,
    receiver: HttpsReceiver,
    dead: HttpsReceiver,
    capsys: pytest.CaptureFixture[str],
    *,
    is_same_tenant: bool,
) -> None:
    """Whatever waits for it: the deliveries of others all arrive while it has got a few of thousands."""
    subscribe(ours, receiver.url())
    uids = accounts(ours)
    change_and_deliver(ours, database, uids, rounds=1)
    add_dead_target(ours, dead, is_same_tenant=is_same_tenant)
    eventually(lambda: dead.received, "the dead target is pinged")
    post_backlog(ours, database)
    change_and_deliver(ours, database, uids, rounds=2)

    assert arrivals(receiver) == in_order(uids, rounds=2)
    assert len(dead.received) <= MAX_AT_DEAD_TARGET
    assert states(database, "Login") == {"waiting": BACKLOG}
    half = ACCOUNTS * CHANGES
    before, beside = (sorted(part) for part in (delays(database)[:half], delays(database)[half:]))
    with capsys.disabled():
        print(f"\n  delay of the others, median and longest: {median(before):.0f} and {before[-1]:.0f} ms alone,")
        print(f"  {median(beside):.0f} and {beside[-1]:.0f} ms beside a dead target with {BACKLOG} that wait for it")
