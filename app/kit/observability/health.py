"""GET /health/live and /health/ready, on every host and before the application: probes may not know a host name."""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Final
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from app.kit.clock import monotonic
from app.kit.limits.queue_slot import LAME_DUCK, IsAnsweredFromCache

log = logging.getLogger("gatehouse.health")

LIVE: Final = "/health/live"
READY: Final = "/health/ready"
PATHS: Final = (LIVE, READY)
PATIENCE_SECONDS: Final = 0.8
"""How long a check may take; a dependency that has not answered by then is down."""

NAMED_SECONDS: Final = 60.0
"""How long a refused write counts as a full disk: small writes may still succeed, in the free space of a file."""

OBSERVERS: Final[list[Callable[[], object]]] = []
"""Called after each write that a full disk refused."""

_HEADERS = (("Cache-Control", "no-store"), ("X-Content-Type-Options", "nosniff"))

Check = Callable[[], None]
"""Raises if the dependency does not work; the exception is logged, never shown."""


class Health:
    """Answers probes: live while the process runs, ready once it `has_loaded` all of its code and while its dependencies answer.

    Args:
        disk: names the problem of the disk; its text is in the response.
    """

    def __init__(
        self,
        app: WSGIApplication,
        checks: Mapping[str, Check],
        has_loaded: Callable[[], bool] = lambda: True,
        disk: Callable[[], str] = str,
    ) -> None:
        self._app = app
        self._has_loaded = has_loaded
        self._disk = disk
        self._parts = {name: _Part(name, check) for name, check in checks.items()}

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        path = environ.get("PATH_INFO", "")
        if path not in PATHS:
            return self._app(environ, start_response)
        if environ["REQUEST_METHOD"] not in ("GET", "HEAD"):
            start_response("405 Method Not Allowed", [("Allow", "GET, HEAD"), ("Content-Length", "0"), *_HEADERS])
            return []
        parts = self._states() if path == READY else {}
        status = "ok"
        if path == READY:
            status = self._status(parts, is_lame_duck=LAME_DUCK in environ)
        body = json.dumps({"status": status, **({"parts": parts} if parts else {})}).encode()
        headers = [
            ("Content-Type", "application/json"),
            ("Content-Length", str(len(body))),
            *_HEADERS,
        ]
        start_response("200 OK" if status == "ok" else "503 Service Unavailable", headers)
        return [] if environ["REQUEST_METHOD"] == "HEAD" else [body]

    @staticmethod
    def beside(is_answered_from_cache: IsAnsweredFromCache) -> IsAnsweredFromCache:
        """Return the same function, extended so that `LIVE` counts as answered from memory."""
        return lambda environ: environ["PATH_INFO"] == LIVE or is_answered_from_cache(environ)

    def _status(self, parts: Mapping[str, str], *, is_lame_duck: bool) -> str:
        if is_lame_duck:
            return "leaving"
        if "down" in parts.values():
            return "unavailable"
        return "ok" if self._has_loaded() else "starting"

    def _states(self) -> dict[str, str]:
        """Check all dependencies concurrently."""
        runs = {name: part.begin() for name, part in self._parts.items()}
        states = {name: run.state() for name, run in runs.items()}
        return (
            {**states, "disk": full} if (full := self._disk()) else states
        )  # reads still work, so the process stays ready


class _Run:
    """One run of a check in its own thread: a dependency that hangs blocks only that thread."""

    def __init__(self, name: str, check: Check) -> None:
        self._name = name
        self._check = check
        self._is_well = False
        self._done = threading.Event()
        self._ends_at = monotonic() + PATIENCE_SECONDS
        threading.Thread(target=self._run, name=f"health-{name}", daemon=True).start()

    @property
    def is_done(self) -> bool:
        return self._done.is_set()

    def state(self) -> str:
        """Return "ok" or "down"; a run that is still going after its time is down at once, so that probes never queue up."""
        if not self._done.wait(max(0.0, self._ends_at - monotonic())):
            log.warning("health.down", extra={"part": self._name, "problem": f"no answer in {PATIENCE_SECONDS} s"})
        return "ok" if self._is_well else "down"

    def _run(self) -> None:
        try:
            self._check()
            self._is_well = True
        except Exception as problem:  # noqa: BLE001 - any exception means down
            log.warning("health.down", extra={"part": self._name, "problem": str(problem)})
        finally:
            self._done.set()


class _Part:
    """A check that runs at most once at a time; concurrent probes share its result."""

    def __init__(self, name: str, check: Check) -> None:
        self._name = name
        self._check = check
        self._lock = threading.Lock()
        self._latest: _Run | None = None

    def begin(self) -> _Run:
        with self._lock:
            if self._latest is None or self._latest.is_done:
                self._latest = _Run(self._name, self._check)
            return self._latest


class DiskWatch:
    """Remembers the writes of this process that the full disk of a database refused."""

    def __init__(self, address: str) -> None:
        self.address = address
        self._refused_at: float | None = None

    def record_full(self) -> None:
        self._refused_at = monotonic()
        for observer in OBSERVERS:
            observer()

    def state(self) -> str:
        """Return `full`, or an empty string."""
        at = self._refused_at
        return "full" if at is not None and monotonic() - at < NAMED_SECONDS else ""


@cache
def disk_of(address: str) -> DiskWatch:
    """Return the watch of a database, shared by requests and probes of this process."""
    return DiskWatch(address)
