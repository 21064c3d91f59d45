"""A node of Citus that does not answer: the messages of the tenants on other nodes are delivered."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest
from click.testing import CliRunner

from app.commands.database import doctor
from app.identity.assembly.worker import Worker
from app.identity.directory.tenants import tenant_writes
from app.identity.platform.outbox import all_tenants, claims, queue_claims
from app.identity.platform.outbox.lanes import MAIL, WEBHOOK
from app.identity.platform.store import migrate
from app.identity.platform.store.database import Database, StoreUnavailable
from app.identity.platform.store.unit_of_work import UnitOfWork
from app.kit.clock import SystemClock
from app.settings import Settings
from tests.support.fakes.smtp_server import Mailbox, mailbox
from tests.support.processes.installation import eventually
from tests.support.services.citus import Citus
from tests.support.services.servers import SUPERUSER
from tests.support.tenants.posting import SECRET, posted, queued, row

CLOCK = SystemClock()
_NODES = """SELECT nodename, nodeport, groupid FROM pg_dist_node WHERE groupid = (SELECT groupid FROM pg_dist_placement
    WHERE shardid = get_shard_id_for_distribution_column('outbox', %s::text))"""
_END_SESSIONS = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s AND pid <> pg_backend_pid()"


class Nodes:
    """The nodes of one database, and two tenants on different ones."""

    def __init__(self, server: Citus, database: Database) -> None:
        self._server = server
        self._name = str(database.engine.url.database)
        with self._session(server.nodes[0], self._name) as session:
            found = {
                name: session.execute(_NODES.encode(), (name,)).fetchone() for name in map("tenant{}".format, range(20))
            }
        self.stopped_tenant = "tenant0"
        self._stopped = found["tenant0"]
        self.other_tenant = next(name for name, node in found.items() if node != self._stopped)
        for name in (self.stopped_tenant, self.other_tenant):
            work = UnitOfWork(database, name)
            made: Any = {"api_key": name, "api_secret": name.encode(), "settings": {}, "brand": {}, "now": CLOCK.now()}
            tenant_writes.add(work, name, **made)
            work.commit()

    @property
    def stopped_node(self) -> str:
        assert self._stopped
        return f"{self._stopped[0]}:{self._stopped[1]}"

    @contextmanager
    def stopped(self) -> Iterator[None]:
        """Let the node of the first tenant refuse connections to the database within the block."""
        self._allow(is_allowed=False)
        try:
            yield
        finally:
            self._allow(is_allowed=True)

    def _allow(self, *, is_allowed: bool) -> None:
        assert self._stopped
        with self._session((self._stopped[0], self._stopped[1]), "postgres") as session:
            session.execute(f'ALTER DATABASE "{self._name}" ALLOW_CONNECTIONS {is_allowed}'.encode())
            session.execute(_END_SESSIONS, (self._name,))

    @contextmanager
    def _session(self, node: tuple[str, int], database: str) -> Iterator[psycopg.Connection[Any]]:
        host, port = node
        url = f"postgresql://{SUPERUSER}:{self._server.superuser_password}@{host}:{port}/{database}"
        with psycopg.connect(url, autocommit=True) as session:
            yield session


@pytest.fixture
def nodes(postgres_server: Citus, own_database: Database) -> Nodes:
    return Nodes(postgres_server, own_database)


@pytest.fixture
def post() -> Iterator[Mailbox]:
    with mailbox() as server:
        yield server


def find_mail(database: Database, search: all_tenants.AllTenants) -> claims.ClaimedMessage | None:
    return claims.claim(database, CLOCK.now(), MAIL, search=search)


def find_webhook(database: Database, search: all_tenants.AllTenants) -> claims.ClaimedMessage | None:
    return queue_claims.claim(database, CLOCK.now(), WEBHOOK, all_tenants=search)


@pytest.mark.parametrize("own_database", ["postgres"], indirect=True)
@pytest.mark.parametrize(
    ("post_message", "find"), [(posted, find_mail), (queued, find_webhook)], ids=["mail", "webhook"]
)
def test_claim_passes_over_a_stopped_node(
    own_database: Database, nodes: Nodes, post_message: Callable[..., str], find: Callable[..., Any], monkeypatch: Any
) -> None:
    on_stopped = post_message(own_database, CLOCK, tenant=nodes.stopped_tenant)
    on_other = post_message(own_database, CLOCK, tenant=nodes.other_tenant)
    search = all_tenants.AllTenants(own_database)
    with nodes.stopped():
        assert find(own_database, search).message_id == on_other
        assert find(own_database, search) is None
    monkeypatch.setattr(search, "_is_split_until", 0.0)  # as after RETRY_SECONDS
    assert find(own_database, search).message_id == on_stopped


@pytest.mark.parametrize("own_database", ["postgres"], indirect=True)
def test_doctor_names_a_stopped_node(own_database: Database, nodes: Nodes, monkeypatch: pytest.MonkeyPatch) -> None:
    url = own_database.engine.url.render_as_string(hide_password=False)
    monkeypatch.setenv("GATEHOUSE_SECRET_KEY", SECRET.decode())
    monkeypatch.setenv("GATEHOUSE_DATABASE_URL", url.replace("postgresql+psycopg:", "postgresql:"))
    answered = CliRunner().invoke(doctor)
    assert (answered.exit_code, "is ready" in answered.output) == (0, True)
    with nodes.stopped():
        refused = CliRunner().invoke(doctor)
        assert migrate.examine(own_database)  # `serve` starts
    assert refused.exit_code == 2
    assert f"can't connect to these Citus nodes: {nodes.stopped_node}." in refused.output


@pytest.mark.parametrize("own_database", ["postgres"], indirect=True)
def test_unmarked_mail_holds_no_delivery_thread(
    own_database: Database, nodes: Nodes, post: Mailbox, caplog: pytest.LogCaptureFixture
) -> None:
    """Its node stops while the mail server takes the mail. It is marked as sent later, and arrives once."""
    settings = Settings(mail_url=f"smtp://127.0.0.1:{post.port}", secrets=(SECRET,), sends_at_once=1)
    worker, stop = Worker(settings, own_database), threading.Event()
    thread = threading.Thread(target=worker.run, args=(stop,))
    post.may_acknowledge.clear()
    first = posted(own_database, CLOCK, tenant=nodes.stopped_tenant)
    thread.start()
    try:
        eventually(lambda: len(post.mails) == 1, "the only thread sends the first mail")
        with nodes.stopped():
            post.may_acknowledge.set()
            eventually(lambda: "outbox.not_settled" in caplog.text, "the worker cannot mark it as sent")
            posted(own_database, CLOCK, tenant=nodes.other_tenant)
            eventually(lambda: len(post.mails) == 2, "the thread sends another mail")
        eventually(lambda: is_sent(own_database, first, nodes.stopped_tenant), "the first one is marked as sent")
    finally:
        stop.set()
        thread.join()
    assert len(post.mails) == 2


def is_sent(database: Database, message_id: str, tenant_id: str) -> bool:
    try:
        return bool(row(database, message_id, tenant_id).state == "sent")
    except StoreUnavailable:  # the node is not back yet
        return False
