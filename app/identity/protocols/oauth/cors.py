"""CORS (Fetch standard): for web origins that an application of the tenant registered, and no others."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from app.identity.platform.store.unit import UnitOfWork
from app.kit.reading import RawRequest
from app.kit.web_addresses import sent_origin

if TYPE_CHECKING:
    from app.identity.platform.services import Services

_PREFLIGHT_SECONDS = 600


def headers(services: Services, raw: RawRequest) -> Iterable[tuple[str, str]]:
    """Yield the CORS headers for a registered origin; only `Vary` for any other."""
    yield "Vary", "Origin"
    origin = sent_origin(raw.headers.get("origin"))
    if not origin or not _is_registered(services, raw.host, origin):
        return
    yield "Access-Control-Allow-Origin", origin
    yield "Access-Control-Expose-Headers", "WWW-Authenticate, Retry-After, DPoP-Nonce"
    if raw.method == "OPTIONS":
        yield "Access-Control-Allow-Methods", "GET, POST, OPTIONS"
        yield "Access-Control-Allow-Headers", "Authorization, Content-Type, DPoP"
        yield "Access-Control-Max-Age", str(_PREFLIGHT_SECONDS)


def _is_registered(services: Services, host: str, origin: str) -> bool:
    tenant = services.directory.by_host(host)
    if tenant is None:
        return False
    work = UnitOfWork(services.database, tenant.tenant_id)
    try:
        return origin in services.directory.origins(tenant, work)
    finally:
        work.rollback()
