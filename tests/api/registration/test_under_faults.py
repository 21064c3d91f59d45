"""Registrations survive killed processes and a mail server outage: acknowledged accounts are kept, every mail arrives.

Runs over HTTP against separate processes on both databases. GATEHOUSE_TESTS_OUTAGE_SECONDS lengthens the outage.
"""

from __future__ import annotations

import http.client
import json
import os
import threading
import time
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from sqlalchemy import select, update

from app.identity.assembly.worker import Worker
from app.identity.platform.outbox import all_tenants, claims
from app.identity.platform.outbox.outbox import outbox
from app.identity.platform.store.database import Database
from app.identity.platform.store.unit_of_work import UnitOfWork
from app.kit.clock import FixedClock
from tests.support.accounts.registering import REGISTER, primary
from tests.support.fakes.smtp_server import mailbox
from tests.support.processes.installation import Installation, eventually, installed
from tests.support.tenants.tenant_server import PASSWORD

pytestmark = pytest.mark.both_databases("first")

LOGIN, SOTT = "/identity/v2/auth/login", "/identity/v2/manage/account/sott"
REGISTRATIONS, MIN_ACKNOWLEDGED = 200, 50
OUTAGE_SECONDS = float(os.environ.get("GATEHOUSE_TESTS_OUTAGE_SECONDS", "0"))


@pytest.fixture(params=["sqlite", "postgres"])
def ours(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Installation]:
    """An installation whose accounts may sign in before their address is verified."""
    urls = request.getfixturevalue("copied_postgres") if request.param == "postgres" else None
    with installed(tmp_path, urls) as made:
        made.tenant(email_verification="optional", email_login=True)
        made.start()
        yield made


@pytest.fixture
def database(ours: Installation) -> Iterator[Database]:
    """The database of the installation, opened by the test itself."""
    made = Database(ours.settings.database, pool_size=2)
    yield made
    made.dispose()


def address(number: int) -> str:
    return f"person-{number}@example.test"


class ParallelRegistrations:
    """Registrations sent at once; `acknowledged` holds the addresses that got a success response."""

    def __init__(self, ours: Installation) -> None:
        self.acknowledged: list[str] = []
        query = {"apikey": ours.api_key, "sott": ours.send("GET", SOTT, with_secret=True).json()["Sott"]}
        self._path, self._port = f"{REGISTER}?{urlencode(query)}", ours.port
        self._barrier = threading.Barrier(REGISTRATIONS)
        self._threads = [
            threading.Thread(target=self._register, args=(address(number),)) for number in range(REGISTRATIONS)
        ]
        for thread in self._threads:
            thread.start()

    @property
    def is_done(self) -> bool:
        return not any(thread.is_alive() for thread in self._threads)

    def join(self) -> None:
        for thread in self._threads:
            thread.join()

    def _register(self, email: str) -> None:
        body = json.dumps({"Email": primary(email), "Password": PASSWORD})
        headers = {"Host": f"api.localhost:{self._port}", "Content-Type": "application/json"}
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=120)
        self._barrier.wait()
        try:
            connection.request("POST", self._path, body, headers)
            if connection.getresponse().status == 200:
                self.acknowledged.append(email)
        except (OSError, http.client.HTTPException):
            return  # not acknowledged
        finally:
            connection.close()


def register(ours: Installation, *emails: str) -> None:
    sott = ours.send("GET", SOTT, with_secret=True).json()["Sott"]
    for email in emails:
        answer = ours.send("POST", REGISTER, {"Email": primary(email), "Password": PASSWORD}, sott=sott)
        assert answer.status_code == 200, answer.text


def queued_mails(database: Database) -> list[Any]:
    """Return all mails in the outbox, delivered or not."""
    work = UnitOfWork(database, all_tenants.EXEMPT)
    try:
        return list(work.all(select(outbox).where(outbox.c.kind == "mail")))
    finally:
        work.rollback()


def deferred_mails(database: Database) -> list[Any]:
    return [row for row in queued_mails(database) if row.state == "waiting" and row.last_problem]


def end_backoff(database: Database) -> None:
    """Make the mails due now whose only attempt has failed; tests/api/platform/test_outbox.py checks the delays."""
    failed_once = (outbox.c.state == "waiting", outbox.c.attempts == 1, outbox.c.last_problem.is_not(None))
    work = UnitOfWork(database, all_tenants.EXEMPT)
    work.run(update(outbox).where(*failed_once).values(due_at=datetime.now(UTC)))
    work.commit()


def deliver_all(ours: Installation, database: Database) -> None:
    """Deliver all pending mails, as the installation does when every lease has expired."""
    clock = FixedClock(datetime.now(UTC) + 2 * claims.LEASE)
    worker = Worker(ours.settings, database, clock)
    while any(row.state == "waiting" for row in queued_mails(database)):
        worker.deliver_due()
        clock.advance(seconds=timedelta(hours=2).total_seconds())


def test_killed_processes_lose_no_acknowledged_account_or_mail(
    ours: Installation, database: Database, capsys: pytest.CaptureFixture[str]
) -> None:
    ours.mail.may_acknowledge.clear()  # the first mail is received but not acknowledged before the kill
    registrations = ParallelRegistrations(ours)
    eventually(
        lambda: (len(registrations.acknowledged) >= MIN_ACKNOWLEDGED or registrations.is_done) and ours.mail.mails,
        "registrations are acknowledged",
    )
    ours.kill()
    registrations.join()
    acknowledged = list(registrations.acknowledged)
    assert len(acknowledged) >= MIN_ACKNOWLEDGED
    ours.mail.may_acknowledge.set()
    ours.start()
    refused = {email: answer.text for email in acknowledged if (answer := sign_in(ours, email)).status_code != 200}
    assert refused == {}
    ours.stop()
    queued = {f"<{row.message_id}@localhost>" for row in queued_mails(database)}
    deliver_all(ours, database)
    received = Counter(str(mail["To"]) for mail in ours.mail.mails)
    assert set(acknowledged) <= set(received)
    assert {mail["Message-ID"] for mail in ours.mail.mails} <= queued
    sent = Counter(str(mail["Message-ID"]) for mail in ours.mail.mails)
    attempts = {f"<{row.message_id}@localhost>": row.attempts for row in queued_mails(database)}
    assert max(sent.values()) > 1, "the mail received without acknowledgement is sent again"
    assert {name: count for name, count in sent.items() if attempts[name] < count} == {}
    with capsys.disabled():
        twice = sum(count > 1 for count in sent.values())
        print(
            f"\n  killed after {len(acknowledged)} of {REGISTRATIONS} acknowledgements: "
            f"all sign in, {len(received)} got mail, {twice} twice"
        )


def sign_in(ours: Installation, email: str) -> Any:
    return ours.send("POST", LOGIN, {"email": email, "password": PASSWORD})


def test_mail_server_outage_delivers_every_mail_once_later(
    ours: Installation, database: Database, capsys: pytest.CaptureFixture[str]
) -> None:
    earlier, later = [address(number) for number in range(4)], [address(number) for number in range(4, 10)]
    register(ours, *earlier)
    eventually(lambda: all(row.state == "sent" for row in queued_mails(database)), "the first mails are delivered")
    assert len(ours.mail.mails) == len(earlier)
    received_before, port = list(ours.mail.mails), ours.mail.port
    ours.mail.go_away()
    started_at = time.monotonic()
    register(ours, *later)
    eventually(lambda: len(deferred_mails(database)) == len(later), "every later mail fails once")
    while time.monotonic() - started_at < OUTAGE_SECONDS:
        time.sleep(0.5)
    outage_seconds = time.monotonic() - started_at
    with mailbox(port=port) as restarted:
        started_at = time.monotonic()
        if not OUTAGE_SECONDS:
            end_backoff(database)
        eventually(lambda: all(row.state == "sent" for row in queued_mails(database)), "all mails are delivered")
        received = Counter(str(mail["To"]) for mail in (*received_before, *restarted.mails))
    assert received == dict.fromkeys((*earlier, *later), 1)
    with capsys.disabled():
        print(
            f"\n  outage of {outage_seconds:.0f} s: {len(later)} mails were queued, each received once, the last "
            f"{time.monotonic() - started_at:.0f} s after the restart"
        )
