"""A server on this machine with the metadata of a provider, which may change."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class ServedMetadata:
    """What is served now, and how often it was asked for."""

    content: bytes
    url: str = ""
    status: int = 200
    count: int = 0


@contextmanager
def serving(content: bytes) -> Iterator[ServedMetadata]:
    """Serve a document until the block ends."""
    served = ServedMetadata(content)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            served.count += 1
            self.send_response(served.status)
            self.end_headers()
            self.wfile.write(served.content)

        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        served.url = f"http://localhost:{server.server_address[1]}/metadata.xml"
        try:
            yield served
        finally:
            server.shutdown()
