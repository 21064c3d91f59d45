"""A system that receives requests over HTTPS, and can be told to behave badly: a real server on 127.0.0.1."""

from __future__ import annotations

import ssl
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from cryptography import x509

from app.identity.platform.outbound.bounded_transport import tls_context
from tests.support.oauth.client_certificates import Certificate, certificate

HOST = "receiver.localhost"
PATIENCE_SECONDS = 60
"""How long a server that hangs does, unless its test ends before."""


@dataclass(frozen=True)
class ReceivedRequest:
    """A request; names of headers in lower case."""

    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def path(self) -> str:
        return urlsplit(self.target).path

    @property
    def query(self) -> dict[str, str]:
        return dict(parse_qsl(urlsplit(self.target).query))


Answer = Callable[[BaseHTTPRequestHandler], None]


@dataclass
class HttpsReceiver:
    """The server. `answer` is what each request gets; the functions below set it."""

    received: list[ReceivedRequest] = field(default_factory=list)
    answer: Answer = field(default=lambda _: None, repr=False)
    context: ssl.SSLContext = field(default_factory=lambda: server_context(trusted_certificate()), repr=False)
    """Of the next connection; a test can change the certificate."""
    port: int = 0
    ended: threading.Event = field(default_factory=threading.Event, repr=False)

    def __post_init__(self) -> None:
        self.answers(200)

    def url(self, path: str = "/hook") -> str:
        return f"https://{HOST}:{self.port}{path}"

    def answers(self, status: int, body: bytes = b"", headers: Mapping[str, str] | None = None) -> None:
        self.answer = answering(status, body, headers or {})

    def answers_in_turn(self, *statuses: int) -> None:
        """Answer each request with the next status, and further ones with the last."""
        remaining = list(statuses)

        def answer(handler: BaseHTTPRequestHandler) -> None:
            answering(remaining.pop(0) if len(remaining) > 1 else remaining[0], b"", {})(handler)

        self.answer = answer

    def hangs(self) -> None:
        """Take the request, and never answer."""
        self.answer = lambda _: self._hang()

    def hangs_after_status(self, status: int = 200) -> None:
        """Send a status and the beginning of a body, whose rest never comes."""

        def answer(handler: BaseHTTPRequestHandler) -> None:
            begin(handler, status, 1_000)
            handler.wfile.write(b"begun")
            self._hang()

        self.answer = answer

    def closes_mid_answer(self, status: int = 200) -> None:
        """Announce a thousand bytes, send five and close."""

        def answer(handler: BaseHTTPRequestHandler) -> None:
            begin(handler, status, 1_000)
            handler.wfile.write(b"begun")

        self.answer = answer

    def closes_without_answer(self) -> None:
        self.answer = lambda _: None

    def sends(self, content: bytes) -> None:
        """Send these bytes in place of an HTTP response."""
        self.answer = lambda handler: write_while_read(handler, content)

    def _hang(self) -> None:
        self.ended.wait(PATIENCE_SECONDS)


def begin(handler: BaseHTTPRequestHandler, status: int, length: int, headers: Mapping[str, str] | None = None) -> None:
    handler.send_response(status)
    for name, value in {"Content-Length": str(length), **(headers or {})}.items():
        handler.send_header(name, value)
    handler.end_headers()


def answering(status: int, body: bytes, headers: Mapping[str, str]) -> Answer:
    def answer(handler: BaseHTTPRequestHandler) -> None:
        begin(handler, status, len(body), headers)
        write_while_read(handler, body)

    return answer


def write_while_read(handler: BaseHTTPRequestHandler, content: bytes) -> None:
    """Write, and do not mind that the reader closes the connection before the end."""
    with suppress(OSError):
        handler.wfile.write(content)


@cache
def authority() -> Certificate:
    """The authority of the test run, which the process trusts beside those of the machine."""
    made = certificate("CN=Authority of the tests", is_authority=True)
    tls_context().load_verify_locations(cadata=made.pem)
    return made


def trusted_certificate(host: str = HOST) -> Certificate:
    return certificate(f"CN={host}", [x509.DNSName(host)], signed_by=authority())


def foreign_certificate(host: str = HOST) -> Certificate:
    """A certificate of nobody whom we trust."""
    return certificate(f"CN={host}", [x509.DNSName(host)])


def server_context(of: Certificate) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with TemporaryDirectory() as folder:
        chain = Path(folder) / "chain.pem"
        chain.write_text(of.key_pem + of.pem)
        context.load_cert_chain(chain)
    return context


@contextmanager
def https_receiver() -> Iterator[HttpsReceiver]:
    """Serve until the block ends."""
    receiver = HttpsReceiver()

    class Handler(BaseHTTPRequestHandler):
        timeout = PATIENCE_SECONDS

        def setup(self) -> None:
            self.request = receiver.context.wrap_socket(self.request, server_side=True)
            super().setup()

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            headers = {name.lower(): value for name, value in self.headers.items()}
            receiver.received.append(ReceivedRequest(self.command, self.path, headers, body))
            receiver.answer(self)

        def do_GET(self) -> None:
            self.do_POST()

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    class Server(ThreadingHTTPServer):
        def handle_error(self, *_: Any) -> None:
            """Say nothing about callers that refuse the certificate, or go away."""

    server = Server(("127.0.0.1", 0), Handler)
    receiver.port = server.server_port
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    try:
        yield receiver
    finally:
        receiver.ended.set()
        server.shutdown()
        server.server_close()
