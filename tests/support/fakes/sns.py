"""A fake of Amazon SNS: a real HTTP server that speaks the used part of its query API, signatures included."""

from __future__ import annotations

import hashlib
import hmac
import re
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl

_SHOWN = re.compile(
    r"AWS4-HMAC-SHA256 Credential=([^/]+)/(\d+)/([^/]+)/sns/aws4_request, SignedHeaders=([^,]+), Signature=(\w+)"
)


@dataclass
class Topic:
    """Its registered devices, and the received requests."""

    key: Mapping[str, str]
    url: str = ""
    received: list[dict[str, str]] = field(default_factory=list)
    refusal: tuple[int, str] | None = None  # what a Publish is refused with
    known: str = ""  # an endpoint that has the token with other attributes

    def published(self) -> list[dict[str, str]]:
        return [item for item in self.received if item["Action"] == "Publish"]

    def endpoint(self, created: Mapping[str, str]) -> str:
        """Its name of a device."""
        name = hashlib.sha256(created["Token"].encode()).hexdigest()[:12]
        return created["PlatformApplicationArn"].replace(":app/", ":endpoint/") + f"/{name}"

    def answer(self, form: dict[str, str]) -> tuple[int, str]:
        self.received.append(form)
        if form["Action"] == "CreatePlatformEndpoint":
            if self.known:
                said = f"Invalid parameter: Token Reason: Endpoint {self.known} already exists with the same Token"
                return 400, f"<Error><Code>InvalidParameter</Code><Message>{said}</Message></Error>"
            arn = self.endpoint(form)
            return (
                200,
                f"<R><CreatePlatformEndpointResult><EndpointArn>{arn}</EndpointArn></CreatePlatformEndpointResult></R>",
            )
        if self.refusal is not None and form["Action"] == "Publish":
            return self.refusal[0], f"<Error><Code>{self.refusal[1]}</Code></Error>"
        return 200, "<R><PublishResult><MessageId>1</MessageId></PublishResult></R>"


@contextmanager
def sns(key: Mapping[str, str]) -> Iterator[Topic]:
    """Serve an SNS that knows this key alone."""
    stored = Topic(key)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            content = self.rfile.read(int(self.headers["Content-Length"]))
            status, said = 403, "<Error><Code>SignatureDoesNotMatch</Code></Error>"
            if is_signed(self, content, key):
                status, said = stored.answer(dict(parse_qsl(content.decode())))
            body = said.encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    stored.url = f"http://127.0.0.1:{server.server_port}/"
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    try:
        yield stored
    finally:
        server.shutdown()
        server.server_close()


def is_signed(requested: BaseHTTPRequestHandler, content: bytes, key: Mapping[str, str]) -> bool:
    """Whether the request is signed by the key (Signature Version 4), written here anew."""
    found = _SHOWN.fullmatch(requested.headers.get("Authorization", ""))
    if found is None or found[1] != key["access_key_id"]:
        return False
    at, names = requested.headers["X-Amz-Date"], found[4].split(";")
    lines = "".join(f"{name}:{requested.headers[name].strip()}\n" for name in names)
    canonical = f"POST\n{requested.path}\n\n{lines}\n{found[4]}\n{hashlib.sha256(content).hexdigest()}"
    scope = f"{found[2]}/{found[3]}/sns/aws4_request"
    text = f"AWS4-HMAC-SHA256\n{at}\n{scope}\n{hashlib.sha256(canonical.encode()).hexdigest()}"
    made = f"AWS4{key['secret_access_key']}".encode()
    for part in scope.split("/"):
        made = hmac.digest(made, part.encode(), "sha256")
    return hmac.compare_digest(hmac.digest(made, text.encode(), "sha256").hex(), found[5])
