"""Assigns requests with heavy work, such as a password hash, to the tenant's hash queue (decision 0152), without database or Redis."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import Any, Final

from app.contract.auth import AuthScheme, Host
from app.contract.visitor_claims import VISIT_HEADER, VisitorClaims
from app.identity.assembly.admission import tenant_resolution
from app.identity.platform.services import IdentityServices
from app.identity.protocols.oauth.tokens import claimed_issuers
from app.kit.limits.queue_slot import QueueSlot
from app.kit.operations.operation import AnyOperation
from app.kit.operations.request_parsing import RawRequest
from app.kit.operations.routing import choose
from app.kit.operations.server import OperationServer, path_of, raw_request

_VISIT: Final = f"HTTP_{VISIT_HEADER.upper().replace('-', '_')}"


class HashQueueRouter:
    """Finds the hash queue of a request to the identity service."""

    def __init__(self, services: IdentityServices, server: OperationServer) -> None:
        self._services = services
        self._server = server

    def queue_slot(self, environ: Mapping[str, Any]) -> QueueSlot | None:
        """Return the queue slot of a request, or None if it takes no CPU for long.

        The tenant is not authenticated: a false name only gets a slot in that tenant's queue, as signing in there would.
        """
        stream = environ["wsgi.input"]
        body = stream.getvalue() if isinstance(stream, io.BytesIO) else b""
        host = tenant_resolution.host_of(self._services.settings, environ.get("HTTP_HOST", ""))
        candidates = self._server.operations_at(host, environ["REQUEST_METHOD"], path_of(environ))
        if not any(_is_heavy(candidate, environ, body) for candidate in candidates):
            return None  # most requests end here
        raw = raw_request({**environ, "wsgi.input": io.BytesIO(body)})
        operation = choose(candidates, raw.query)
        if operation is None or operation.heavy_work is None or not _is_heavy(operation, environ, body):
            return None
        return QueueSlot(self._tenant_name(operation, raw), operation.heavy_work.work)

    def _tenant_name(self, operation: AnyOperation, raw: RawRequest) -> str:
        """Return the tenant's name, or an empty string if it is not cached; those requests share one queue."""
        directory = self._services.directory
        if operation.host is Host.TENANT:
            return directory.cached_name("host", raw.host)
        if AuthScheme.HUB in operation.admission.auth.schemes():
            return directory.cached_name("host", _visit_in(raw.headers.get(VISIT_HEADER.lower(), "")).host)
        key = tenant_resolution.api_key(raw)
        if key is not None:
            return directory.cached_name("key", key)
        secret = tenant_resolution.api_secret(raw)
        if secret is not None:
            return directory.cached_name("secret", secret)
        return directory.cached_name("host", claimed_issuers.claimed_host(raw.header_token()))


def _is_heavy(operation: AnyOperation, environ: Mapping[str, Any], body: bytes) -> bool:
    """Return whether a request may take a CPU for long: by a secret in its query or body, or the password of a visit."""
    if operation.heavy_work is None:
        return False
    if operation.heavy_work.applies_to(environ["QUERY_STRING"], body):
        return True
    return operation.admission.visitor is not None and bool(_visit_in(environ.get(_VISIT, "")).password)


def _visit_in(header: str) -> VisitorClaims:
    """Return the claims of a header that is not authenticated yet; empty ones for a malformed header."""
    try:
        return VisitorClaims.from_header(header)
    except ValueError:
        return VisitorClaims(host="")
