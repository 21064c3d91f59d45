"""What all operations of this process share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from app.identity.authentication.federation.providers.openid import Upstreams
from app.identity.authentication.sign_in.locations.registry import locations
from app.identity.credentials.passwords.breached_passwords import Breaches
from app.identity.credentials.passwords.hashing import Hashing, TenantHashing
from app.identity.directory.tenants.directory import Directory
from app.identity.directory.tenants.signing_keys import Keyring
from app.identity.platform.encryption import Encryption, derive
from app.identity.platform.locations import Locations
from app.identity.platform.store.database import Database
from app.identity.platform.tenant import Tenant
from app.kit.clock import Clock, SystemClock
from app.kit.limits import Limits
from app.kit.lru_cache import LruCache
from app.kit.nonces import Nonces
from app.kit.public_addresses import Resolver
from app.kit.signing import WINDOW_SECONDS
from app.settings import Settings

_MOST_TEMPLATES = 2_000  # kinds of letters of tenants; most have none


@dataclass
class Services:
    """The process's services, made once from the settings."""

    settings: Settings
    clock: Clock = field(default_factory=SystemClock)
    database: Database = field(init=False)
    encryption: Encryption = field(init=False)
    hashing: Hashing = field(init=False)
    limits: Limits = field(init=False)
    directory: Directory = field(init=False)
    keyring: Keyring = field(init=False)
    breaches: Breaches = field(init=False)
    locations: Locations = field(init=False)
    letter_templates: LruCache[tuple[str, int, str, str], Mapping[str, Any]] = field(init=False)
    upstreams: Upstreams = field(init=False)
    hub_keys: tuple[bytes, ...] = field(init=False)
    nonces: Nonces = field(init=False)

    def __post_init__(self) -> None:
        self.database = Database(self.settings.database)
        self.encryption = Encryption(self.settings.secrets)
        self.hashing = Hashing(self.settings.hashes_at_once)
        self.limits = Limits(self.settings.redis_url, self.clock)
        self.directory = Directory(self.database, self.settings.hub_url, self._read_anew)
        self.keyring = Keyring(self.encryption, self.clock)
        self.locations = locations(self.settings.locations_file)
        self.breaches = Breaches(self.settings.breaches_url, self.settings.breaches_file)
        self.upstreams = Upstreams(self.clock, Resolver(self.settings.reachable_networks))
        self.letter_templates = LruCache(_MOST_TEMPLATES)
        self.hub_keys = tuple(derive(secret, "hub calls") for secret in self.settings.secrets)
        self.nonces = Nonces(self.settings.redis_url, WINDOW_SECONDS)

    def _read_anew(self, tenant: Tenant) -> None:
        self.keyring.learn(tenant.tenant_id, tenant.version)


__all__ = ["House", "TenantHashing"]
