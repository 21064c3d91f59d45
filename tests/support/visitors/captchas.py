"""Browsers at a captcha, which work. Beside them a provider's server."""

from __future__ import annotations

import hashlib
import itertools
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest
from sqlalchemy import update

from app.identity.directory.tenants import tenant_writes
from app.identity.directory.tenants.tables import tenants
from app.identity.platform.services import IdentityServices
from app.identity.platform.store.unit_of_work import UnitOfWork
from tests.support.visitors.visitor import VisitedPage

SECRET = "a secret key"
BELIEVED = {
    "recaptcha_v3": b'{"success": true, "score": 0.9}',
    "tencent": b'{"response": "1", "evil_level": "0"}',
}
"""Where it is not what the others say."""
DOUBTED = b'{"success": false, "response": "0", "error-codes": ["timeout-or-duplicate"]}'


def solving(page: VisitedPage, button: str = "Sign in") -> dict[str, str]:
    """Return what the script of the page adds to its form: the work that it computed."""
    bits, seed = page.form(button).fields["captcha_asked"].split(".")
    return {"captcha_script": "y", "captcha_work": worked(seed, int(bits))}


WRONG_WORK = {"captcha_script": "y", "captcha_work": "n\u00f6"}  # no number, so that no seed makes it right


def worked(seed: str, bits: int, *, start: int = 0) -> str:
    """Return the solution that a browser computes, which tries the numbers from `start`."""
    for number in itertools.count(start):
        made = hashlib.sha256(f"{seed}:{number}".encode()).digest()
        if int.from_bytes(made) >> (256 - bits) == 0:
            return str(number)
    raise AssertionError("there is always one")


@dataclass
class FakeCaptchaProvider:
    """A captcha provider: a real HTTP server, which gives the configured answer and records its requests."""

    body: bytes = b'{"success": true}'
    status: int = 200
    released: threading.Event | None = None
    received: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    url: str = ""

    def __enter__(self) -> FakeCaptchaProvider:
        provider = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"])).decode()
                self._answer("POST", dict(parse_qsl(body)))

            def do_GET(self) -> None:
                self._answer("GET", dict(parse_qsl(urlsplit(self.path).query)))

            def _answer(self, method: str, facts: dict[str, str]) -> None:
                provider.received.append((method, facts))
                if provider.released is not None:
                    provider.released.wait(20)
                self.send_response(provider.status)
                self.send_header("Content-Length", str(len(provider.body)))
                self.end_headers()
                self.wfile.write(provider.body)

            def log_message(self, *_: Any) -> None:
                """Say nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}/siteverify"
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        if self.released is not None:
            self.released.set()
        self._server.shutdown()
        self._server.server_close()


@contextmanager
def providing(services: IdentityServices, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeCaptchaProvider]:
    """Serve a provider that accepts every response, at the addresses of all providers."""
    with FakeCaptchaProvider() as made:
        urls = tuple((name, made.url) for name in ("recaptcha_v2", "recaptcha_v3", "hcaptcha", "tencent"))
        monkeypatch.setattr(services, "settings", replace(services.settings, captcha_urls=urls))
        yield made


def keep_secret(services: IdentityServices, tenant_id: str, secret: str = SECRET) -> None:
    """Store a captcha secret encrypted, as `gatehouse apply` does."""
    sealed = services.encryption.encrypt(secret.encode(), tenant_writes.captcha_associated_data(tenant_id))
    with UnitOfWork(services.database, tenant_id).separate_transaction() as work:
        work.run(update(tenants).where(tenants.c.tenant_id == tenant_id).values(captcha_secret=sealed))
    services.directory.clear_cache()
