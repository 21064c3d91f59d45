"""An HTTP server with the range API for breached passwords, with padding."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class BreachedPasswordServer:
    """The server's passwords and the received requests."""

    passwords: tuple[str, ...]
    url: str = ""
    status: int = 200
    received: list[tuple[str, str]] = field(default_factory=list)

    def lines(self, prefix: str) -> str:
        digests = [
            hashlib.sha1(password.encode(), usedforsecurity=False).hexdigest().upper() for password in self.passwords
        ]
        padding = [f"{number:035X}:0" for number in range(5)]
        return "\r\n".join([*padding, *(f"{digest[5:]}:7" for digest in digests if digest.startswith(prefix))])


@contextmanager
def breached_password_server(*passwords: str) -> Iterator[BreachedPasswordServer]:
    """Serve a list of these passwords."""
    state = BreachedPasswordServer(passwords)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            prefix = self.path.rpartition("/")[2]
            state.received.append((prefix, self.headers.get("Add-Padding", "")))
            body = state.lines(prefix).encode()
            self.send_response(state.status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            """Disable logging."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    state.url = f"http://127.0.0.1:{server.server_port}/range"
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    try:
        yield state
    finally:
        server.shutdown()
        server.server_close()
