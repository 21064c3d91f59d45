"""Fake BigCommerce, PerfectMind and Shopify: HTTP servers with the first two's APIs, and what each does with a sign-on."""

from __future__ import annotations

import hashlib
import hmac
import json
import re
import threading
from base64 import urlsafe_b64decode
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import CBC

from app.identity.platform.services import IdentityServices

MULTIPASS_SECRET = "6fee2f4f64e3c4b35610786df324fdbc"
CLIENT_SECRET, API_TOKEN, ACCESS_KEY = "client-secret-of-the-shop-" * 2, "token-of-the-api-account", "key-of-the-pool"
SHOPIFY = {"Store": "shop", "Domain": "shop.example", "MultipassSecret": MULTIPASS_SECRET}
BIGCOMMERCE = {
    "Store": "shop", "StoreHash": "abc123", "StoreUrl": "https://shop.example", "ClientId": "client-of-acme",
    "ClientSecret": CLIENT_SECRET, "AccessToken": API_TOKEN,
}  # fmt: skip
PERFECTMIND = {"Site": "pool", "Host": "pool.perfectmind.com", "ClientNumber": "24588", "AccessKey": ACCESS_KEY}
_QUERY = re.compile(r"SELECT ID, Email FROM Custom\.Contact WHERE Email = '([^']*)'")


def open_multipass(token: str) -> dict[str, Any]:
    """Return the customer of a token as Shopify reads it: signature, decryption, padding."""
    content = urlsafe_b64decode(token)
    keys = hashlib.sha256(MULTIPASS_SECRET.encode()).digest()
    assert hmac.compare_digest(hmac.digest(keys[16:], content[:-32], "sha256"), content[-32:])
    decryptor = Cipher(AES(keys[:16]), CBC(content[:16])).decryptor()
    padded = decryptor.update(content[16:-32]) + decryptor.finalize()
    customer: dict[str, Any] = json.loads(padded[: -padded[-1]])
    return customer


@dataclass
class FakeStorefront:
    """One store at BigCommerce and one site at PerfectMind."""

    customers: list[dict[str, Any]] = field(default_factory=list)
    contacts: list[dict[str, Any]] = field(default_factory=list)
    session: Any = field(default_factory=dict)
    """The answer of the tenant's server that begins sessions."""
    calls: list[tuple[dict[str, str], Any]] = field(default_factory=list)
    """Headers and body of each call to it."""
    received: list[tuple[str, str]] = field(default_factory=list)
    """Method and address of each request."""
    answer: tuple[int, bytes] | None = None
    """What every request is answered with instead."""

    def respond(self, method: str, address: str, headers: Any, body: Any) -> tuple[int, Any]:
        self.received.append((method, address))
        parts = urlsplit(address)
        if parts.path == "/stores/abc123/v3/customers":
            return self._customers(method, parts.query, body) if headers["X-Auth-Token"] == API_TOKEN else (401, {})
        if (method, parts.path) == ("POST", "/api/2.0/B2C/Query"):
            is_known = (headers["X-Client-Number"], headers["X-Access-Key"]) == ("24588", ACCESS_KEY)
            return self._query(body["QueryString"]) if is_known else (401, {})
        if (method, parts.path) == ("POST", "/sessions"):
            self.calls.append((dict(headers), body))
            return 200, self.session
        return 404, {}

    def _customers(self, method: str, query: str, body: Any) -> tuple[int, Any]:
        """Answer as Customers V3: the filter takes a list and folds letter case, and a new customer needs both names."""
        if method == "GET":
            emails = parse_qs(query)["email:in"][0].lower().split(",")
            return 200, {
                "data": [customer for customer in self.customers if customer["email"].lower() in emails],
                "meta": {},
            }
        if not all(item["email"] and item["first_name"] and item["last_name"] for item in body):
            return 422, {"errors": {}}
        made = [{**element, "id": 100 + number} for number, element in enumerate(body)]
        self.customers += made
        return 200, {"data": made, "meta": {}}

    def _query(self, query: str) -> tuple[int, Any]:
        found = _QUERY.fullmatch(query)
        assert found is not None, query
        return 200, [contact for contact in self.contacts if contact["Email"].lower() == found[1].lower()]


@contextmanager
def storefront(services: IdentityServices) -> Iterator[FakeStorefront]:
    """Serve both, and configure the services to use them."""
    fake = FakeStorefront()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.reply(None)

        def do_POST(self) -> None:
            assert self.headers["Content-Type"] == "application/json"
            self.reply(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

        def reply(self, body: Any) -> None:
            status, answer = fake.respond(self.command, self.path, self.headers, body)
            status, content = fake.answer or (status, json.dumps(answer).encode())
            self.send_response(status)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    url = f"http://127.0.0.1:{server.server_port}"
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    before = services.settings
    services.settings = replace(before, bigcommerce_url=url, perfectmind_url=url)
    try:
        yield fake
    finally:
        services.settings = before
        server.shutdown()
        server.server_close()
