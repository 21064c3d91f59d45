"""Prometheus metrics, on a port of their own. Labels are few and bounded: no client input becomes one."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

from prometheus_client import CollectorRegistry, Counter, Histogram, start_http_server
from prometheus_client.multiprocess import MultiProcessCollector, mark_process_dead
from prometheus_client.registry import REGISTRY, Collector

from app.kit.observability import health
from app.kit.observability.instrumentation import RequestObserver

log = logging.getLogger("gatehouse.metrics")

_BUCKETS = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0)


def request_metrics(surface_of: Callable[[str], str]) -> RequestObserver:
    """Return the observer that counts and times requests by surface (of few values, from the host), method and status."""
    requests = Counter("gatehouse_requests", "Requests answered.", ("surface", "method", "status"))
    seconds = Histogram("gatehouse_request_seconds", "Time to the answer.", ("surface", "method"), buckets=_BUCKETS)

    @cache  # of few values: surfaces, methods and status codes
    def children(surface: str, method: str, status: int) -> tuple[Callable[[], None], Callable[[float], None]]:
        return requests.labels(surface, method, status).inc, seconds.labels(surface, method).observe

    def observe(host: str, method: str, status: int, took: float) -> None:
        count, time = children(surface_of(host), method, status)
        count()
        time(took)

    return observe


def count_refusals() -> Callable[[str, int], None]:
    """Return the counter of requests refused before they reach the application, by reason and status."""
    refused = Counter("gatehouse_refused", "Requests refused before the application answered.", ("reason", "status"))

    def observe(reason: str, status: int) -> None:
        refused.labels(reason, status).inc()

    return observe


def count_full_disk() -> None:
    """Count writes that the database refused because its disk is full."""
    health.OBSERVERS.append(
        Counter("gatehouse_disk_full", "Writes refused because the disk of the database is full.").inc
    )


def forget(process: int, shared: Path) -> None:
    """Remove the gauges of a process that has ended from the sums; its counters stay, because they count answered requests."""
    mark_process_dead(process, str(shared))  # type: ignore[no-untyped-call]  # the library states no types here


class Exposition:
    """Serves the metrics of this process, or with a shared folder those of all workers together."""

    def __init__(self, bind: str, shared: Path | None = None, collectors: Sequence[Collector] = ()) -> None:
        host, _, port = bind.rpartition(":")
        self._host, self._port = host.strip("[]") or "127.0.0.1", int(port)
        self._shared = shared
        self._collectors = collectors

    def __call__(self, stop: threading.Event) -> None:
        """Serve until `stop` is set: a background job of the server."""
        registry = REGISTRY
        if self._shared is not None:
            registry = CollectorRegistry()
            MultiProcessCollector(registry, str(self._shared))  # type: ignore[no-untyped-call]  # the library states no types here
        for collector in self._collectors:
            registry.register(collector)
        try:
            server, thread = start_http_server(self._port, self._host, registry)
        except OSError as problem:
            facts = {"bind": f"{self._host}:{self._port}", "problem": problem.strerror or str(problem)}
            log.error("metrics.off", extra=facts)  # noqa: TRY400 - the reason says it all
            return
        stop.wait()
        server.shutdown()
        server.server_close()
        thread.join()
