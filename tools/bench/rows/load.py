"""Two workers under load: sign-ins with the shipped hash, and pages; how long people wait, and the cost."""

import threading
import time
from collections.abc import Callable, Iterator
from statistics import quantiles

from tools.bench.measurement import MeasuredLine
from tools.bench.rows.password_hash import verify_ms
from tools.bench.scene import TENANT, Scene
from tools.bench.visitor import BenchVisitor

CLIENTS = 8
SECONDS = 8.0
WORKERS = 2
Visit = Callable[[BenchVisitor, int], object]


def measured(scene: Scene) -> Iterator[MeasuredLine]:
    """The clients share the machine with the server: the figures are what a small machine does, not what a worker can."""
    with scene.workers(WORKERS):
        hash_ms = verify_ms({})

        def sign_in(visitor: BenchVisitor, number: int) -> None:
            visitor.cookies.clear()
            scene.sign_in(visitor, number)

        def look(visitor: BenchVisitor, _: int) -> None:
            visitor.cookies.clear()
            visitor.get("/login").expect(200)

        yield _line(scene, f"{TENANT}-hash", "sign-ins", f"hash {hash_ms:.0f} ms each", sign_in)
        yield _line(scene, TENANT, "login pages", "no hash", look)


def _line(scene: Scene, tenant: str, name: str, hashing: str, visit: Visit) -> MeasuredLine:
    before = scene.product.cpu_seconds()
    waits_ms = _waits_ms(scene, tenant, visit)
    spent_ms = (scene.product.cpu_seconds() - before) * 1000 / len(waits_ms)
    cuts = quantiles(waits_ms, n=100)
    return MeasuredLine(
        operation=f"{CLIENTS} clients, {WORKERS} workers: {name}",
        counts=f"{len(waits_ms) / SECONDS:.0f} a second, {spent_ms:.2f} ms CPU each, {hashing}",
        measured=f"p50 {cuts[49]:.0f}, p95 {cuts[94]:.0f}, p99 {cuts[98]:.0f} ms",
    )


def _waits_ms(scene: Scene, tenant: str, visit: Visit) -> list[float]:
    """Return how long each visit took, of all clients."""
    waits_ms: list[float] = []
    problems: list[Exception] = []
    ends_at = time.monotonic() + SECONDS

    def keep_on(first: int) -> None:
        visitor, number = scene.visitor(tenant), first
        try:
            while (began := time.monotonic()) < ends_at:
                visit(visitor, number)
                waits_ms.append((time.monotonic() - began) * 1000)
                number += CLIENTS
        except Exception as problem:  # noqa: BLE001 - raised again below, in the bench's own thread
            problems.append(problem)

    clients = [threading.Thread(target=keep_on, args=(number,)) for number in range(CLIENTS)]
    for client in clients:
        client.start()
    for client in clients:
        client.join()
    if problems:
        raise problems[0]
    return waits_ms
