"""CORS (Fetch standard): which web pages may read responses (decision 0341). No response allows credentials of the browser."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Final

from app.identity.directory.tenants import tenant_store
from app.identity.platform.context import Context
from app.identity.platform.services import IdentityServices
from app.identity.platform.store.database import StoreUnavailable
from app.identity.platform.store.unit_of_work import UnitOfWork
from app.identity.platform.tenant import Tenant
from app.kit.operations.auth import Cors
from app.kit.operations.operation import AnyOperation
from app.kit.operations.request_parsing import RawRequest
from app.kit.web.urls import sent_origin

_EXPOSED: Final = "WWW-Authenticate, Retry-After, DPoP-Nonce"
_REQUEST_HEADERS: Final = (
    "authorization", "content-type", "dpop", "accept", "accept-language", "content-language", "mcp-protocol-version", "x-requested-with",
    "traceparent", "tracestate", "baggage", "cache-control", "pragma", "x-request-id",
)  # fmt: skip
"""Fields that a page may send: those that the operations read, and those that libraries add and nothing here reads."""
_PREFLIGHT_SECONDS: Final = "600"


def headers(
    services: IdentityServices, operation: AnyOperation, context: Context | None, raw: RawRequest
) -> Iterable[tuple[str, str]]:
    """Yield the CORS headers of a response, a refusal or a preflight; only `Vary` for an origin that may not read it."""
    kind, sent = operation.admission.cors, raw.headers.get("origin")
    if kind is Cors.ANY:
        yield "Access-Control-Allow-Origin", "*"
    elif kind is Cors.CLIENT and sent is not None:
        yield "Vary", "Origin"
        origin = sent_origin(sent)
        if not origin or not _may_read(services, context, raw, origin):
            return
        yield "Access-Control-Allow-Origin", origin
    else:
        return
    yield "Access-Control-Expose-Headers", _EXPOSED
    if raw.method == "OPTIONS":
        yield "Access-Control-Allow-Headers", ", ".join(_allowed(raw.headers.get("access-control-request-headers")))
        yield "Access-Control-Max-Age", _PREFLIGHT_SECONDS


def _allowed(requested: str | None) -> Iterator[str]:
    """Yield the requested fields that a page may send; all of them for a preflight that requests none."""
    names = [name.strip() for name in requested.split(",")] if requested else _REQUEST_HEADERS
    yield from (name for name in dict.fromkeys(names) if name.lower() in _REQUEST_HEADERS)


def _may_read(services: IdentityServices, context: Context | None, raw: RawRequest, origin: str) -> bool:
    """Return whether the origin is one of the client's; of any client, where the request has none yet, as a preflight."""
    with suppress(StoreUnavailable):
        tenant = (
            context.tenant
            if context is not None
            else services.directory.by_host(services.settings.without_mtls(raw.host))
        )
        if tenant is None:
            return False
        work = UnitOfWork(services.database, tenant.tenant_id)
        try:
            return _is_of_client(services, tenant, work, context, origin)
        finally:
            work.rollback()
    return False


def _is_of_client(
    services: IdentityServices, tenant: Tenant, work: UnitOfWork, context: Context | None, origin: str
) -> bool:
    client = context.client if context is not None else None
    if client is None and context is not None and context.holder is not None and context.holder.client_id:
        client = services.directory.application(tenant, work, client_id=context.holder.client_id)
    if client is not None:
        return origin in tenant_store.origins_of(client.settings)
    # Anyone may register an application with any origin, so that no origin is known to be none's.
    return origin in services.directory.origins(tenant, work) or tenant_store.has_registered_themselves(work)
