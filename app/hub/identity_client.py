"""The client of the identity service: the only module of the hub that opens connections.

Every call carries the visit (host, session cookie, binding secret, address of the browser), signed with the hub's key
(auth scheme HUB).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import httpx  # noqa: TID251 - the one module of the hub that opens connections

from app.contract.auth import Host
from app.contract.errors import AnotherAccount
from app.contract.visit import VISIT_HEADER
from app.contract.visit import Visit as SignedVisit
from app.kit import randomness
from app.kit.client import Client, Req, Res, ResponseHeaders, wsgi_transport
from app.kit.clock import Clock
from app.kit.local_calls import LocalClient
from app.kit.operation import Operation
from app.kit.probed_http import ProbedHttp
from app.kit.server import Server
from app.kit.signing import SIGNATURE_HEADER, signature

TIMEOUTS: Final = httpx.Timeout(10.0, connect=1.0, pool=1.0)
"""Seconds. A sign-in may wait for its hash and for an external provider; `ProbedHttp` stops waiting earlier if the service hangs."""
TRANSPORT_ERROR: Final = httpx.HTTPError
"""Base of the errors that `issuer_transport` raises if the service does not answer."""


class _IssuerTransport(httpx.BaseTransport):
    """Sends requests for a tenant's issuer to the identity service; the Host header tells it the tenant."""

    def __init__(self, identity_client: IdentityClient) -> None:
        self._client = identity_client

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        base_url = self._client.http.base_url
        request.url = request.url.copy_with(scheme=base_url.scheme, host=base_url.host, port=base_url.port)
        return self._client.http.send(request)


class AccountChanged(Exception):
    """The posted form is one of another account than the current one; answered by a page of its own, whatever page posted."""


class _VisitClient(Client):
    """Calls through another client, and raises AccountChanged for AnotherAccount."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def __call__(self, operation: Operation[Req, Res], req: Req) -> Res:
        try:
            return self._client(operation, req)
        except AnotherAccount:
            raise AccountChanged from None


class IdentityClient:
    """Calls the identity service.

    Args:
        address: base address of the service.
        keys: signing keys, one per line of the secret; each call is signed with all of them.
        transport: transport to the service; None for the network.
        server: the service in this process. Calls are handed to it, without HTTP and signature.
    """

    def __init__(
        self,
        address: str,
        keys: Sequence[bytes],
        clock: Clock,
        transport: httpx.BaseTransport | None = None,
        server: Server | None = None,
    ) -> None:
        if server is not None:
            transport = httpx.WSGITransport(app=server, raise_app_exceptions=False)  # for OAuth clients
        limits = httpx.Limits(max_connections=100, max_keepalive_connections=20)
        self.http = httpx.Client(base_url=address, transport=transport, timeout=TIMEOUTS, limits=limits)
        self._transport = (
            wsgi_transport(transport.app, self.http.base_url.scheme)
            if isinstance(transport, httpx.WSGITransport)
            else ProbedHttp(self.http)
        )
        self._server = server
        self._keys = keys
        self._clock = clock

    def issuer_transport(self) -> httpx.BaseTransport:
        """Return a transport for OAuth clients: the endpoints of the tenant's metadata lead to the service."""
        return _IssuerTransport(self)

    def for_visit(self, visit: SignedVisit, on_response: Callable[[ResponseHeaders], None]) -> Client:
        """Return the client for one visit; it calls `on_response` with the headers of every response."""
        if self._server is not None:
            return _VisitClient(LocalClient(self._server, Host.INSIDE, visit, on_response))
        header = visit.to_header()

        def sign(method: str, address: str, body: bytes) -> dict[str, str]:
            timestamp = int(self._clock.now().timestamp())
            signed = signature(self._keys, method, address, body, header, timestamp, randomness.token(16))
            return {VISIT_HEADER: header, SIGNATURE_HEADER: signed}

        return _VisitClient(Client(self._transport, sign, on_response))
