"""CORS (Fetch standard): answers to scripts of web origins that an application of the tenant registered, to no others."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from app.identity.store.unit import UnitOfWork
from app.kit.reading import RawRequest

if TYPE_CHECKING:
    from app.identity.house import House

_PREFLIGHT_SECONDS = 600


def headers(house: House, raw: RawRequest) -> Iterable[tuple[str, str]]:
    """Yield the headers that let the asking origin read the answer; only `Vary` for anybody else."""
    yield "Vary", "Origin"
    origin = raw.headers.get("origin", "")
    if not _is_registered(house, raw.host, origin):
        return
    yield "Access-Control-Allow-Origin", origin
    yield "Access-Control-Expose-Headers", "WWW-Authenticate, Retry-After"
    if raw.method == "OPTIONS":
        yield "Access-Control-Allow-Methods", "GET, POST, OPTIONS"
        yield "Access-Control-Allow-Headers", "Authorization, Content-Type"
        yield "Access-Control-Max-Age", str(_PREFLIGHT_SECONDS)


def _is_registered(house: House, host: str, origin: str) -> bool:
    name, _, domain = host.lower().partition(".")
    if domain != house.settings.hub_domain:
        return False
    tenant = house.directory.by_name(name)
    if tenant is None:
        return False
    work = UnitOfWork(house.database, tenant.tenant_id)
    try:
        return origin in house.directory.origins(tenant, work)
    finally:
        work.rollback()
