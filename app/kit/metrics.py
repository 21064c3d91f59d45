"""Prometheus metrics, on a port of their own. Labels are few and bounded: nothing that a client invents becomes one."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

from prometheus_client import CollectorRegistry, Counter, Histogram, start_http_server
from prometheus_client.multiprocess import MultiProcessCollector, mark_process_dead
from prometheus_client.registry import REGISTRY, Collector

from app.kit.instrumentation import RequestObserver

log = logging.getLogger("gatehouse.metrics")

_BUCKETS = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0)


def measure(api_host: str) -> RequestObserver:
    """Return what counts and times each request, by kind of host, method and status."""
    requests = Counter("gatehouse_requests", "Requests answered.", ("surface", "method", "status"))
    seconds = Histogram("gatehouse_request_seconds", "Time to the answer.", ("surface", "method"), buckets=_BUCKETS)

    def told(host: str, method: str, status: int, took: float) -> None:
        surface = "api" if host.lower() == api_host else "tenant"
        requests.labels(surface, method, status).inc()
        seconds.labels(surface, method).observe(took)

    return told


def count_refusals() -> Callable[[str, int], None]:
    """Return the counter of requests refused before they reach the application, by reason and status."""
    refused = Counter("gatehouse_refused", "Requests refused before the application answered.", ("reason", "status"))

    def told(reason: str, status: int) -> None:
        refused.labels(reason, status).inc()

    return told


def forget(process: int, shared: Path) -> None:
    """Take the gauges of a process that has ended out of the sums; its counters stay, as the requests were answered."""
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
            log.error("metrics.off", extra={"problem": str(problem)})  # noqa: TRY400 - the reason says it all
            return
        stop.wait()
        server.shutdown()
        server.server_close()
        thread.join()
