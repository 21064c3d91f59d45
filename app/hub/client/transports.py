"""HTTP transports from the hub to the identity service: for a hub in a separate process, and for OAuth clients."""

from __future__ import annotations

from typing import Final
from wsgiref.types import WSGIApplication

import httpx

TIMEOUTS: Final = httpx.Timeout(10.0, connect=1.0, pool=1.0)
"""Seconds. A sign-in may wait for its hash and for an external provider; `ProbedHttp` stops waiting earlier if the service hangs."""
LIMITS: Final = httpx.Limits(max_connections=100, max_keepalive_connections=20)
CONNECT_ERROR: Final = httpx.ConnectError
TRANSPORT_ERROR: Final = httpx.HTTPError
"""Base of the errors that `IssuerTransport` raises if the service does not answer."""


def http_client(
    address: str, transport: httpx.BaseTransport | None = None, server: WSGIApplication | None = None
) -> httpx.Client:
    """Return an HTTP client: to the application in this process, else to the transport's application, else over the network."""
    if server is not None:
        transport = httpx.WSGITransport(app=server, raise_app_exceptions=False)
    return httpx.Client(base_url=address, transport=transport, timeout=TIMEOUTS, limits=LIMITS)


def app_of(transport: httpx.BaseTransport | None) -> WSGIApplication | None:
    """Return the application in this process that a transport leads to; None if it leads out of it."""
    return transport.app if isinstance(transport, httpx.WSGITransport) else None


def developer_client(address: str) -> httpx.Client:
    """Return an HTTP client to an address that a developer gave a command.

    A name below `localhost` is this machine (RFC 6761 section 6.3), as in browsers and curl; not every system's resolver knows that.
    """
    is_this_machine = httpx.URL(address).host.endswith(".localhost")
    return http_client(address, LoopbackTransport() if is_this_machine else None)


class LoopbackTransport(httpx.HTTPTransport):
    """Connects to this machine. The Host header and the name in TLS stay those of the request."""

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        request.extensions = {**request.extensions, "sni_hostname": request.url.host}
        request.url = request.url.copy_with(host="127.0.0.1")
        return super().handle_request(request)


class IssuerTransport(httpx.BaseTransport):
    """Sends requests for a tenant's issuer to the identity service; the Host header names the tenant."""

    def __init__(self, http: httpx.Client) -> None:
        self._http = http

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        base_url = self._http.base_url
        request.url = request.url.copy_with(scheme=base_url.scheme, host=base_url.host, port=base_url.port)
        return self._http.send(request)
