"""Workers that are killed or stopped, as processes of their own, and workers before receivers that are slow or hang.

GATEHOUSE_TESTS_SECONDS_A_MAIL makes the mail server of these tests slower, with the lease that is shipped.
"""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
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

from app.identity.entry.worker import Worker
from app.identity.messaging.senders import sms_gateway
from app.identity.platform.outbox import claims
from app.identity.platform.store.database import Database
from app.kit.clock import SystemClock
from app.settings import Settings
from tests.support.installation import ROOT, eventually
from tests.support.posting import SECRET, posted, row
from tests.support.servers import end
from tests.support.smtp_server import Mailbox, mailbox

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
    """Workers over one database and one mail server."""

    def __init__(self, database: Database, folder: Path, mail_url: str) -> None:
        self._folder = folder
        self._environ = {
            **{name: value for name, value in os.environ.items() if not name.startswith("GATEHOUSE_")},
            "GATEHOUSE_DATABASE_URL": database.engine.url.render_as_string(hide_password=False),
            "GATEHOUSE_SECRET_KEY": SECRET.decode(),
            "GATEHOUSE_MAIL_URL": mail_url,
        }
        self.running: list[subprocess.Popen[bytes]] = []

    def start(self, *, lease: float = LEASE, drain: float = 20) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "tests.support.outbox_worker", str(lease), str(drain)]
        with (self._folder / "log").open("ab") as log:
            self.running.append(subprocess.Popen(command, cwd=ROOT, env=self._environ, stdout=log, stderr=log))
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
    """Let workers of this process work."""
    settings = Settings(mail_url=f"smtp://127.0.0.1:{post.port}", sms_url=sms_url, secrets=(SECRET,))
    stop = threading.Event()
    each = [Worker(settings, database, lease=timedelta(seconds=lease), drain_seconds=0) for _ in range(many)]
    threads = [threading.Thread(target=one.run, args=(stop,)) for one in each]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def arrived(post: Mailbox) -> Counter[str]:
    """How often the server took each mail, by our name for it."""
    return Counter(str(mail["Message-ID"]).strip("<").partition("@")[0] for mail in list(post.mails))


def all_sent(database: Database, *ids: str) -> bool:
    return all(row(database, one).state == "sent" for one in ids)


def test_a_slow_mail_server_gets_no_mail_twice(
    own_database: Database, post: Mailbox, capsys: pytest.CaptureFixture[str]
) -> None:
    ids = [posted(own_database, SystemClock()) for _ in range(20 if SLOW else AT_ONCE + 1)]
    post.seconds_a_mail = SECONDS_A_MAIL
    begun = time.monotonic()
    with at_work(own_database, post, many=2):
        eventually(lambda: all_sent(own_database, *ids), "every mail is sent")
        took = time.monotonic() - begun
    assert arrived(post) == dict.fromkeys(ids, 1)
    with capsys.disabled():
        print(f"\n  {len(ids)} mails, {SECONDS_A_MAIL} s each, lease {LEASE} s, two workers: none twice, {took:.0f} s")


def test_after_a_kill_another_worker_sends_what_waits(
    own_database: Database, tmp_path: Path, post: Mailbox, capsys: pytest.CaptureFixture[str]
) -> None:
    ids = [posted(own_database, SystemClock()) for _ in range(10)]
    post.says_thanks.clear()
    with workers(own_database, tmp_path, post) as running:
        first = running.start()
        eventually(lambda: len(post.mails) >= AT_ONCE - 1, "it sends")
        end(first.pid, signal.SIGKILL)
        post.says_thanks.set()
        begun = time.monotonic()
        running.start()
        eventually(lambda: all_sent(own_database, *ids), "every mail is sent")
        took = time.monotonic() - begun
    came = arrived(post)
    assert set(came) == set(ids)
    twice = {name for name, count in came.items() if count > 1}
    assert len(twice) <= AT_ONCE, "only what was under way at the kill"
    with capsys.disabled():
        print(f"\n  killed while sending, lease {LEASE} s: all {len(ids)} out {took:.1f} s later, {len(twice)} twice")


@ONE_STORE
def test_a_stopped_worker_ends_what_it_sends_and_begins_no_more(
    own_database: Database, tmp_path: Path, post: Mailbox
) -> None:
    ids = [posted(own_database, SystemClock()) for _ in range(10)]
    post.says_thanks.clear()
    with workers(own_database, tmp_path, post) as running:
        first = running.start()
        eventually(lambda: len(post.mails) >= AT_ONCE - 1, "it sends")
        first.send_signal(signal.SIGTERM)
        second = running.start()
        time.sleep(LEASE)
        post.says_thanks.set()
        assert first.wait(30) == 0
        eventually(lambda: all_sent(own_database, *ids), "the other one sends the rest")
        second.send_signal(signal.SIGTERM)
        assert second.wait(30) == 0
    assert arrived(post) == dict.fromkeys(ids, 1)


@ONE_STORE
def test_a_stopped_worker_gives_back_what_the_server_has_not_got(own_database: Database, post: Mailbox) -> None:
    message_id = posted(own_database, SystemClock())
    post.takes_data.clear()
    with at_work(own_database, post, lease=60):  # with no time to drain
        eventually(post.at_data.is_set, "it sends")
    left = row(own_database, message_id)
    assert (left.state, left.attempts, left.due_at <= SystemClock().now()) == ("waiting", 0, True)
    post.takes_data.set()
    with at_work(own_database, post):
        eventually(lambda: all_sent(own_database, message_id), "another one sends it")
    assert arrived(post) == {message_id: 1}


@ONE_STORE
def test_what_was_sent_while_the_store_is_away_comes_once(
    own_database: Database, post: Mailbox, caplog: pytest.LogCaptureFixture
) -> None:
    """Another process holds SQLite's write lock for longer than a transaction waits, just when the server says 250."""
    message_id = posted(own_database, SystemClock())
    post.says_thanks.clear()
    with at_work(own_database, post, lease=60):
        eventually(lambda: post.mails, "it sends")
        with closing(sqlite3.connect(str(own_database.engine.url.database), isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            post.says_thanks.set()
            eventually(lambda: "outbox.not_settled" in caplog.text, "it cannot write that the mail is out")
            other.execute("COMMIT")
        eventually(lambda: all_sent(own_database, message_id), "it is written once the store is back")
    assert arrived(post) == {message_id: 1}


@ONE_STORE
def test_a_hanging_mail_server_delays_no_text_message(own_database: Database, post: Mailbox) -> None:
    post.says_thanks.clear()
    mails = [posted(own_database, SystemClock()) for _ in range(2 * AT_ONCE)]
    with gateway() as (url, taken), at_work(own_database, post, sms_url=url):
        eventually(lambda: len(post.mails) >= AT_ONCE - 1, "the lane is full")
        texts = [posted(own_database, SystemClock(), kind="sms", to="+4930123456") for _ in range(3)]
        eventually(lambda: all_sent(own_database, *texts), "the text messages go out")
        assert len(taken) == len(texts)
        assert not any(row(own_database, one).state == "sent" for one in mails)
        post.says_thanks.set()


@ONE_STORE
def test_a_hanging_gateway_delays_no_mail(
    own_database: Database, post: Mailbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sms_gateway, "TIMEOUT_SECONDS", 600)  # it hangs for as long as the test takes
    let_go = threading.Event()
    with gateway(let_go) as (url, taken), at_work(own_database, post, sms_url=url):
        texts = [posted(own_database, SystemClock(), kind="sms", to="+4930123456") for _ in range(2 * AT_ONCE)]
        eventually(lambda: len(taken) >= AT_ONCE - 1, "the lane is full")
        mail = posted(own_database, SystemClock())
        eventually(lambda: all_sent(own_database, mail), "the mail goes out")
        assert not any(row(own_database, one).state == "sent" for one in texts)
        let_go.set()


@ONE_STORE
def test_a_tenants_flood_delays_no_other_tenant(own_database: Database, post: Mailbox) -> None:
    for _ in range(30):
        posted(own_database, SystemClock(), tenant="flood")
    post.says_thanks.clear()
    with at_work(own_database, post):
        eventually(lambda: len(post.mails) == AT_ONCE - 1, "the flood has all places but one")
        mine = posted(own_database, SystemClock())
        eventually(lambda: mine in arrived(post), "the other tenant's mail is sent beside it")
        assert len(post.mails) == AT_ONCE
        post.says_thanks.set()


@contextmanager
def gateway(let_go: threading.Event | None = None) -> Iterator[tuple[str, list[Any]]]:
    """A gateway for text messages; it answers none before `let_go` is set."""
    taken: list[Any] = []

    class Gateway(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            taken.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            if let_go is not None:
                let_go.wait(60)
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
        if let_go is not None:
            let_go.set()
        server.shutdown()
        server.server_close()
        thread.join()
