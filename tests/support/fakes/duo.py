"""A fake of Duo: a real HTTP server that speaks its OAuth interface, checks every signature, and lets people in."""

from __future__ import annotations

import html
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from joserfc import jwt
from joserfc.jwk import OctKey

from app.identity.platform.services import IdentityServices
from app.kit import randomness

CLIENT, SECRET = "DIACMEACMEACMEACMEAC", "0123456789abcdefghijklmnopqrstuvwxyzABCD"
DUO: dict[str, Any] = {"client_id": CLIENT, "api_host": "api-acme.duosecurity.com"}


@dataclass
class FakeDuo:
    """One application at Duo."""

    services: IdentityServices
    url: str = ""
    prompts: dict[str, dict[str, Any]] = field(default_factory=dict)
    claims_override: dict[str, Any] = field(default_factory=dict)
    """Claims that the token has instead."""
    secret: str = SECRET
    """The signing key."""
    leads: Callable[[str], str] = str
    """Where browsers reach the configured redirect address."""

    @property
    def now(self) -> datetime:
        return self.services.clock.now()

    def passed(self, address: str, **overrides: Any) -> dict[str, str]:
        """Pass the prompt in a browser, and return the parameters of the callback."""
        parts = urlsplit(address)
        assert f"{parts.scheme}://{parts.netloc}" == self.url
        assert parts.path == "/oauth/v1/authorize"
        requested = dict(parse_qsl(parts.query))
        claims = self.read(requested["request"])
        assert (requested["client_id"], claims["iss"], claims["aud"]) == (CLIENT, CLIENT, self.url)
        assert claims["redirect_uri"] == requested["redirect_uri"]
        assert claims["exp"] > self.now.timestamp()
        code = randomness.token(16)
        self.prompts[code] = {**claims, "said": overrides}
        return {"state": claims["state"], "code": code}

    def back(self, address: str, **overrides: Any) -> str:
        """Return where the browser comes back to."""
        requested = dict(parse_qsl(urlsplit(address).query))
        joint = "&" if "?" in requested["redirect_uri"] else "?"
        return f"{requested['redirect_uri']}{joint}{urlencode(self.passed(address, **overrides))}"

    def prompt(self, path: str) -> str:
        """Return its page, as a browser meets it."""
        choices = {"allow": {}, "deny": {"auth_result": {"result": "deny"}}}
        links = {choice: self.leads(self.back(f"{self.url}{path}", **claims)) for choice, claims in choices.items()}
        anchors = [f'<a id="{choice}" href="{html.escape(link)}">{choice}</a>' for choice, link in links.items()]
        return f"<!doctype html><title>Duo</title>{' '.join(anchors)}"

    def read(self, text: str) -> dict[str, Any]:
        return dict(jwt.decode(text, OctKey.import_key(SECRET), algorithms=["HS512"]).claims)

    def token(self, form: dict[str, str]) -> tuple[int, dict[str, Any]]:
        proof = self.read(form["client_assertion"])
        at = f"{self.url}/oauth/v1/token"
        assert (proof["iss"], proof["sub"], proof["aud"]) == (CLIENT, CLIENT, at)
        requested = self.prompts.pop(form["code"], None)
        if requested is None or requested["redirect_uri"] != form["redirect_uri"]:
            return 400, {"error": "invalid_grant"}
        at_seconds = int(self.now.timestamp())
        claims = {
            "iss": at, "aud": CLIENT, "iat": at_seconds, "exp": at_seconds + 300, "nonce": requested["nonce"],
            "preferred_username": requested["duo_uname"], "auth_result": {"result": "allow", "status": "allow"},
            **requested["said"],
        }  # fmt: skip
        signed = jwt.encode({"alg": "HS512"}, claims, OctKey.import_key(self.secret), algorithms=["HS512"])
        return 200, {"id_token": signed, "access_token": "x", "expires_in": 300, "token_type": "Bearer"}


@contextmanager
def duo(services: IdentityServices) -> Iterator[FakeDuo]:
    """Serve one, and configure the services to use it."""
    stored = FakeDuo(services)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            is_prompt = self.path.startswith("/oauth/v1/authorize?")
            self.answer(200 if is_prompt else 404, stored.prompt(self.path) if is_prompt else "", "text/html")

        def do_POST(self) -> None:
            content = self.rfile.read(int(self.headers["Content-Length"])).decode()
            status, body = stored.token(dict(parse_qsl(content)))
            self.answer(status, json.dumps(body), "application/json")

        def answer(self, status: int, text: str, kind: str) -> None:
            body = text.encode()
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    stored.url = f"http://127.0.0.1:{server.server_port}"
    threading.Thread(target=lambda: server.serve_forever(poll_interval=0.02), daemon=True).start()
    former = services.settings
    services.settings = replace(former, duo_url=stored.url)
    try:
        yield stored
    finally:
        services.settings = former
        server.shutdown()
        server.server_close()
