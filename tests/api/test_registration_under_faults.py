"""Registrations while processes are killed and the mail server is away: what was acknowledged is kept, every mail arrives.

Over HTTP, against processes of their own, on both databases. GATEHOUSE_TESTS_OUTAGE_SECONDS lengthens the outage.
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
from sqlalchemy import select

from app.identity.entry.worker import Worker
from app.identity.platform.outbox import claims
from app.identity.platform.outbox.queue import outbox
from app.identity.platform.store.database import Database
from app.identity.platform.store.unit import UnitOfWork
from app.kit.clock import FixedClock
from tests.support.installation import Installation, eventually, installed
from tests.support.registering import REGISTER, primary
from tests.support.smtp_server import mailbox
from tests.support.tenant_server import PASSWORD

LOGIN, SOTT = "/identity/v2/auth/login", "/identity/v2/manage/account/sott"
PEOPLE, ENOUGH = 200, 50
OUTAGE_SECONDS = float(os.environ.get("GATEHOUSE_TESTS_OUTAGE_SECONDS", "0"))


@pytest.fixture(params=["sqlite", "postgres"])
def ours(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Installation]:
    """An installation whose people may sign in before they have opened the mail that they get."""
    urls = request.getfixturevalue("fresh_postgres") if request.param == "postgres" else None
    with installed(tmp_path, urls) as made:
        made.tenant(email_verification="optional", email_login=True)
        made.start()
        yield made


@pytest.fixture
def database(ours: Installation) -> Iterator[Database]:
    """The store, looked at from beside the processes."""
    made = Database(ours.settings.database, pool_size=2)
    yield made
    made.dispose()


def address(number: int) -> str:
    return f"person-{number}@example.test"


class Crowd:
    """People who register at once; `acknowledged` are those who were told that they have an account."""

    def __init__(self, ours: Installation) -> None:
        self.acknowledged: list[str] = []
        asked = {"apikey": ours.api_key, "sott": ours.send("GET", SOTT, with_secret=True).json()["Sott"]}
        self._path, self._port = f"{REGISTER}?{urlencode(asked)}", ours.port
        self._line = threading.Barrier(PEOPLE)
        self._people = [threading.Thread(target=self._register, args=(address(number),)) for number in range(PEOPLE)]
        for person in self._people:
            person.start()

    @property
    def is_done(self) -> bool:
        return not any(person.is_alive() for person in self._people)

    def leave(self) -> None:
        for person in self._people:
            person.join()

    def _register(self, email: str) -> None:
        body = json.dumps({"Email": primary(email), "Password": PASSWORD})
        headers = {"Host": f"api.localhost:{self._port}", "Content-Type": "application/json"}
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=120)
        self._line.wait()
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


def letters(database: Database) -> list[Any]:
    """The mails in the outbox, whatever became of them."""
    work = UnitOfWork(database, claims.EXEMPT)
    try:
        return list(work.all(select(outbox).where(outbox.c.kind == "mail")))
    finally:
        work.rollback()


def put_off(database: Database) -> list[Any]:
    return [row for row in letters(database) if row.state == "waiting" and row.last_problem]


def deliver_all(ours: Installation, database: Database) -> None:
    """Deliver what waits, as the installation does when every lease is over."""
    clock = FixedClock(datetime.now(UTC) + 2 * claims.LEASE)
    at_work = Worker(ours.settings, database, clock)
    while any(row.state == "waiting" for row in letters(database)):
        at_work.deliver_due()
        clock.advance(seconds=timedelta(hours=2).total_seconds())


def test_killed_processes_lose_no_acknowledged_account_or_mail(
    ours: Installation, database: Database, capsys: pytest.CaptureFixture[str]
) -> None:
    ours.mail.says_thanks.clear()  # the first mail is taken, and nobody is told before the kill
    crowd = Crowd(ours)
    eventually(lambda: (len(crowd.acknowledged) >= ENOUGH or crowd.is_done) and ours.mail.mails, "they register")
    ours.kill()
    crowd.leave()
    told = list(crowd.acknowledged)
    assert len(told) >= ENOUGH
    ours.mail.says_thanks.set()
    ours.start()
    refused = {email: answer.text for email in told if (answer := signs_in(ours, email)).status_code != 200}
    assert refused == {}
    ours.stop()
    posted = {f"<{row.message_id}@localhost>" for row in letters(database)}
    deliver_all(ours, database)
    arrived = Counter(str(mail["To"]) for mail in ours.mail.mails)
    assert set(told) <= set(arrived)
    assert {mail["Message-ID"] for mail in ours.mail.mails} <= posted
    sent = Counter(str(mail["Message-ID"]) for mail in ours.mail.mails)
    tried = {f"<{row.message_id}@localhost>": row.attempts for row in letters(database)}
    assert max(sent.values()) > 1, "the one that was taken without thanks comes once more"
    assert {name: count for name, count in sent.items() if tried[name] < count} == {}
    with capsys.disabled():
        twice = sum(count > 1 for count in sent.values())
        print(
            f"\n  killed with {len(told)} of {PEOPLE} told: all sign in, {len(arrived)} got mail, {twice} twice, traced"
        )


def signs_in(ours: Installation, email: str) -> Any:
    return ours.send("POST", LOGIN, {"email": email, "password": PASSWORD})


def test_mail_server_outage_delivers_every_mail_once_later(
    ours: Installation, database: Database, capsys: pytest.CaptureFixture[str]
) -> None:
    before, during = [address(number) for number in range(4)], [address(number) for number in range(4, 10)]
    register(ours, *before)
    eventually(lambda: len(ours.mail.mails) == len(before), "the first mails arrive")
    first, port = list(ours.mail.mails), ours.mail.port
    ours.mail.go_away()
    begun = time.monotonic()
    register(ours, *during)
    eventually(lambda: len(put_off(database)) == len(during), "every mail is tried in vain")
    while time.monotonic() - begun < OUTAGE_SECONDS:
        time.sleep(0.5)
    away = time.monotonic() - begun
    with mailbox(port=port) as back:
        begun = time.monotonic()
        eventually(lambda: all(row.state == "sent" for row in letters(database)), "everything arrives")
        arrived = Counter(str(mail["To"]) for mail in (*first, *back.mails))
    assert arrived == dict.fromkeys((*before, *during), 1)
    with capsys.disabled():
        print(
            f"\n  away for {away:.0f} s: {len(during)} mails waited, all arrived once, the last "
            f"{time.monotonic() - begun:.0f} s after the server was back"
        )
