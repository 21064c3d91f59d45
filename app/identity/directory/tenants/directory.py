"""Tenants and their applications, cached by version: a change is seen at once in this process, within 5 s elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from app.identity.directory.tenants import profile_client, store
from app.identity.directory.tenants.changes import secret_digest
from app.identity.platform.store.database import Database, StoreUnavailable
from app.identity.platform.store.unit import Cost, UnitOfWork
from app.identity.platform.tenant import Application, Tenant
from app.kit.clock import monotonic
from app.kit.lru_cache import LruCache

FRESH_SECONDS = 2.5  # the hub keeps a copy for 2 s more: together within the 5 s that a change may take
_MOST_TENANTS = 2_000
_MOST_APPLICATIONS = 20_000


@dataclass
class _Held:
    tenant: Tenant
    checked_at: float = field(default_factory=monotonic)


class CachedTenantDirectory:
    """Finds tenants by host name, API key or API secret, and a tenant's applications.

    Args:
        read_anew: told of each tenant that was read anew, so that other copies of what is its own go where it has changed.
    """

    def __init__(
        self, database: Database, hub_url: Callable[[str], str], read_anew: Callable[[Tenant], None] = lambda _: None
    ) -> None:
        self._database = database
        self._read_anew = read_anew
        self._hub_url = hub_url
        self._tenants: LruCache[tuple[str, str], _Held] = LruCache(_MOST_TENANTS)
        self._applications: LruCache[tuple[str, int, str, str], Application] = LruCache(_MOST_APPLICATIONS)
        self._origins: LruCache[tuple[str, int], frozenset[str]] = LruCache(_MOST_TENANTS)

    def by_name(self, name: str, cost: Cost | None = None) -> Tenant | None:
        """Return the tenant whose subdomain this is."""
        return self._find(("name", name.lower()), lambda work: store.by_name(work, name.lower()), cost)

    def by_key(self, api_key: str, cost: Cost | None = None) -> Tenant | None:
        """Return the tenant that holds this API key (keys are GUIDs: letter case is folded)."""
        return self._find(("key", api_key.lower()), lambda work: store.by_key(work, api_key.lower()), cost)

    def by_secret(self, api_secret: str, cost: Cost | None = None) -> Tenant | None:
        """Return the tenant that alone holds this API secret, for operations that bring no key."""
        return self._find(("secret", secret_digest(api_secret)), lambda work: store.by_secret(work, api_secret), cost)

    def cached_name(self, kind: str, value: str) -> str:
        """Return the name of a tenant that was found a while ago by "name", "key" or "secret"; empty for any other. Makes no query."""
        held = self._tenants.get((kind, secret_digest(value) if kind == "secret" else value.lower()))
        return held.tenant.name if held is not None else ""

    def application(
        self, tenant: Tenant, work: UnitOfWork, *, client_id: str | None = None, name: str | None = None
    ) -> Application | None:
        """Return the tenant's application; the hub's own client is one in every tenant, without a row."""
        kind, value = ("id", client_id) if client_id is not None else ("name", (name or "").lower())
        key = (tenant.tenant_id, tenant.version, kind, value or "")
        held = self._applications.get(key)
        if held is None:
            is_own = value == profile_client.CLIENT_ID
            held = (
                profile_client.application(self._hub_url(tenant.name))
                if is_own
                else store.application(work, client_id=client_id, name=name)
            )
            if held is not None:
                self._applications.put(key, held)
        return held

    def origins(self, tenant: Tenant, work: UnitOfWork) -> frozenset[str]:
        """Return the web origins that the tenant's active applications registered."""
        key = (tenant.tenant_id, tenant.version)
        held = self._origins.get(key)
        if held is None:
            held = store.origins(work)
            self._origins.put(key, held)
        return held

    def clear_cache(self) -> None:
        """Drop everything: called after a change in this process."""
        self._tenants.clear()
        self._applications.clear()
        self._origins.clear()

    def _find(
        self, key: tuple[str, str], load: Callable[[UnitOfWork], Tenant | None], cost: Cost | None
    ) -> Tenant | None:
        held = self._tenants.get(key)
        if held is not None and monotonic() - held.checked_at < FRESH_SECONDS:
            return held.tenant
        work = UnitOfWork(self._database, store.LOOKUP_TENANT, cost)
        try:
            if held is not None and store.version(work, held.tenant.tenant_id) == held.tenant.version:
                held.checked_at = monotonic()
                return held.tenant
            found = load(work)
        except StoreUnavailable:
            if held is None or key[0] != "name":  # what shows a secret is never believed from memory
                raise
            return held.tenant  # for key sets, metadata and pages, which need no store beside it
        finally:
            work.rollback()
        if found is not None:
            self._read_anew(found)
            self._tenants.put(key, _Held(found))
        return found
