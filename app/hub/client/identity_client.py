"""The client of the identity service: the only module of the hub that opens connections.

Every call carries the visit (host, session cookie, binding secret, address of the browser), signed with the hub's key
(auth scheme HUB).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from app.contract.auth import Host
from app.contract.catalogue import for_visits
from app.contract.errors import AnotherAccount, NotAuthenticated
from app.contract.visitor_claims import VISIT_HEADER, VisitorClaims
from app.kit import randomness
from app.kit.clock import Clock
from app.kit.operations.call_signing import SIGNATURE_HEADER, signature
from app.kit.operations.client import Client, Req, Res, ResponseHeaders, wsgi_transport
from app.kit.operations.in_process_client import LocalClient
from app.kit.operations.liveness_transport import ProbedHttp
from app.kit.operations.operation import Operation
from app.kit.operations.server import OperationServer

if TYPE_CHECKING:
    import httpx  # noqa: TID251 - for its types alone

    from app.kit.operations.client import Transport


class AccountChanged(Exception):
    """The posted form belongs to another account than the current one; `account_changed` answers it for every page."""


class SignInRequired(Exception):
    """The visit has no session; `exception_pages.py` begins a sign-in, which returns to the account page."""


@dataclass
class _VisitClient(Client):
    """Calls operations for one visit: public operations in their `for_visits` form.

    Raises AccountChanged for AnotherAccount, and SignInRequired for NotAuthenticated.
    """

    client: Client

    def __call__(self, operation: Operation[Req, Res], req: Req) -> Res:
        called = operation if operation.host is Host.INSIDE else for_visits(operation)
        try:
            return self.client(called, req)
        except AnotherAccount:
            raise AccountChanged from None
        except NotAuthenticated:
            raise SignInRequired from None


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
        server: OperationServer | None = None,
    ) -> None:
        self._address = address
        self._given = transport
        self._server = server
        self._keys = keys
        self._clock = clock

    @cached_property
    def _http(self) -> httpx.Client:
        """The HTTP client for a hub in a separate process, and for OAuth clients."""
        from app.hub.client.transports import http_client

        return http_client(self._address, self._given, self._server)

    @cached_property
    def _transport(self) -> Transport:
        """The transport for a hub in a separate process."""
        from app.hub.client.transports import app_of

        app = app_of(self._given)
        return ProbedHttp(self._http) if app is None else wsgi_transport(app, urlsplit(self._address).scheme)

    def issuer_transport(self) -> httpx.BaseTransport:
        """Return a transport for OAuth clients: the endpoints of the tenant's metadata lead to the service."""
        from app.hub.client.transports import IssuerTransport

        return IssuerTransport(self._http)

    def for_hub(self) -> Client:
        """Return the client for calls outside of a visit, to operations that belong to no tenant."""
        return self.for_visit(VisitorClaims(host=""), None)

    def for_visit(self, visit: VisitorClaims, on_response: Callable[[ResponseHeaders], None] | None) -> Client:
        """Return the client for one visit; it calls `on_response`, if given, with the headers of every response."""
        if self._server is not None:
            return _VisitClient(LocalClient(self._server, Host.INSIDE, visit, on_response))
        header = visit.to_header()

        def sign(method: str, address: str, body: bytes) -> dict[str, str]:
            timestamp = int(self._clock.now().timestamp())
            signed = signature(self._keys, method, address, body, header, timestamp, randomness.token(16))
            return {VISIT_HEADER: header, SIGNATURE_HEADER: signed}

        return _VisitClient(Client(self._transport, sign, on_response))
