"""The outbox: messages of committed transactions are delivered at least once, retried with backoff, and kept as dead letters."""

import threading
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select
from sqlalchemy.exc import IntegrityError

from app.identity.assembly.clean_up.expired_rows import BATCH, ROUND_INTERVAL, TENANTS_PER_TURN, Cleaner, clean
from app.identity.assembly.table_modules import metadata
from app.identity.directory.tenants import tenant_writes
from app.identity.platform.outbox import claims
from app.identity.platform.outbox.lanes import LANES, MAIL, Lane
from app.identity.platform.outbox.metrics import OutboxMetrics
from app.identity.platform.outbox.outbox import Outbox, decrypt_payload
from app.identity.platform.store.database import Database
from app.identity.platform.store.unit_of_work import UnitOfWork
from app.kit.clock import FixedClock
from tests.support.fakes.smtp_server import Mailbox, certificate, mailbox
from tests.support.tenants.posting import VAULT, posted, row, worker

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


def test_mail_arrives_as_posted(database: Database, clock: FixedClock, post: Mailbox) -> None:
    message_id = posted(database, clock, html="<p>Your code is 123456</p>", language="de")
    posted(database, clock, tenant="globex", to="bob@example.com")
    assert worker(database, clock, f"smtp://127.0.0.1:{post.port}").deliver_due() == 2
    assert {mail["To"] for mail in post.mails} == {"ada@example.com", "bob@example.com"}
    mail = next(mail for mail in post.mails if mail["To"] == "ada@example.com")
    assert (mail["Subject"], mail["From"], mail["Content-Language"]) == ("Grüße", "Acme <door@id.example.com>", "de")
    assert mail["Message-ID"] == f"<{message_id}@id.example.com>"
    assert [part.get_content_type() for part in mail.iter_parts()] == ["text/plain", "text/html"]


def test_sent_mail_is_erased_and_not_sent_again(database: Database, clock: FixedClock, post: Mailbox) -> None:
    message_id = posted(database, clock)
    delivery = worker(database, clock, f"smtp://127.0.0.1:{post.port}")
    delivery.deliver_due()
    clock.advance(days=1)
    assert delivery.deliver_due() == 0
    left = row(database, message_id)
    assert (left.state, left.payload, left.sealed) == ("sent", {}, None)


def test_development_inbox_keeps_payload_of_sent_mail(database: Database, clock: FixedClock) -> None:
    message_id = posted(database, clock)
    worker(database, clock).deliver_due()
    sent = row(database, message_id)
    assert (sent.state, decrypt_payload(VAULT, sent)["text"]) == ("sent", "Your code is 123456")


def test_rolled_back_message_is_never_sent(database: Database, clock: FixedClock) -> None:
    work = UnitOfWork(database, "acme")
    Outbox(work, clock, VAULT).post("mail", {})
    work.rollback()
    assert worker(database, clock).deliver_due() == 0


def test_unreachable_server_postpones_mail_with_backoff(database: Database, clock: FixedClock, post: Mailbox) -> None:
    message_id = posted(database, clock)
    unreachable = worker(database, clock, "smtp://127.0.0.1:9")
    assert unreachable.deliver_due() == 1
    first = row(database, message_id)
    assert (first.state, first.attempts, first.due_at - clock.now()) == ("waiting", 1, timedelta(seconds=15))
    assert "Connection" in first.last_problem
    assert unreachable.deliver_due() == 0
    clock.advance(seconds=15)
    assert unreachable.deliver_due() == 1
    assert row(database, message_id).due_at - clock.now() == timedelta(seconds=30)
    clock.advance(seconds=30)
    worker(database, clock, f"smtp://127.0.0.1:{post.port}").deliver_due()
    assert len(post.mails) == 1


def test_temporary_rejection_is_retried_permanent_is_not(database: Database, clock: FixedClock, post: Mailbox) -> None:
    message_id = posted(database, clock)
    delivery = worker(database, clock, f"smtp://127.0.0.1:{post.port}")
    post.refusals = ["450 later", "550 nobody here"]
    delivery.deliver_due()
    assert row(database, message_id).state == "waiting"
    clock.advance(seconds=15)
    delivery.deliver_due()
    assert (row(database, message_id).state, row(database, message_id).last_problem) == ("dead", "550 nobody here")


@pytest.mark.both_databases
def test_last_failed_attempt_makes_replayable_dead_letter(database: Database, clock: FixedClock, post: Mailbox) -> None:
    message_id = posted(database, clock)
    unreachable = worker(database, clock, "smtp://127.0.0.1:9")
    for _ in range(claims.MAX_ATTEMPTS):
        unreachable.deliver_due()
        clock.advance(hours=2)
    assert [dead.message_id for dead in claims.list_messages(database, "dead")] == [message_id]
    assert claims.replay(database, clock.now(), "another") == 0
    assert claims.replay(database, clock.now(), message_id) == 1
    worker(database, clock, f"smtp://127.0.0.1:{post.port}").deliver_due()
    assert len(post.mails) == 1


@pytest.mark.parametrize(
    "wrong", [{"subject": "x\r\nBcc: eve@example.com"}, {"to": "a@b, eve@example.com"}, {"to": "x\r\nBcc: e@e"}]
)
def test_header_injection_is_rejected(
    database: Database, clock: FixedClock, post: Mailbox, wrong: dict[str, str]
) -> None:
    message_id = posted(database, clock, **wrong)
    worker(database, clock, f"smtp://127.0.0.1:{post.port}").deliver_due()
    assert (post.mails, row(database, message_id).state) == ([], "dead")


def test_kind_without_sender_becomes_dead_letter(database: Database, clock: FixedClock) -> None:
    message_id = posted(database, clock, kind="pigeon")
    worker(database, clock).deliver_due()
    assert (row(database, message_id).state, row(database, message_id).last_problem) == ("dead", "no sender for pigeon")


def test_claimed_message_is_exclusive_until_lease_expires(database: Database, clock: FixedClock) -> None:
    posted(database, clock)
    assert claims.claim(database, clock.now(), MAIL)
    assert claims.claim(database, clock.now(), MAIL) is None
    clock.advance(seconds=claims.LEASE.total_seconds())
    assert claims.claim(database, clock.now(), MAIL)


@pytest.mark.both_databases
def test_renewal_extends_leases_and_reports_lost_ones(database: Database, clock: FixedClock) -> None:
    renewed, lost = posted(database, clock), posted(database, clock, tenant="globex")
    claimed = [found for _ in range(2) if (found := claims.claim(database, clock.now(), MAIL, after="a"))]
    assert {number.message_id for number in claimed} == {renewed, lost}
    change_attempts(database, lost, "globex")
    until = clock.now() + 3 * claims.LEASE
    assert [item.message_id for each in claimed for item in claims.renew(database, [each], until)] == [lost]
    assert row(database, renewed).due_at == until


@pytest.mark.both_databases
def test_released_message_is_due_at_once_without_attempt(database: Database, clock: FixedClock) -> None:
    message_id = posted(database, clock)
    message = claims.claim(database, clock.now(), MAIL)
    assert message
    claims.release(database, message, clock.now())
    assert (row(database, message_id).attempts, row(database, message_id).due_at) == (0, clock.now())


@pytest.mark.both_databases
def test_concurrent_workers_never_claim_same_message(database: Database, clock: FixedClock) -> None:
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


def test_tenants_take_turns_despite_one_long_backlog(database: Database, clock: FixedClock) -> None:
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


def test_excluded_tenant_is_skipped_by_claim(database: Database, clock: FixedClock) -> None:
    posted(database, clock, tenant="flood")
    assert claims.claim(database, clock.now(), MAIL, without=["flood"]) is None
    posted(database, clock, tenant="globex")
    found = claims.claim(database, clock.now(), MAIL, without=["flood"])
    assert found
    assert found.tenant_id == "globex"


def test_lane_returns_only_its_own_kinds(database: Database, clock: FixedClock) -> None:
    for kind in ("mail", "sms", "push", "push_platform", "pigeon"):
        posted(database, clock, kind=kind)
    claimed = {lane.name: kinds_of(database, clock, lane) for lane in LANES}
    assert claimed == {
        "mail": {"mail"},
        "sms": {"sms"},
        "push": {"push", "push_platform"},
        "webhook": set(),
        "other": {"pigeon"},
    }


def kinds_of(database: Database, clock: FixedClock, lane: Lane) -> set[str]:
    """Claim all messages of a lane and return their kinds."""
    found = set()
    while message := claims.claim(database, clock.now(), lane):
        found.add(message.kind)
    return found


def change_attempts(database: Database, message_id: str, tenant: str) -> None:
    """Change the row as another worker's claim does."""
    work = UnitOfWork(database, tenant)
    work.run(outbox.update().where(outbox.c.tenant_id == tenant, outbox.c.message_id == message_id).values(attempts=9))
    work.commit()


@pytest.mark.both_databases
def test_worker_that_lost_its_lease_settles_nothing(database: Database, clock: FixedClock) -> None:
    message_id = posted(database, clock)
    expired = claims.claim(database, clock.now(), MAIL)
    assert expired
    clock.advance(seconds=claims.LEASE.total_seconds())
    claims.claim(database, clock.now(), MAIL)
    claims.settle_failed(database, expired, clock.now(), "late", is_final=True)
    assert row(database, message_id).state == "waiting"


def test_worker_stops_on_signal(database: Database, clock: FixedClock) -> None:
    message_id = posted(database, clock)
    stop = threading.Event()
    thread = threading.Thread(target=worker(database, clock).run, args=(stop,))
    thread.start()
    while row(database, message_id).state != "sent":
        assert thread.is_alive()
    stop.set()
    thread.join(timeout=20)
    assert not thread.is_alive()


def test_smtp_password_is_sent_over_tls_only(
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


def test_smtp_server_with_untrusted_certificate_gets_nothing(
    database: Database, clock: FixedClock, tmp_path: Path
) -> None:
    tls, _ = certificate(tmp_path)
    with mailbox(tls) as server:
        message_id = posted(database, clock)
        worker(database, clock, f"smtp://localhost:{server.port}").deliver_due()
        assert (server.mails, "CERTIFICATE" in row(database, message_id).last_problem) == ([], True)


@pytest.mark.both_databases
def test_outbox_metrics_report_counts_and_oldest_age(database: Database, clock: FixedClock) -> None:
    posted(database, clock)
    posted(database, clock, tenant="globex", kind="pigeon")
    worker(database, clock).deliver_due()
    posted(database, clock)
    clock.advance(seconds=90)
    counts, ages, _ = OutboxMetrics(database, clock).collect()
    counted = {
        (sample.labels["state"], sample.labels["lane"]): sample.value for sample in counts.samples if sample.value
    }
    assert counted == {("waiting", "mail"): 1, ("dead", "other"): 1}
    oldest = {sample.labels["lane"]: sample.value for sample in ages.samples}
    assert oldest == {"mail": 90, "sms": 0, "push": 0, "webhook": 0, "other": 0}


@pytest.mark.both_databases
def test_count_of_unsent_messages_is_bounded_by_kind(database: Database, clock: FixedClock) -> None:
    for kind in ("mail", "mail", "mail", "sms"):
        posted(database, clock, kind=kind)
    counted = {(row.state, row.kind): row.messages for row in claims.count_unsent(database, most=2)}
    assert counted == {("waiting", "mail"): 2, ("waiting", "sms"): 1}


@pytest.mark.both_databases
def test_integrity_error_text_contains_no_values(database: Database, clock: FixedClock) -> None:
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


@pytest.mark.both_databases
def test_cleaning_deletes_only_expired_rows_of_all_tenants(database: Database, clock: FixedClock) -> None:
    for tenant in ("acme", "globex"):
        work = UnitOfWork(database, tenant)
        tenant_writes.add(work, tenant, api_key=tenant, api_secret=b"", settings={}, brand={}, now=clock.now())
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


def test_each_cleaning_round_covers_every_tenant(database: Database, clock: FixedClock) -> None:
    tenants = [f"t{number:03}" for number in range(2 * TENANTS_PER_TURN + 3)]
    for tenant in tenants:
        work = UnitOfWork(database, tenant)
        tenant_writes.add(work, tenant, api_key=tenant, api_secret=b"", settings={}, brand={}, now=clock.now())
        work.run(codes.insert().values(**code(tenant, "old", clock)))
        work.commit()
    clock.advance(days=1)
    cleaner = Cleaner(database)
    assert [cleaner.turn(clock.now()) for _ in range(4)] == [TENANTS_PER_TURN, TENANTS_PER_TURN, 3, 0]
    work = UnitOfWork(database, tenants[-1])
    work.run(codes.insert().values(**code(tenants[-1], "old", clock)))
    work.commit()
    clock.advance(seconds=ROUND_INTERVAL.total_seconds() + 3 * 3600)
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
