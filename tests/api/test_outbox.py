"""The outbox: what a transaction posts is delivered at least once, put off when it cannot be, and kept when it never can."""

import threading
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select
from sqlalchemy.exc import IntegrityError

from app.identity.directory.tenants import changes
from app.identity.entry.cleaning import BATCH, EVERY, TENANTS_A_TURN, Cleaner, clean
from app.identity.entry.tables import metadata
from app.identity.platform.outbox import claims
from app.identity.platform.outbox.lanes import LANES, MAIL, Lane
from app.identity.platform.outbox.metrics import OutboxMetrics
from app.identity.platform.outbox.queue import Outbox, said_in
from app.identity.platform.store.database import Database
from app.identity.platform.store.unit import UnitOfWork
from app.kit.clock import FixedClock
from tests.support.posting import VAULT, posted, row, worker
from tests.support.smtp_server import Mailbox, certificate, mailbox

outbox, codes = metadata.tables["outbox"], metadata.tables["codes"]


@pytest.fixture
def database(own_database: Database) -> Database:
    return own_database


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock()


@pytest.fixture
def post() -> Iterator[Mailbox]:
    with mailbox() as server:
        yield server


def test_a_mail_arrives_as_it_was_posted(database: Database, clock: FixedClock, post: Mailbox) -> None:
    message_id = posted(database, clock, html="<p>Your code is 123456</p>", language="de")
    posted(database, clock, tenant="globex", to="bob@example.com")
    assert worker(database, clock, f"smtp://127.0.0.1:{post.port}").deliver_due() == 2
    assert {mail["To"] for mail in post.mails} == {"ada@example.com", "bob@example.com"}
    mail = next(mail for mail in post.mails if mail["To"] == "ada@example.com")
    assert (mail["Subject"], mail["From"], mail["Content-Language"]) == ("Grüße", "Acme <door@id.example.com>", "de")
    assert mail["Message-ID"] == f"<{message_id}@id.example.com>"
    assert [part.get_content_type() for part in mail.iter_parts()] == ["text/plain", "text/html"]


def test_what_was_sent_is_forgotten_and_not_sent_again(database: Database, clock: FixedClock, post: Mailbox) -> None:
    message_id = posted(database, clock)
    at_work = worker(database, clock, f"smtp://127.0.0.1:{post.port}")
    at_work.deliver_due()
    clock.advance(days=1)
    assert at_work.deliver_due() == 0
    left = row(database, message_id)
    assert (left.state, left.payload, left.sealed) == ("sent", {}, None)


def test_the_development_inbox_keeps_what_was_said(database: Database, clock: FixedClock) -> None:
    message_id = posted(database, clock)
    worker(database, clock).deliver_due()
    kept = row(database, message_id)
    assert (kept.state, said_in(VAULT, kept)["text"]) == ("sent", "Your code is 123456")


def test_a_posting_that_is_rolled_back_never_leaves(database: Database, clock: FixedClock) -> None:
    work = UnitOfWork(database, "acme")
    Outbox(work, clock, VAULT).post("mail", {})
    work.rollback()
    assert worker(database, clock).deliver_due() == 0


def test_a_server_that_is_gone_puts_a_mail_off_for_longer_each_time(
    database: Database, clock: FixedClock, post: Mailbox
) -> None:
    message_id = posted(database, clock)
    away = worker(database, clock, "smtp://127.0.0.1:9")
    assert away.deliver_due() == 1
    first = row(database, message_id)
    assert (first.state, first.attempts, first.due_at - clock.now()) == ("waiting", 1, timedelta(seconds=15))
    assert "Connection" in first.last_problem
    assert away.deliver_due() == 0
    clock.advance(seconds=15)
    assert away.deliver_due() == 1
    assert row(database, message_id).due_at - clock.now() == timedelta(seconds=30)
    clock.advance(seconds=30)
    worker(database, clock, f"smtp://127.0.0.1:{post.port}").deliver_due()
    assert len(post.mails) == 1


def test_a_passing_refusal_is_tried_again_and_a_lasting_one_is_not(
    database: Database, clock: FixedClock, post: Mailbox
) -> None:
    message_id = posted(database, clock)
    at_work = worker(database, clock, f"smtp://127.0.0.1:{post.port}")
    post.refusals = ["450 later", "550 nobody here"]
    at_work.deliver_due()
    assert row(database, message_id).state == "waiting"
    clock.advance(seconds=15)
    at_work.deliver_due()
    assert (row(database, message_id).state, row(database, message_id).last_problem) == ("dead", "550 nobody here")


def test_a_message_that_always_fails_becomes_a_dead_letter_that_can_be_replayed(
    database: Database, clock: FixedClock, post: Mailbox
) -> None:
    message_id = posted(database, clock)
    away = worker(database, clock, "smtp://127.0.0.1:9")
    for _ in range(claims.MOST_ATTEMPTS):
        away.deliver_due()
        clock.advance(hours=2)
    assert [dead.message_id for dead in claims.listed(database, "dead")] == [message_id]
    assert claims.replay(database, clock.now(), "another") == 0
    assert claims.replay(database, clock.now(), message_id) == 1
    worker(database, clock, f"smtp://127.0.0.1:{post.port}").deliver_due()
    assert len(post.mails) == 1


@pytest.mark.parametrize(
    "wrong", [{"subject": "x\r\nBcc: eve@example.com"}, {"to": "a@b, eve@example.com"}, {"to": "x\r\nBcc: e@e"}]
)
def test_a_header_cannot_be_smuggled_in(
    database: Database, clock: FixedClock, post: Mailbox, wrong: dict[str, str]
) -> None:
    message_id = posted(database, clock, **wrong)
    worker(database, clock, f"smtp://127.0.0.1:{post.port}").deliver_due()
    assert (post.mails, row(database, message_id).state) == ([], "dead")


def test_a_kind_that_nobody_delivers_is_a_dead_letter(database: Database, clock: FixedClock) -> None:
    message_id = posted(database, clock, kind="pigeon")
    worker(database, clock).deliver_due()
    assert (row(database, message_id).state, row(database, message_id).last_problem) == ("dead", "no sender for pigeon")


def test_a_claimed_message_is_nobody_else_s_until_its_lease_is_over(database: Database, clock: FixedClock) -> None:
    posted(database, clock)
    assert claims.claim(database, clock.now(), MAIL)
    assert claims.claim(database, clock.now(), MAIL) is None
    clock.advance(seconds=claims.LEASE.total_seconds())
    assert claims.claim(database, clock.now(), MAIL)


def test_a_renewed_lease_lasts_on_and_a_lost_one_is_told(database: Database, clock: FixedClock) -> None:
    kept, lost = posted(database, clock), posted(database, clock, tenant="globex")
    held = [found for _ in range(2) if (found := claims.claim(database, clock.now(), MAIL, after="a"))]
    assert {one.message_id for one in held} == {kept, lost}
    change_attempts(database, lost, "globex")
    until = clock.now() + 3 * claims.LEASE
    assert [one.message_id for one in claims.renew(database, held, until)] == [lost]
    assert row(database, kept).due_at == until


def test_a_released_message_is_due_at_once_and_costs_no_attempt(database: Database, clock: FixedClock) -> None:
    message_id = posted(database, clock)
    held = claims.claim(database, clock.now(), MAIL)
    assert held
    claims.release(database, held, clock.now())
    assert (row(database, message_id).attempts, row(database, message_id).due_at) == (0, clock.now())


def test_two_workers_never_take_the_same_message(database: Database, clock: FixedClock) -> None:
    ids = {posted(database, clock) for _ in range(40)}
    taken: list[str] = []

    def work() -> None:
        while message := claims.claim(database, clock.now(), MAIL):
            taken.append(message.message_id)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(taken) == sorted(ids)


def test_tenants_take_turns_however_much_waits_of_one(database: Database, clock: FixedClock) -> None:
    for _ in range(30):
        posted(database, clock, tenant="flood")
    for tenant in ("acme", "globex"):
        clock.advance(seconds=1)
        posted(database, clock, tenant=tenant)
        posted(database, clock, tenant=tenant)
    order, last = [], ""
    while message := claims.claim(database, clock.now(), MAIL, after=last):
        last = message.tenant_id
        order.append(last)
    assert order[:6] == ["acme", "flood", "globex"] * 2
    assert set(order[6:]) == {"flood"}


def test_a_tenant_that_is_busy_is_passed_over(database: Database, clock: FixedClock) -> None:
    posted(database, clock, tenant="flood")
    assert claims.claim(database, clock.now(), MAIL, without=["flood"]) is None
    posted(database, clock, tenant="globex")
    found = claims.claim(database, clock.now(), MAIL, without=["flood"])
    assert found
    assert found.tenant_id == "globex"


def test_a_lane_gives_its_own_kinds_alone(database: Database, clock: FixedClock) -> None:
    for kind in ("mail", "sms", "push", "push_platform", "pigeon"):
        posted(database, clock, kind=kind)
    given = {lane.name: kinds_of(database, clock, lane) for lane in LANES}
    assert given == {"mail": {"mail"}, "sms": {"sms"}, "push": {"push", "push_platform"}, "other": {"pigeon"}}


def kinds_of(database: Database, clock: FixedClock, lane: Lane) -> set[str]:
    """Take all of a lane."""
    found = set()
    while message := claims.claim(database, clock.now(), lane):
        found.add(message.kind)
    return found


def change_attempts(database: Database, message_id: str, tenant: str) -> None:
    """What another worker's claim does to a row."""
    work = UnitOfWork(database, tenant)
    work.run(outbox.update().where(outbox.c.tenant_id == tenant, outbox.c.message_id == message_id).values(attempts=9))
    work.commit()


def test_a_worker_that_lost_its_lease_settles_nothing(database: Database, clock: FixedClock) -> None:
    message_id = posted(database, clock)
    late = claims.claim(database, clock.now(), MAIL)
    assert late
    clock.advance(seconds=claims.LEASE.total_seconds())
    claims.claim(database, clock.now(), MAIL)
    claims.settle_failed(database, late, clock.now(), "late", is_final=True)
    assert row(database, message_id).state == "waiting"


def test_a_worker_stops_when_told(database: Database, clock: FixedClock) -> None:
    message_id = posted(database, clock)
    stop = threading.Event()
    thread = threading.Thread(target=worker(database, clock).run, args=(stop,))
    thread.start()
    while row(database, message_id).state != "sent":
        assert thread.is_alive()
    stop.set()
    thread.join(timeout=20)
    assert not thread.is_alive()


def test_a_password_is_shown_over_tls_alone(
    database: Database, clock: FixedClock, tmp_path: Path, monkeypatch: Any
) -> None:
    tls, trusted = certificate(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", str(trusted))
    with mailbox(tls, login="door:s3cret") as server:
        posted(database, clock)
        worker(database, clock, f"smtp://door:s3cret@localhost:{server.port}").deliver_due()
        assert server.was_encrypted == [True]
    with mailbox(login="door:s3cret") as plain:
        message_id = posted(database, clock)
        worker(database, clock, f"smtp://door:s3cret@localhost:{plain.port}").deliver_due()
        assert (plain.mails, row(database, message_id).state) == ([], "waiting")


def test_a_server_whose_certificate_nobody_vouches_for_gets_nothing(
    database: Database, clock: FixedClock, tmp_path: Path
) -> None:
    tls, _ = certificate(tmp_path)
    with mailbox(tls) as server:
        message_id = posted(database, clock)
        worker(database, clock, f"smtp://localhost:{server.port}").deliver_due()
        assert (server.mails, "CERTIFICATE" in row(database, message_id).last_problem) == ([], True)


def test_the_outbox_is_measured(database: Database, clock: FixedClock) -> None:
    posted(database, clock)
    posted(database, clock, tenant="globex", kind="pigeon")
    worker(database, clock).deliver_due()
    posted(database, clock)
    clock.advance(seconds=90)
    counts, ages = OutboxMetrics(database, clock).collect()
    seen = {(one.labels["state"], one.labels["lane"]): one.value for one in counts.samples if one.value}
    assert seen == {("waiting", "mail"): 1, ("dead", "other"): 1}
    oldest = {one.labels["lane"]: one.value for one in ages.samples}
    assert oldest == {"mail": 90, "sms": 0, "push": 0, "other": 0}


def test_an_error_of_the_store_tells_no_secret(database: Database, clock: FixedClock) -> None:
    row = {
        "tenant_id": "acme",
        "message_id": "m",
        "kind": "mail",
        "payload": {"text": "S3CRET"},
        "due_at": clock.now(),
        "created_at": clock.now(),
    }
    work = UnitOfWork(database, "acme")
    work.run(outbox.insert().values(**row))
    with pytest.raises(IntegrityError) as problem:
        work.run(outbox.insert().values(**row))
    work.rollback()
    assert "S3CRET" not in str(problem.value)


def test_cleaning_removes_what_is_over_in_every_tenant_and_nothing_else(database: Database, clock: FixedClock) -> None:
    for tenant in ("acme", "globex"):
        work = UnitOfWork(database, tenant)
        changes.add(work, tenant, api_key=tenant, api_secret=b"", settings={}, brand={}, now=clock.now())
        for number in range(BATCH + 7):
            work.run(codes.insert().values(**code(tenant, f"old{number}", clock)))
        work.run(
            codes.insert().values(**{**code(tenant, "live", clock), "expires_at": clock.now() + timedelta(days=9)})
        )
        work.commit()
    clock.advance(days=1)
    assert clean(database, clock.now()) == 2 * (BATCH + 7)
    assert clean(database, clock.now()) == 0
    work = UnitOfWork(database, "acme")
    assert [left.code_hash for left in work.all(select(codes).where(codes.c.tenant_id == "acme"))] == ["live"]
    work.rollback()


def test_many_tenants_are_cleaned_in_turns_and_every_one_in_a_round(database: Database, clock: FixedClock) -> None:
    tenants = [f"t{number:03}" for number in range(2 * TENANTS_A_TURN + 3)]
    for tenant in tenants:
        work = UnitOfWork(database, tenant)
        changes.add(work, tenant, api_key=tenant, api_secret=b"", settings={}, brand={}, now=clock.now())
        work.run(codes.insert().values(**code(tenant, "old", clock)))
        work.commit()
    clock.advance(days=1)
    cleaner = Cleaner(database)
    assert [cleaner.turn(clock.now()) for _ in range(4)] == [TENANTS_A_TURN, TENANTS_A_TURN, 3, 0]
    work = UnitOfWork(database, tenants[-1])
    work.run(codes.insert().values(**code(tenants[-1], "old", clock)))
    work.commit()
    clock.advance(seconds=EVERY.total_seconds() + 3 * 3600)
    assert sum(cleaner.turn(clock.now()) for _ in range(3)) == 1


def code(tenant: str, name: str, clock: FixedClock) -> dict[str, object]:
    times = {"issued_at": clock.now(), "expires_at": clock.now()}
    return {
        "tenant_id": tenant,
        "code_hash": name,
        "client_id": "shop",
        "uid": "u",
        "family_id": "f",
        "request": {},
        **times,
    }
