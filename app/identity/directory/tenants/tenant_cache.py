"""Caches tenants and their applications by version: a change is visible at once in this process, within 5 s in other processes."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection
from dataclasses import dataclass

from app.identity.directory.tenants import profile_client, tenant_store
from app.identity.directory.tenants.tables import applications
from app.identity.directory.tenants.tenant_writes import secret_digest
from app.identity.platform.committed_cache import CommittedCache
from app.identity.platform.store.database import Database, StoreUnavailable
from app.identity.platform.store.unit_of_work import Cost, UnitOfWork
from app.identity.platform.tenant import Application, Tenant
from app.kit import randomness
from app.kit.caching.lru_cache import LruCache
from app.kit.clock import monotonic, sleep
from app.kit.limits import time_budget
from app.settings import Settings

_GLANCE_SECONDS = 0.2
"""How long a request waits for the current version of a tenant that is cached; the cached one serves it while the database hangs."""
FRESH_SECONDS = 2.5  # the hub caches responses for 2.5 s more: together within the 5 s that a change may take
_NAME, _CUSTOM_HOST = _HOSTS = ("name", "custom host")  # kinds of cache keys that are no credentials
_MAX_TENANTS = 2_000
_MAX_APPLICATIONS = 20_000


@dataclass
class _CachedTenant:
    tenant: Tenant
    checked_at: float
    is_being_checked: bool = False
    """Whether a background thread reads the current version."""

    @property
    def is_fresh(self) -> bool:
        return monotonic() - self.checked_at < FRESH_SECONDS


class CachedTenantDirectory:
    """Finds tenants by host name, API key or API secret, and a tenant's applications.

    Args:
        on_load: called with each tenant read from the store, so that other caches can drop outdated entries.
    """

    def __init__(
        self, database: Database, settings: Settings, on_load: Callable[[Tenant], None] = lambda _: None
    ) -> None:
        self._database = database
        self._on_load = on_load
        self._settings = settings
        self._tenants: LruCache[tuple[str, str], _CachedTenant] = LruCache(_MAX_TENANTS)
        self._applications: CommittedCache[tuple[str, int, str, str], Application] = CommittedCache(_MAX_APPLICATIONS)
        self._origins: CommittedCache[tuple[str, int], frozenset[str]] = CommittedCache(_MAX_TENANTS)

    def by_name(self, name: str, cost: Cost | None = None) -> Tenant | None:
        """Return the tenant with this name."""
        return self._find((_NAME, name.lower()), lambda work: tenant_store.by_name(work, name.lower()), cost)

    def by_host(self, host: str, cost: Cost | None = None) -> Tenant | None:
        """Return the tenant of this host: its own below the hub domain, or a verified custom domain; the port must be the hub domain's."""
        kind, value = self._key_of_host(host)
        load = tenant_store.by_name if kind == _NAME else tenant_store.by_custom_host
        return self._find((kind, value), lambda work: load(work, value), cost) if value else None

    def by_key(self, api_key: str, cost: Cost | None = None) -> Tenant | None:
        """Return the tenant with this API key (a GUID, so letter case is folded)."""
        return self._find(("key", api_key.lower()), lambda work: tenant_store.by_key(work, api_key.lower()), cost)

    def by_secret(self, api_secret: str, cost: Cost | None = None) -> Tenant | None:
        """Return the only tenant with this API secret, for requests without an API key."""
        return self._find(
            ("secret", secret_digest(api_secret)), lambda work: tenant_store.by_secret(work, api_secret), cost
        )

    def by_client(self, client_id: str, secret: str, cost: Cost | None = None) -> Tenant | None:
        """Return the only tenant whose client has this id and secret, for requests without an API key."""
        digest = randomness.digest(secret)
        key = ("client", randomness.digest(f"{client_id} {digest}"))
        return self._find(key, lambda work: tenant_store.by_client(work, client_id, digest), cost)

    def by_id(self, tenant_id: str, cost: Cost | None = None) -> Tenant | None:
        """Return the tenant with this id, which messages of the outbox have."""
        return self._find(("id", tenant_id), lambda work: tenant_store.by_id(work, tenant_id), cost)

    def cached_name(self, kind: str, value: str) -> str:
        """Return the name of a cached tenant by kind "host", "key" or "secret", or an empty string. Makes no query."""
        key = (kind, secret_digest(value) if kind == "secret" else value.lower())
        cached = self._tenants.get(self._key_of_host(value) if kind == "host" else key)
        return cached.tenant.name if cached is not None else ""

    def fresh(self, host: str) -> Tenant | None:
        """Return the tenant of this host if the cached one is current. Makes no query."""
        cached = self._tenants.get(self._key_of_host(host))
        return cached.tenant if cached is not None and cached.is_fresh else None

    def current_tags(self, hosts: Collection[str], work: UnitOfWork) -> dict[str, str]:
        """Return the present version tag of the tenant at each host, in one statement; empty where there is none.

        The cache of this process takes it over: a tenant that is read next is no older.
        """
        keys, requested_at = {host: self._key_of_host(host) for host in hosts}, monotonic()
        names, custom_hosts = ([value for kind, value in keys.values() if kind == item and value] for item in _HOSTS)
        of_names, of_hosts = tenant_store.current_tags(work, names, custom_hosts)
        found = {host: (of_names if kind == _NAME else of_hosts).get(value, "") for host, (kind, value) in keys.items()}
        for host, tag in found.items():
            self._confirm(keys[host], tag, requested_at)
        return found

    def _confirm(self, key: tuple[str, str], tag: str, requested_at: float) -> None:
        """Mark the cached tenant as checked if the store has its version; else expire or drop it."""
        cached = self._tenants.peek(key)
        if cached is None:
            return
        if not tag:
            self._tenants.drop(key)
        elif cached.tenant.version_tag == tag:
            cached.checked_at = max(cached.checked_at, requested_at)
        else:
            cached.checked_at = float("-inf")

    def application(
        self, tenant: Tenant, work: UnitOfWork, *, client_id: str | None = None, name: str | None = None
    ) -> Application | None:
        """Return the tenant's application; every tenant includes the profile client."""
        kind, value = ("id", client_id) if client_id is not None else ("name", (name or "").lower())
        key = (tenant.tenant_id, tenant.version, kind, value or "")
        cached = self._applications.get(key)
        if cached is None:
            is_profile_client = value == profile_client.CLIENT_ID
            cached = (
                profile_client.application(self._settings.addresses(tenant.name, tenant.custom_hosts))
                if is_profile_client
                else tenant_store.application(work, client_id=client_id, name=name)
            )
            # An application that registered itself changes without a new version of the tenant.
            if cached is not None and not cached.is_self_registered:
                self._applications.put(key, cached, work, applications)
        return cached

    def origins(self, tenant: Tenant, work: UnitOfWork) -> frozenset[str]:
        """Return the origins of the active applications that the tenant configured."""
        key = (tenant.tenant_id, tenant.version)
        cached = self._origins.get(key)
        if cached is None:
            cached = tenant_store.origins(work)
            self._origins.put(key, cached, work, applications)
        return cached

    def clear_cache(self) -> None:
        """Empty the cache, after a change in this process."""
        self._tenants.clear()
        self._applications.clear()
        self._origins.clear()

    def _key_of_host(self, host: str) -> tuple[str, str]:
        """Return the cache key of a host, with an empty value if no tenant can have it."""
        host, own, (_, colon, port) = host.lower(), self._settings.hub_domain, self._settings.hub_domain.partition(":")
        name, _, domain = host.partition(".")
        if domain == own:
            return _NAME, name
        return _CUSTOM_HOST, host.removesuffix(colon + port) if host.endswith(colon + port) else ""

    def _find(
        self, key: tuple[str, str], load: Callable[[UnitOfWork], Tenant | None], cost: Cost | None
    ) -> Tenant | None:
        cached = self._tenants.get(key)
        if cached is not None and cached.is_fresh:
            return cached.tenant
        if cached is None or key[0] not in _HOSTS:  # credentials are never accepted from an outdated cache
            return self._read(key, cached, load, cost)
        if cached.is_being_checked or self._database.is_hanging:
            return cached.tenant  # key sets, metadata and pages need no store
        try:
            with time_budget.at_most(_GLANCE_SECONDS):
                return self._read(key, cached, load, cost)
        except StoreUnavailable:
            self._check_later(key, cached, load)
            return cached.tenant

    def _read(
        self,
        key: tuple[str, str],
        cached: _CachedTenant | None,
        load: Callable[[UnitOfWork], Tenant | None],
        cost: Cost | None,
    ) -> Tenant | None:
        work, requested_at = UnitOfWork(self._database, tenant_store.LOOKUP_TENANT, cost), monotonic()
        try:
            if cached is not None and tenant_store.version(work, cached.tenant.tenant_id) == cached.tenant.version:
                cached.checked_at = requested_at
                return cached.tenant
            tenant = load(work)
        finally:
            work.rollback()
        if tenant is None:
            self._tenants.drop(key)  # suspended or gone: it must not serve while the database is slow
        else:
            self._on_load(tenant)
            self._tenants.put(key, _CachedTenant(tenant, requested_at))
        return tenant

    def _check_later(
        self, key: tuple[str, str], cached: _CachedTenant, load: Callable[[UnitOfWork], Tenant | None]
    ) -> None:
        """Read the current version in the background, for as long as that takes, while requests get the cached one."""

        def check() -> None:
            time_budget.begin(self._settings.request_wait_seconds)  # the thread's own
            try:
                self._read(key, cached, load, None)
            except Exception:  # noqa: BLE001 - a later request asks again
                sleep(time_budget.RETRY_SECONDS)
            finally:
                cached.is_being_checked = False

        cached.is_being_checked = True
        try:
            threading.Thread(target=check, name="tenant", daemon=True).start()
        except RuntimeError:  # the process has no more threads
            cached.is_being_checked = False
