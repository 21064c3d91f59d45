"""A SAML identity provider on this machine for browsers: its page posts the answer, by a script or by a button."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Posted = Callable[[str], tuple[str, dict[str, str]]]
"""Takes the address with the request, and returns the address and the fields of the form with the answer."""
_FORM = """<!doctype html><title>Globex</title><h1>Sign in at Globex</h1><form method="post" action="{action}">{fields}
<button>Sign in</button></form><script>document.forms[0].submit()</script>"""


class ProviderServer:
    """The provider; `answer` says what it posts."""

    url = ""
    answer: Posted = staticmethod(lambda address: (address, {}))

    def page(self, path: str) -> bytes:
        action, fields = self.answer(f"{self.url}{path}")
        inputs = "".join(
            f'<input type="hidden" name="{escape(name)}" value="{escape(value)}">' for name, value in fields.items()
        )
        return _FORM.format(action=escape(action), fields=inputs).encode()


@contextmanager
def saml_provider() -> Iterator[ProviderServer]:
    """Serve a provider until the block ends."""
    provider = ProviderServer()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.end_headers()
            self.wfile.write(provider.page(self.path) if self.path.startswith("/sso") else b"")

        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        provider.url = f"http://localhost:{server.server_address[1]}"
        try:
            yield provider
        finally:
            server.shutdown()
