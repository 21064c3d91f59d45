"""Outbox payloads are encrypted, each bound to its row (decision 0081)."""

from collections.abc import Iterator
from typing import Any

import pytest

from app.commands.serving import prepare_database
from app.identity.platform.encryption import Encryption
from app.identity.platform.outbox import claims
from app.identity.platform.outbox.lanes import lane_of
from app.identity.platform.outbox.outbox import decrypt_payload, outbox
from app.identity.platform.store.database import Database
from app.identity.platform.store.unit_of_work import UnitOfWork
from app.kit.clock import FixedClock, SystemClock
from app.settings import Settings
from tests.support.fakes.smtp_server import Mailbox, mailbox
from tests.support.tenants.posting import SECRET, VAULT, posted, row, worker

OTHER_SECRET = b"1" * 32
ROTATED = Encryption((OTHER_SECRET, SECRET))
NO_KEY = claims.UNKNOWN_KEY
MISPLACED = "it cannot be opened: the value was encrypted for another row, or was changed"


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock()


@pytest.fixture
def post() -> Iterator[Mailbox]:
    with mailbox() as server:
        yield server


def change(database: Database, message_id: str, **columns: Any) -> None:
    """Change a row of acme as an attacker with the database but without the secret could."""
    work = UnitOfWork(database, "acme")
    work.run(outbox.update().where(outbox.c.tenant_id == "acme", outbox.c.message_id == message_id).values(**columns))
    work.commit()


@pytest.mark.parametrize("of", ["acme", "globex"])
def test_payload_of_another_row_becomes_dead_letter(
    own_database: Database, clock: FixedClock, post: Mailbox, of: str
) -> None:
    foreign = posted(own_database, clock, tenant=of, to="bob@example.com")
    own = posted(own_database, clock, to="eve@example.com")
    change(own_database, own, sealed=row(own_database, foreign, of).sealed)
    worker(own_database, clock, f"smtp://127.0.0.1:{post.port}").deliver_due()
    assert [mail["To"] for mail in post.mails] == ["bob@example.com"]
    assert (row(own_database, own).state, row(own_database, own).last_problem) == ("dead", MISPLACED)


@pytest.mark.both_databases
def test_changed_payload_or_kind_becomes_dead_letter(own_database: Database, clock: FixedClock, post: Mailbox) -> None:
    other_kind, changed, short = (posted(own_database, clock) for _ in range(3))
    sealed = row(own_database, changed).sealed
    change(own_database, other_kind, kind="sms")
    change(own_database, changed, sealed=sealed[:-1] + bytes([sealed[-1] ^ 1]))
    change(own_database, short, sealed=sealed[:15])
    worker(own_database, clock, f"smtp://127.0.0.1:{post.port}").deliver_due()
    assert post.mails == []
    assert {row(own_database, item).last_problem for item in (other_kind, changed, short)} == {MISPLACED}
    assert {row(own_database, item).state for item in (other_kind, changed, short)} == {"dead"}


def test_worker_without_key_leaves_mail_to_worker_with_it(
    own_database: Database, clock: FixedClock, post: Mailbox
) -> None:
    message_id, url = posted(own_database, clock), f"smtp://127.0.0.1:{post.port}"
    worker(own_database, clock, url, OTHER_SECRET).deliver_due()
    assert (row(own_database, message_id).state, row(own_database, message_id).last_problem) == ("waiting", NO_KEY)
    clock.advance(seconds=15)
    worker(own_database, clock, url, OTHER_SECRET, SECRET).deliver_due()
    assert len(post.mails) == 1


def test_mail_with_unknown_key_is_retried_and_never_dead(
    own_database: Database, clock: FixedClock, post: Mailbox
) -> None:
    message_id, url = posted(own_database, clock), f"smtp://127.0.0.1:{post.port}"
    without_key = worker(own_database, clock, url, OTHER_SECRET)
    for _ in range(30):
        assert without_key.deliver_due() == 1
        clock.advance(seconds=60)
    assert row(own_database, message_id).state == "waiting"
    post.refusals = ["450 come again"] * 5  # a busy server still gets its attempts
    with_key = worker(own_database, clock, url, OTHER_SECRET, SECRET)
    for _ in range(6):
        with_key.deliver_due()
        clock.advance(minutes=90)
    assert len(post.mails) == 1


@pytest.mark.both_databases
def test_start_makes_mails_that_lacked_a_key_due(own_database: Database, clock: FixedClock, post: Mailbox) -> None:
    posted(own_database, clock)
    url = f"smtp://127.0.0.1:{post.port}"
    now = FixedClock(SystemClock().now())  # a start uses the system clock
    worker(own_database, now, url, OTHER_SECRET).deliver_due()
    prepare_database(Settings(database_url=own_database.url, secrets=(SECRET, OTHER_SECRET)))
    now.advance(seconds=5)
    worker(own_database, now, url, SECRET, OTHER_SECRET).deliver_due()
    assert len(post.mails) == 1


def test_start_leaves_claimed_message_leased(own_database: Database, clock: FixedClock) -> None:
    """A message lacked a key at the first attempt; a worker that knows the key is sending it now."""
    message_id = posted(own_database, clock)
    worker(own_database, clock, "smtp://127.0.0.1:9", OTHER_SECRET).deliver_due()
    clock.advance(seconds=15)
    assert claims.claim(own_database, clock.now(), lane_of("mail"))
    assert claims.retry_unknown_key(own_database, clock.now()) == 0
    assert row(own_database, message_id).due_at == clock.now() + claims.LEASE


def test_start_with_new_first_secret_keeps_older_encryption(
    own_database: Database, clock: FixedClock, post: Mailbox
) -> None:
    posted(own_database, clock)
    prepare_database(Settings(database_url=own_database.url, secrets=(OTHER_SECRET, SECRET)))
    worker(own_database, clock, f"smtp://127.0.0.1:{post.port}", SECRET).deliver_due()
    assert len(post.mails) == 1


def test_reencryption_covers_waiting_and_dead_messages(
    own_database: Database, clock: FixedClock, post: Mailbox
) -> None:
    url = f"smtp://127.0.0.1:{post.port}"
    dead, misplaced = posted(own_database, clock, to="bob@example.com"), posted(own_database, clock)
    post.refusals = ["550 nobody here"] * 2
    worker(own_database, clock, url).deliver_due()
    change(
        own_database, misplaced, sealed=row(own_database, dead).sealed
    )  # no secret decrypts it; the rest is not affected
    posted(own_database, clock, tenant="globex")
    assert [claims.reencrypt(own_database, ROTATED) for _ in range(2)] == [2, 0]
    claims.replay(own_database, clock.now(), dead)
    worker(own_database, clock, url, OTHER_SECRET).deliver_due()
    assert {mail["To"] for mail in post.mails} == {"ada@example.com", "bob@example.com"}


def test_reencryption_covers_more_than_one_page(own_database: Database, clock: FixedClock, post: Mailbox) -> None:
    ids = [posted(own_database, clock, tenant=("acme", "globex")[number % 2]) for number in range(230)]
    assert claims.reencrypt(own_database, ROTATED) == len(ids)
    delivery = worker(own_database, clock, f"smtp://127.0.0.1:{post.port}", OTHER_SECRET)
    while delivery.deliver_due():
        pass
    assert len(post.mails) == len(ids)


@pytest.mark.both_databases
def test_start_encrypts_clear_text_of_older_versions(own_database: Database, clock: FixedClock) -> None:
    waiting, dead = posted(own_database, clock), posted(own_database, clock)
    payload = {"to": "ada@example.com", "subject": "Hello", "text": "Your code is 123456"}
    change(own_database, waiting, sealed=None, payload=payload)
    change(own_database, dead, sealed=None, payload=payload, state="dead")
    prepare_database(Settings(database_url=own_database.url, secrets=(SECRET,)))
    for message_id in (waiting, dead):
        left = row(own_database, message_id)
        assert ("123456" in str(left), decrypt_payload(VAULT, left)) == (False, payload)


@pytest.mark.parametrize("address", ["https://id.example.com/verify?vtoken=", "https://id.example.com/v/"])
def test_stored_rejection_contains_no_link_token_or_code(
    own_database: Database, clock: FixedClock, post: Mailbox, address: str
) -> None:
    link = f"{address}A-token_of43letters" + "x" * 24
    message_id = posted(own_database, clock, text=f"{link} or 482913")
    post.refusals = [f"550 5.7.1 spam: {link} or 482913 (see 81126)"]
    worker(own_database, clock, f"smtp://127.0.0.1:{post.port}").deliver_due()
    stored = f"550 5.7.1 spam: {address}*** or *** (see 81126)"
    assert row(own_database, message_id).last_problem == stored
