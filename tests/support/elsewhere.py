"""Another provider: a real HTTP server with the three endpoints of OAuth 2.0, whose people let browsers in without a page."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest

from app.kit import randomness


@dataclass
class Elsewhere:
    """One provider; `codes` and `tokens` stand for what it will say of somebody."""

    url: str = ""
    codes: dict[str, dict[str, Any]] = field(default_factory=dict)
    tokens: dict[str, dict[str, Any]] = field(default_factory=dict)
    is_broken: bool = False

    def stated(self, **more: Any) -> dict[str, Any]:
        """Return the connection as a tenant states it."""
        named = ("authorization", "token", "userinfo")
        return {
            **{f"{name}_endpoint": f"{self.url}/{name}" for name in named},
            "key": "acme",
            "title": "Globex",
            **more,
        }

    def back(self, address: str, subject: str = "1", **claims: Any) -> str:
        """Sign somebody in at the address that a browser was led to, and return where it comes back to."""
        asked = {name: values[0] for name, values in parse_qs(urlsplit(address).query).items()}
        assert address.startswith(f"{self.url}/authorization?")
        assert asked["client_id"] == "acme"
        code = randomness.token(16)
        self.codes[code] = {"sub": subject, **claims}
        return f"{asked['redirect_uri']}?{urlencode({'state': asked['state'], 'code': code})}"

    def denied(self, address: str) -> str:
        """Say no there."""
        asked = {name: values[0] for name, values in parse_qs(urlsplit(address).query).items()}
        return f"{asked['redirect_uri']}?{urlencode({'state': asked['state'], 'error': 'access_denied'})}"


def _handler(there: Elsewhere) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            sent = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
            claims = there.codes.pop(sent["code"][0], None)
            if claims is None or there.is_broken:
                return self.answer(400, {"error": "invalid_grant"})
            token = randomness.token(16)
            there.tokens[token] = claims
            return self.answer(200, {"access_token": token, "token_type": "Bearer", "expires_in": 60})

        def do_GET(self) -> None:
            claims = there.tokens.get(self.headers.get("Authorization", "").removeprefix("Bearer "))
            self.answer(200 if claims else 401, claims or {})

        def answer(self, status: int, body: dict[str, Any]) -> None:
            content = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *args: Any) -> None:
            del args

    return Handler


@contextmanager
def serve() -> Iterator[Elsewhere]:
    there = Elsewhere()
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(there))
    there.url = f"http://globex.localhost:{server.server_address[1]}"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield there
    finally:
        server.shutdown()
        server.server_close()


@pytest.fixture(scope="session")
def elsewhere() -> Iterator[Elsewhere]:
    with serve() as there:
        yield there
