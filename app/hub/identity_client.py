"""The door to the identity service: the only way out of the hub.

Every call bears the visit (host, session cookie, binding secret, address of the browser) under our signature, so that
the service believes it of nobody else (caller H).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import httpx  # noqa: TID251 - this is the door

from app.contract.visit import VISIT_HEADER
from app.contract.visit import Visit as SignedVisit
from app.kit import randomness
from app.kit.client import Client, ResponseHeaders, wsgi_transport
from app.kit.clock import Clock
from app.kit.probed_http import ProbedHttp
from app.kit.signing import SIGNATURE_HEADER, signature

TIMEOUTS: Final = httpx.Timeout(10.0, connect=1.0, pool=1.0)
"""Seconds. A sign-in may wait for its hash and for an external provider; `WatchedHttp` stops waiting earlier if the service hangs."""
NO_ANSWER: Final = httpx.HTTPError
"""What is raised where the service does not answer."""


class _Inward(httpx.BaseTransport):
    """Takes what is addressed to a tenant host straight to the service, which knows the tenant by the Host header."""

    def __init__(self, identity_client: IdentityClient) -> None:
        self._door = identity_client

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        aside = self._door.http.base_url
        request.url = request.url.copy_with(scheme=aside.scheme, host=aside.host, port=aside.port)
        return self._door.http.send(request)


class IdentityClient:
    """Opens to the identity service.

    Args:
        transport: the service in this process (`httpx.WSGITransport`), or None to reach it over the network.
        address: its base address; the host in it is the one that it answers the hub at.
        keys: the keys of caller H, one for each line of the secret; a call is signed under all of them.
    """

    def __init__(
        self, address: str, keys: Sequence[bytes], clock: Clock, transport: httpx.BaseTransport | None = None
    ) -> None:
        limits = httpx.Limits(max_connections=100, max_keepalive_connections=20)
        self.http = httpx.Client(base_url=address, transport=transport, timeout=TIMEOUTS, limits=limits)
        self._transport = (
            wsgi_transport(transport.app, self.http.base_url.scheme)
            if isinstance(transport, httpx.WSGITransport)
            else ProbedHttp(self.http)
        )
        self._keys = keys
        self._clock = clock

    def inward(self) -> httpx.BaseTransport:
        """Return a transport for standard clients, to which the addresses of our own metadata lead to the service."""
        return _Inward(self)

    def for_visit(self, visited: SignedVisit, on_response: Callable[[ResponseHeaders], None]) -> Client:
        """Return the client of one visit; `heard` is told the headers of every answer."""
        text = visited.to_header()

        def sign(method: str, address: str, body: bytes) -> dict[str, str]:
            at = int(self._clock.now().timestamp())
            mark = signature(self._keys, method, address, body, text, at, randomness.token(16))
            return {VISIT_HEADER: text, SIGNATURE_HEADER: mark}

        return Client(self._transport, sign, on_response)
