"""Reports themes that fail on a page to the identity service, after the page and outside its request."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import Final, NamedTuple

from app.contract.tenants import tenant_pages
from app.contract.tenants.tenant_pages import MAX_THEME_FAILURE, ThemeFailure
from app.kit.caching.lru_cache import LruCache
from app.kit.clock import sleep
from app.kit.limits import time_budget
from app.kit.observability.throttled_log import ThrottledLog
from app.kit.operations.client import Client

log = logging.getLogger("gatehouse.hub")
MAX_KNOWN: Final = 1_000
MAX_WAITING: Final = 100
CALL_SECONDS: Final = 5.0
PAUSE_SECONDS: Final = 2.0
"""After a report that failed: the page that fails next reports again."""


class _Report(NamedTuple):
    tenant: str
    failure: ThemeFailure


class ThemeFailureReports:
    """Logs each failure once per process, and reports it once for each version of the tenant. Thread-safe.

    A new version of the tenant may have contacts, which hear of an old failure by a new report.

    Args:
        client: returns the client for calls to a tenant, by its name.
    """

    def __init__(self, client: Callable[[str], Client]) -> None:
        self._client = client
        self._known: LruCache[tuple[str, str, str], str] = LruCache(MAX_KNOWN)
        """The version of the tenant that reported each failure."""
        self._waiting: list[_Report] = []
        self._sender: threading.Thread | None = None
        self._lock = threading.Lock()
        self._log = ThrottledLog(log)

    def add(self, tenant: str, version: str, digest: str, template: str, reason: str) -> None:
        """Report that a file of a theme failed. Returns at once and never raises; a report too many waits for the next failure."""
        key = (tenant, digest, template)
        with self._lock:
            reported_by = self._known.get(key)
            if reported_by == version or len(self._waiting) >= MAX_WAITING:
                return
            self._known.put(key, version)
            self._waiting.append(
                _Report(tenant, ThemeFailure(digest=digest, template=template, reason=reason[:MAX_THEME_FAILURE]))
            )
            self._start()
        if reported_by is not None:
            return
        event = "a file of the tenant's theme failed; pages have ours"
        self._log.write(tenant, event, tenant=tenant, template=template, digest=digest, problem=reason)

    def wait(self) -> None:
        """Wait until every report was sent or failed."""
        sender = self._sender
        if sender is not None:
            sender.join()

    def _start(self) -> None:
        """Start the thread unless it runs in this process; it ends when nothing waits."""
        if self._sender is not None and self._sender.is_alive():
            return
        self._sender = threading.Thread(target=self._send_all, name="theme failures", daemon=True)
        try:
            self._sender.start()
        except RuntimeError:  # the process has no more threads; the next failure starts one
            self._sender = None

    def _next(self) -> _Report | None:
        with self._lock:
            if self._waiting:
                return self._waiting.pop(0)
            self._sender = None
            return None

    def _send_all(self) -> None:
        while (report := self._next()) is not None:
            try:
                with time_budget.at_most(CALL_SECONDS):
                    self._client(report.tenant)(tenant_pages.theme_failed, report.failure)
            except Exception as problem:  # noqa: BLE001 - whatever it is, pages go on
                self._known.drop((report.tenant, report.failure.digest, report.failure.template))
                self._log.write("report", "the failure of a theme was not reported", problem=str(problem))
                sleep(PAUSE_SECONDS)
