"""Outbox workers that are killed or stopped as separate processes, and workers with slow or hanging receivers.

GATEHOUSE_TESTS_SECONDS_A_MAIL slows the mail server of these tests down and uses the default lease.
"""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from app.identity.assembly.worker import Worker
from app.identity.messaging.senders import sms_gateway
from app.identity.platform.outbox import claims
from app.identity.platform.store.database import Database
from app.kit.clock import SystemClock
from app.settings import Settings
from tests.support.fakes.smtp_server import Mailbox, mailbox
from tests.support.processes.command_process import Forked
from tests.support.processes.commands import this_version
from tests.support.processes.installation import eventually
from tests.support.services.servers import end
from tests.support.tenants.posting import SECRET, posted, row

SLOW = float(os.environ.get("GATEHOUSE_TESTS_SECONDS_A_MAIL", "0"))
LEASE = claims.LEASE.total_seconds() if SLOW else 2.0
SECONDS_A_MAIL = SLOW or 3.0
AT_ONCE = 4
ONE_STORE = pytest.mark.parametrize("own_database", ["sqlite"], indirect=True)


@pytest.fixture
def post() -> Iterator[Mailbox]:
    with mailbox() as server:
        yield server


class Workers:
    """Worker processes with one database and one mail server."""

    def __init__(self, database: Database, folder: Path, mail_url: str) -> None:
        self._folder = folder
        self._environ = {
            **{name: value for name, value in os.environ.items() if not name.startswith("GATEHOUSE_")},
            "GATEHOUSE_DATABASE_URL": database.engine.url.render_as_string(hide_password=False),
            "GATEHOUSE_SECRET_KEY": SECRET.decode(),
            "GATEHOUSE_MAIL_URL": mail_url,
        }
        self.running: list[Forked] = []

    def start(self, *, lease: float = LEASE, drain: float = 20) -> Forked:
        log, program = self._folder / "log", "tests.support.processes.outbox_worker"
        pid = this_version().start(self._environ, str(lease), str(drain), log=log, program=program)
        self.running.append(Forked(pid))
        return self.running[-1]

    def end(self) -> None:
        for process in self.running:
            end(process.pid, signal.SIGKILL)


@contextmanager
def workers(database: Database, folder: Path, post: Mailbox) -> Iterator[Workers]:
    made = Workers(database, folder, f"smtp://127.0.0.1:{post.port}")
    try:
        yield made
    finally:
        made.end()


@contextmanager
def at_work(
    database: Database, post: Mailbox, *, many: int = 1, sms_url: str = "", lease: float = LEASE
) -> Iterator[None]:
    """Run workers in threads of this process."""
    settings = Settings(mail_url=f"smtp://127.0.0.1:{post.port}", sms_url=sms_url, secrets=(SECRET,))
    stop = threading.Event()
    each = [Worker(settings, database, lease=timedelta(seconds=lease), drain_seconds=0) for _ in range(many)]
    threads = [threading.Thread(target=item.run, args=(stop,)) for item in each]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def arrived(post: Mailbox) -> Counter[str]:
    """Count the deliveries per message id."""
    return Counter(str(mail["Message-ID"]).strip("<").partition("@")[0] for mail in list(post.mails))


def all_sent(database: Database, *ids: str) -> bool:
    return all(row(database, item_id).state == "sent" for item_id in ids)


@pytest.mark.both_databases
def test_slow_mail_server_gets_no_mail_twice(
    own_database: Database, post: Mailbox, capsys: pytest.CaptureFixture[str]
) -> None:
    ids = [posted(own_database, SystemClock()) for _ in range(20 if SLOW else AT_ONCE + 1)]
    post.seconds_a_mail = SECONDS_A_MAIL
    started_at = time.monotonic()
    with at_work(own_database, post, many=2):
        eventually(lambda: all_sent(own_database, *ids), "every mail is sent")
        elapsed = time.monotonic() - started_at
    assert arrived(post) == dict.fromkeys(ids, 1)
    with capsys.disabled():
        print(
            f"\n  {len(ids)} mails, {SECONDS_A_MAIL} s each, lease {LEASE} s, two workers: none twice, {elapsed:.0f} s"
        )


def test_pending_mail_of_killed_worker_is_sent_by_another(
    own_database: Database, tmp_path: Path, post: Mailbox, capsys: pytest.CaptureFixture[str]
) -> None:
    ids = [posted(own_database, SystemClock()) for _ in range(10)]
    post.may_acknowledge.clear()
    with workers(own_database, tmp_path, post) as running:
        first = running.start()
        eventually(lambda: len(post.mails) >= AT_ONCE - 1, "the worker sends")
        end(first.pid, signal.SIGKILL)
        post.may_acknowledge.set()
        started_at = time.monotonic()
        running.start()
        eventually(lambda: all_sent(own_database, *ids), "every mail is sent")
        elapsed = time.monotonic() - started_at
    deliveries = arrived(post)
    assert set(deliveries) == set(ids)
    twice = {name for name, count in deliveries.items() if count > 1}
    assert len(twice) <= AT_ONCE, "only the mails that were being sent at the kill"
    with capsys.disabled():
        print(
            f"\n  killed while sending, lease {LEASE} s: all {len(ids)} out {elapsed:.1f} s later, {len(twice)} twice"
        )


@ONE_STORE
def test_stopped_worker_finishes_current_mail_and_claims_no_more(
    own_database: Database, tmp_path: Path, post: Mailbox
) -> None:
    ids = [posted(own_database, SystemClock()) for _ in range(10)]
    post.may_acknowledge.clear()
    with workers(own_database, tmp_path, post) as running:
        first = running.start()
        eventually(lambda: len(post.mails) >= AT_ONCE - 1, "the worker sends")
        first.send_signal(signal.SIGTERM)
        second = running.start()
        time.sleep(LEASE)
        post.may_acknowledge.set()
        assert first.wait(30) == 0
        eventually(lambda: all_sent(own_database, *ids), "the second worker sends the rest")
        second.send_signal(signal.SIGTERM)
        assert second.wait(30) == 0
    assert arrived(post) == dict.fromkeys(ids, 1)


@ONE_STORE
def test_stopped_worker_releases_mail_before_data(own_database: Database, post: Mailbox) -> None:
    message_id = posted(own_database, SystemClock())
    post.takes_data.clear()
    with at_work(own_database, post, lease=60):  # with no time to drain
        eventually(post.at_data.is_set, "the worker sends")
    left = row(own_database, message_id)
    assert (left.state, left.attempts, left.due_at <= SystemClock().now()) == ("waiting", 0, True)
    post.takes_data.set()
    with at_work(own_database, post):
        eventually(lambda: all_sent(own_database, message_id), "another worker sends it")
    assert arrived(post) == {message_id: 1}


@ONE_STORE
def test_mail_sent_during_database_outage_arrives_once(
    own_database: Database, post: Mailbox, caplog: pytest.LogCaptureFixture
) -> None:
    """Another process holds SQLite's write lock beyond the timeout of a transaction when the server answers 250."""
    message_id = posted(own_database, SystemClock())
    post.may_acknowledge.clear()
    with at_work(own_database, post, lease=60):
        eventually(lambda: post.mails, "the worker sends")
        with closing(sqlite3.connect(str(own_database.engine.url.database), isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            post.may_acknowledge.set()
            eventually(lambda: "outbox.not_settled" in caplog.text, "the worker cannot mark the mail as sent")
            other.execute("COMMIT")
        eventually(lambda: all_sent(own_database, message_id), "the mail is marked as sent after the outage")
    assert arrived(post) == {message_id: 1}


@ONE_STORE
def test_hanging_mail_server_delays_no_text_message(own_database: Database, post: Mailbox) -> None:
    post.may_acknowledge.clear()
    mails = [posted(own_database, SystemClock()) for _ in range(2 * AT_ONCE)]
    with gateway() as (url, taken), at_work(own_database, post, sms_url=url):
        eventually(lambda: len(post.mails) >= AT_ONCE - 1, "the lane is full")
        texts = [posted(own_database, SystemClock(), kind="sms", to="+4930123456") for _ in range(3)]
        eventually(lambda: all_sent(own_database, *texts), "the text messages go out")
        assert len(taken) == len(texts)
        assert not any(row(own_database, mail).state == "sent" for mail in mails)
        post.may_acknowledge.set()


@ONE_STORE
def test_hanging_sms_gateway_delays_no_mail(
    own_database: Database, post: Mailbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sms_gateway, "TIMEOUT_SECONDS", 600)  # longer than the test
    release = threading.Event()
    with gateway(release) as (url, taken), at_work(own_database, post, sms_url=url):
        texts = [posted(own_database, SystemClock(), kind="sms", to="+4930123456") for _ in range(2 * AT_ONCE)]
        eventually(lambda: len(taken) >= AT_ONCE - 1, "the lane is full")
        mail = posted(own_database, SystemClock())
        eventually(lambda: all_sent(own_database, mail), "the mail goes out")
        assert not any(row(own_database, text).state == "sent" for text in texts)
        release.set()


@ONE_STORE
def test_backlog_of_one_tenant_delays_no_other(own_database: Database, post: Mailbox) -> None:
    for _ in range(30):
        posted(own_database, SystemClock(), tenant="flood")
    post.may_acknowledge.clear()
    with at_work(own_database, post):
        eventually(lambda: len(post.mails) == AT_ONCE - 1, "the backlog fills all slots but one")
        message_id = posted(own_database, SystemClock())
        eventually(lambda: message_id in arrived(post), "the mail of the other tenant is sent")
        assert len(post.mails) == AT_ONCE
        post.may_acknowledge.set()


@contextmanager
def gateway(release: threading.Event | None = None) -> Iterator[tuple[str, list[Any]]]:
    """Run an SMS gateway that answers no request before `release` is set."""
    taken: list[Any] = []

    class Gateway(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            taken.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            if release is not None:
                release.wait(60)
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Gateway)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/send", taken
    finally:
        if release is not None:
            release.set()
        server.shutdown()
        server.server_close()
        thread.join()
