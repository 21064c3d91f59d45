"""GET /health/live and /health/ready, on every host and before anything else: probes come by address, without a tenant."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterable, Mapping
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

log = logging.getLogger("gatehouse.health")

_HEADERS = (("Cache-Control", "no-store"), ("X-Content-Type-Options", "nosniff"))

Check = Callable[[], None]
"""Raises where the part does not work. What it raises is logged, never shown."""


class Health:
    """Answers the probes: live while the process runs, ready while the parts that it needs answer."""

    def __init__(self, app: WSGIApplication, checks: Mapping[str, Check]) -> None:
        self._app = app
        self._checks = checks

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        path = environ.get("PATH_INFO", "")
        if path not in ("/health/live", "/health/ready"):
            return self._app(environ, start_response)
        if environ["REQUEST_METHOD"] not in ("GET", "HEAD"):
            start_response("405 Method Not Allowed", [("Allow", "GET, HEAD"), ("Content-Length", "0"), *_HEADERS])
            return []
        parts = (
            {name: self._state(name, check) for name, check in self._checks.items()} if path == "/health/ready" else {}
        )
        is_well = "down" not in parts.values()
        body = json.dumps(
            {"status": "ok" if is_well else "unavailable", **({"parts": parts} if parts else {})}
        ).encode()
        headers = [
            ("Content-Type", "application/json"),
            ("Content-Length", str(len(body))),
            *_HEADERS,
        ]
        start_response("200 OK" if is_well else "503 Service Unavailable", headers)
        return [] if environ["REQUEST_METHOD"] == "HEAD" else [body]

    @staticmethod
    def _state(name: str, check: Check) -> str:
        try:
            check()
        except Exception as problem:  # noqa: BLE001 - whatever it is, the part is down
            log.warning("health.down", extra={"part": name, "problem": str(problem)})
            return "down"
        return "ok"
