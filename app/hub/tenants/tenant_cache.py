"""Caches tenants by host in a hub process, and polls every two seconds which of them changed (decision 0367)."""

from __future__ import annotations

import heapq
import logging
import threading
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from app.contract.errors import UnknownTenant
from app.contract.tenants import tenant_pages
from app.hub.tenants.tenant import NO_TENANT, HubTenant, tenant_from_view
from app.kit.caching.lru_cache import LruCache
from app.kit.clock import monotonic, sleep
from app.kit.limits import time_budget
from app.kit.observability.throttled_log import ThrottledLog
from app.kit.operations.client import Client, ResponseHeaders, ServiceUnavailable

log = logging.getLogger("gatehouse.hub")

ASK_SECONDS: Final = 2.0
"""How often the hub polls for changed tenants."""
MAX_AGE_SECONDS: Final = 5.0
"""Maximum age of a cached tenant while the identity service answers ..."""
READING_AGE_SECONDS: Final = 10.0
"""... except for visits while another visit refreshes it, which takes milliseconds. By this age, a hanging service has been detected."""
READ_AGE_SECONDS: Final = 2.5
"""How old a tenant in a response may be: each process of the identity service caches it, too."""
MAX_STALE_SECONDS: Final = 3600.0
"""Maximum age while the service does not answer; pages answer 503 after that."""
IDLE_SECONDS: Final = 600.0
"""The hub polls for hosts with a visit within these seconds: people leave a form open for minutes."""
MAX_CACHED: Final = tenant_pages.MAX_HOSTS
MAX_UNKNOWN: Final = 500
MAX_HOST_LENGTH: Final = 260
"""A name of 254 characters, and a port."""
VERSION_HEADER: Final = "x-gatehouse-tenant-version"


@dataclass(slots=True, eq=False)
class _Cached:
    tenant: HubTenant
    as_of: float
    """The latest time at which the identity service confirmed this version."""
    used_at: float


class TenantCache:
    """Caches tenants by host. Thread-safe.

    Args:
        client: returns the client for calls that the hub makes for no visit.
        is_watched: whether a thread calls `poll` every two seconds, from the first cached tenant until the cache is dropped.
    """

    def __init__(self, client: Callable[[], Client], *, is_watched: bool = False) -> None:
        self._client = client
        self._is_watched = is_watched
        self._by_host: dict[str, _Cached] = {}
        self._unknown: LruCache[str, float] = LruCache(MAX_UNKNOWN)
        """When the service answered that a host has no tenant. A separate cache, so that invented hosts evict no tenant and are
        not polled."""
        self._being_read: set[str] = set()
        """Hosts whose tenant a visit is refreshing; other visits use the cached tenant meanwhile."""
        self._lock = threading.Lock()
        self._watcher: threading.Thread | None = None
        self._failed_at = float("-inf")
        self._failures = ThrottledLog(log)

    def by_host(self, host: str, client: Callable[[], Client]) -> HubTenant:
        """Return the tenant of a host; calls the identity service only if it is not cached, or changed.

        Raises:
            UnknownTenant: no tenant has the host.
            ServiceUnavailable: the service does not answer, and no tenant is cached.
        """
        return self.fresh(host) or self._read(host, client)

    def fresh(self, host: str) -> HubTenant | None:
        """Return the cached tenant of a host unless it changed or is too old; None otherwise. Makes no call."""
        cached, now = self._by_host.get(host), monotonic()
        # The age is a guard for a process whose thread did not run (suspended, out of threads): `poll` keeps it below the limit.
        if cached is None or now - cached.as_of >= MAX_AGE_SECONDS:
            return None
        cached.used_at = now
        return cached.tenant

    def cached_name(self, host: str) -> str:
        """Return the tenant's name for a cached host; empty for any other. Makes no call."""
        cached = self._by_host.get(host)
        return cached.tenant.name if cached is not None else ""

    def on_response(self, host: str, headers: ResponseHeaders) -> None:
        """Read the tenant's version from a response; a tenant of another version is read again at the next visit."""
        version, cached = headers.get(VERSION_HEADER), self._by_host.get(host)
        if version and cached is not None and cached.tenant.version != version:
            self._expire(host, cached)

    def poll(self) -> None:
        """Poll which tenants of hosts with recent visits changed; expire those, and drop removed ones.

        Raises:
            ApiError, ServiceUnavailable: there is no answer; the next round polls again.
        """
        requested_at = monotonic()
        with self._lock:
            recently_used = {
                host: element
                for host, element in self._by_host.items()
                if requested_at - element.used_at < IDLE_SECONDS
            }
        if not recently_used:
            return
        versions = {host: element.tenant.version for host, element in recently_used.items()}
        with time_budget.at_most(ASK_SECONDS):
            changed = self._client()(tenant_pages.changed_tenants, tenant_pages.HeldTenants(versions=versions)).versions
        for host, item in recently_used.items():
            version = changed.get(host)
            if version is None:
                item.as_of = max(item.as_of, requested_at)
            elif version:
                self._expire(host, item)
            else:
                self._drop(host, item)

    def _read(self, host: str, client: Callable[[], Client]) -> HubTenant:
        cached = self._by_host.get(host)
        if cached is None:
            if len(host) > MAX_HOST_LENGTH or self._is_unknown(host):
                raise UnknownTenant
            return self._call(host, None, client)
        # One visit refreshes the tenant; others neither wait for its response nor repeat the call to a hanging service.
        now = monotonic()
        is_being_read = host in self._being_read and now - cached.as_of < READING_AGE_SECONDS
        if is_being_read or (now - self._failed_at < ASK_SECONDS and _is_servable(cached)):
            return cached.tenant
        self._being_read.add(host)
        try:
            return self._call(host, cached, client)
        finally:
            self._being_read.discard(host)

    def _call(self, host: str, cached: _Cached | None, client: Callable[[], Client]) -> HubTenant:
        known, requested_at = cached.tenant if cached is not None else NO_TENANT, monotonic()
        try:
            response = client()(tenant_pages.tenant, tenant_pages.TenantRequest(version=known.version or None))
        except UnknownTenant:
            self._drop(host, cached)
            raise
        except ServiceUnavailable:
            self._failed_at = monotonic()
            if cached is None or not _is_servable(cached):
                raise
            self._failures.write("tenant", "the identity service does not answer; pages use cached tenants")
            return known
        tenant = tenant_from_view(response.tenant) if response.tenant is not None else known
        self._store(host, tenant, requested_at - READ_AGE_SECONDS)
        return tenant

    def _store(self, host: str, tenant: HubTenant, as_of: float) -> None:
        with self._lock:
            if host not in self._by_host and len(self._by_host) >= MAX_CACHED:
                least_used = heapq.nsmallest(MAX_CACHED // 10, self._by_host.items(), key=lambda item: item[1].used_at)
                for other, _ in least_used:
                    del self._by_host[other]
            self._by_host[host] = _Cached(tenant, as_of, monotonic())
            self._watch()

    def _expire(self, host: str, cached: _Cached) -> None:
        """Expire a tenant, so that the next visit reads it again. It is a new entry, so that a poll in progress does not confirm it."""
        outdated = monotonic() - MAX_AGE_SECONDS - 1
        with self._lock:
            if self._by_host.get(host) is cached:
                self._by_host[host] = _Cached(cached.tenant, min(cached.as_of, outdated), cached.used_at)

    def _drop(self, host: str, cached: _Cached | None) -> None:
        """Remember that no tenant has the host."""
        self._unknown.put(host, monotonic())
        with self._lock:
            if self._by_host.get(host) is cached:
                self._by_host.pop(host, None)

    def _is_unknown(self, host: str) -> bool:
        said_at = self._unknown.get(host)
        return said_at is not None and monotonic() - said_at < ASK_SECONDS

    def _watch(self) -> None:
        """Start the thread unless it runs in this process; a forked process starts its own."""
        if not self._is_watched or (self._watcher is not None and self._watcher.is_alive()):
            return
        self._watcher = threading.Thread(
            target=_refresh_periodically, args=(weakref.ref(self),), name="tenants", daemon=True
        )
        try:
            self._watcher.start()
        except RuntimeError:  # the process has no more threads; visits ask meanwhile
            self._watcher = None

    def _poll_safely(self) -> None:
        try:
            self.poll()
        except Exception as problem:  # noqa: BLE001 - whatever it is, the next round asks again
            self._failures.write("round", "the hub does not learn which tenants changed", problem=str(problem))


def _is_servable(cached: _Cached) -> bool:
    """Return whether pages may show a tenant while the service does not answer."""
    return monotonic() - cached.as_of < MAX_STALE_SECONDS


def _refresh_periodically(cache: weakref.ref[TenantCache]) -> None:
    """Poll every two seconds, until the cache is garbage-collected."""
    sleep(ASK_SECONDS)
    while _refresh_once(cache):
        sleep(ASK_SECONDS)


def _refresh_once(cache: weakref.ref[TenantCache]) -> bool:
    stored = cache()
    if stored is not None:
        stored._poll_safely()
    return stored is not None
