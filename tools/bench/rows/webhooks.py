"""Webhooks: what one costs a sign-in, what one worker delivers, and how long other tenants wait beside a target that hangs."""

import json
import os
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from statistics import median, quantiles
from urllib.parse import urlencode

from sqlalchemy import select

from app.identity.directory.tenants.tables import tenants
from app.identity.platform.encryption import Encryption
from app.identity.platform.outbox import all_tenants
from app.identity.platform.outbox.outbox import Outbox, QueuedDelivery, outbox
from app.identity.platform.store.database import Database
from app.identity.platform.store.unit_of_work import UnitOfWork
from app.kit.clock import SystemClock
from app.settings import Settings, read
from tests.support.fakes.https_receiver import HttpsReceiver, answering, authority, https_receiver
from tools.bench.measurement import MeasuredLine, Spent, measure
from tools.bench.rows import sign_in
from tools.bench.scene import API_KEY, API_SECRET, GATEHOUSE, ROOT, TENANT, TWO_STEP_TENANT, Scene, environment
from tools.bench.servers import BenchServer
from tools.bench.visitor import BenchVisitor, Unexpected

DELIVERIES, BACKLOG, PACED = 900, 5_000, 100
PACE_SECONDS = 0.1
PATIENCE_SECONDS = 300
EVENT = "Login"
DEAD_TENANT = f"{TENANT}-hash"
NOWHERE = "https://127.0.0.1:9/"
"""Takes no connection: its one failure pauses the webhook, so that no delivery is measured with the sign-ins."""
PROFILE = {"FirstName": "Ada", "LastName": "Lovelace", "About": "x" * 2_000}


def measured(scene: Scene) -> Iterator[MeasuredLine]:
    """The deliveries are those of one worker, to a server in this process that answers 200 at once."""
    yield _cost_of_sign_ins(scene)
    scene.product.stop()
    try:
        with https_receiver() as receiver, https_receiver() as dead, _deliveries(scene, receiver, dead) as deliveries:
            yield _throughput(deliveries)
            yield from _delays(deliveries)
    finally:
        scene.restart()


def _cost_of_sign_ins(scene: Scene) -> MeasuredLine:
    def spent() -> Spent:
        return measure(scene.product, scene.bare, sign_in.with_password(scene))

    program = BenchVisitor(scene.port, f"api.localhost:{scene.port}")
    path = f"/v2/manage/webhook?{urlencode({'apikey': API_KEY, 'apisecret': API_SECRET})}"
    without = spent()
    body = json.dumps({"Event": EVENT, "TargetUrl": NOWHERE, "Name": "bench"}).encode()
    program.ask("POST", path, body, {"Content-Type": "application/json"}).expect(200)
    with_one = spent()
    program.close()
    statements = [each.counts.get("sql", 0) for each in (without, with_one)]
    added = statements[1] - statements[0]
    return MeasuredLine(
        operation="sign-in with a webhook that receives it",
        counts=f"sql {statements[0]:g} without a webhook, {statements[1]:g} with one  (added ≤ 1)",
        measured=f"{without.cpu_ms:.2f} ms without, {with_one.cpu_ms:.2f} ms with",
        bar="sql + 1",
        aim="sql + 1",
        is_over=added > 1,
        is_reached=added <= 1,
    )


@dataclass(frozen=True)
class _Deliveries:
    """The worker's database, and the webhooks of three tenants: two whose server answers, one whose server hangs."""

    settings: Settings
    database: Database
    receiver: HttpsReceiver
    dead: HttpsReceiver
    environ: dict[str, str]
    queues: dict[str, tuple[str, str]]
    """The tenant's id and the webhook's, by the tenant's name."""
    arrivals: dict[str, float] = field(default_factory=dict)

    def record(self) -> None:
        """Let the server note when each delivery arrives."""

        def answer(handler: BaseHTTPRequestHandler) -> None:
            self.arrivals[handler.headers["webhook-id"]] = time.time()
            answering(200, b"", {})(handler)

        self.receiver.answer = answer

    def post(self, tenant: str, count: int) -> None:
        """Queue events of as many accounts."""
        tenant_id, queue = self.queues[tenant]
        with UnitOfWork(self.database, tenant_id).separate_transaction() as work:
            messages = Outbox(work, SystemClock(), Encryption(self.settings.secrets))
            for number in range(count):
                body = json.dumps({"Posted": time.time(), "Data": PROFILE})
                delivery = QueuedDelivery(queue, f"account-{number}", EVENT)
                messages.post("webhook", {"body": body}, delivery=delivery)

    def delays(self) -> list[float]:
        """Return the seconds from the posting of each event to its arrival."""
        found = []
        for request in list(self.receiver.received):
            at, posted = self.arrivals.get(request.headers["webhook-id"]), json.loads(request.body).get("Posted")
            found += [at - posted] if at is not None and posted is not None else []
        return found

    def wait_for(self, count: int) -> None:
        """Wait until as many events have arrived."""
        ends_at = time.monotonic() + PATIENCE_SECONDS
        while len(self.delays()) < count:
            if time.monotonic() > ends_at:
                raise Unexpected(f"only {len(self.delays())} of {count} deliveries arrived")
            time.sleep(0.2)

    def forget(self) -> None:
        self.receiver.received.clear()
        self.arrivals.clear()

    @contextmanager
    def worker(self) -> Iterator[BenchServer]:
        """Run one worker meanwhile."""
        nothing = subprocess.DEVNULL
        process = subprocess.Popen(
            [str(GATEHOUSE), "worker"], env=self.environ, cwd=ROOT, stdout=nothing, stderr=nothing
        )
        try:
            yield BenchServer(process, 0, Path(os.devnull))
        finally:
            process.terminate()
            process.wait(60)


@contextmanager
def _deliveries(scene: Scene, receiver: HttpsReceiver, dead: HttpsReceiver) -> Iterator[_Deliveries]:
    trusted = scene.folder / "authority.pem"
    trusted.write_text(authority().pem)
    own = environment(scene.folder, scene.port, scene.database)
    environ = {**os.environ, **own, "SSL_CERT_FILE": str(trusted)}
    urls = {TENANT: receiver.url(), TWO_STEP_TENANT: receiver.url(), DEAD_TENANT: dead.url()}
    stated = scene.folder / "webhooks.yaml"
    webhooks = [{"name": name, "webhooks": [{"event": EVENT, "target_url": url}]} for name, url in urls.items()]
    stated.write_text(json.dumps({"tenants": webhooks}))
    applied = subprocess.run(
        [str(GATEHOUSE), "apply", str(stated)], env=environ, cwd=ROOT, capture_output=True, check=False
    )
    if applied.returncode != 0:
        raise Unexpected(f"gatehouse apply failed: {applied.stderr[-1500:]!r}")
    settings = read({name: value for name, value in environ.items() if name.startswith("GATEHOUSE_")})
    database = Database(settings.database, pool_size=2)
    try:
        made = _Deliveries(settings, database, receiver, dead, environ, _queues(database))
        made.record()
        yield made
    finally:
        database.dispose()


def _queues(database: Database) -> dict[str, tuple[str, str]]:
    """Return the newest webhook of each tenant, by its ping in the outbox."""
    work = UnitOfWork(database, all_tenants.EXEMPT)
    t, o = tenants.c, outbox.c
    pings = select(t.name, o.tenant_id, o.queue).where(t.tenant_id == o.tenant_id, o.event == "ping")
    try:
        return {row.name: (row.tenant_id, row.queue) for row in work.all(pings.order_by(o.created_at))}
    finally:
        work.rollback()


def _throughput(deliveries: _Deliveries) -> MeasuredLine:
    with deliveries.worker() as worker:
        _warm_up(deliveries)
        before = worker.cpu_seconds()
        for tenant in (TENANT, TWO_STEP_TENANT):
            deliveries.post(tenant, DELIVERIES // 2)
        deliveries.wait_for(DELIVERIES)
        spent_ms = (worker.cpu_seconds() - before) * 1000
    times = sorted(deliveries.arrivals.values())
    deliveries.forget()
    return MeasuredLine(
        operation=f"{DELIVERIES} webhook deliveries of two tenants, one worker",
        counts=f"{spent_ms / DELIVERIES:.1f} ms CPU each",
        measured=f"{(len(times) - 1) / (times[-1] - times[0]):.0f} a second",
    )


def _warm_up(deliveries: _Deliveries) -> None:
    """Wait until the worker has started."""
    deliveries.post(TWO_STEP_TENANT, 1)
    deliveries.wait_for(1)
    deliveries.forget()


def _delays(deliveries: _Deliveries) -> Iterator[MeasuredLine]:
    """The second time, another tenant has a target that takes each request and never answers."""
    with deliveries.worker():
        yield _delay_line("webhook delivery, nothing else waits", _paced(deliveries))
    deliveries.dead.received.clear()
    deliveries.dead.hangs()
    deliveries.post(DEAD_TENANT, BACKLOG)
    with deliveries.worker():
        delays = _paced(deliveries)
        reached = len(deliveries.dead.received)
        yield _delay_line(
            f"webhook delivery, {BACKLOG:,} wait for another tenant's dead target", delays, f"{reached} reached it"
        )


def _paced(deliveries: _Deliveries) -> list[float]:
    _warm_up(deliveries)
    for _ in range(PACED):
        deliveries.post(TWO_STEP_TENANT, 1)
        time.sleep(PACE_SECONDS)
    deliveries.wait_for(PACED)
    delays = deliveries.delays()
    deliveries.forget()
    return delays


def _delay_line(operation: str, delays: Sequence[float], counts: str = "") -> MeasuredLine:
    p99 = quantiles(delays, n=100)[-1]
    return MeasuredLine(
        operation=operation, counts=counts, measured=f"median {median(delays) * 1000:.0f} ms, p99 {p99 * 1000:.0f} ms"
    )
