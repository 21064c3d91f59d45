"""Creates the services of a process."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.identity.authentication.sign_in.locations.registry import locations
from app.identity.credentials.passwords.breached_passwords import BreachedPasswordIndex
from app.identity.credentials.passwords.hashing import Argon2Hashing
from app.identity.directory.tenants.keys.signing_keys import StoredSigningKeys
from app.identity.directory.tenants.tenant_cache import CachedTenantDirectory
from app.identity.platform.committed_cache import CommittedCache
from app.identity.platform.encryption import Encryption, derive_key
from app.identity.platform.outbound.openid_metadata import ProviderMetadataCache
from app.identity.platform.services import IdentityServices
from app.identity.platform.store.database import Database
from app.identity.platform.tenant import Tenant
from app.identity.protocols.oauth.sender_constraints import dpop
from app.kit.clock import Clock, SystemClock
from app.kit.images.image_converter import ImageConverter
from app.kit.limits.nonces import Nonces
from app.kit.limits.rate_limits import RateLimits
from app.kit.operations.call_signing import WINDOW_SECONDS
from app.kit.outbound.host_resolver import Resolver
from app.settings import Settings

if TYPE_CHECKING:
    from app.kit.limits.shared_store import SharedStore

_CACHED_TEMPLATES = 2_000  # of all tenants; most tenants have no templates of their own

_CACHED_RESOURCES = 2_000  # of all tenants: a tenant's items of one kind count once

_CACHED_LOOKS = 200  # of all tenants: each has the texts and templates of a theme, most have some kilobytes


def assemble(
    settings: Settings, clock: Clock | None = None, *, database: Database | None = None, defers_imports: bool = False
) -> IdentityServices:
    """Create the services that all operations of the process share. Opens no connection.

    Args:
        database: by default a new one of the settings.
    """
    if not defers_imports:
        _connect_extensions()
    clock = clock or SystemClock()
    database = database or Database(settings.database)
    encryption = Encryption(settings.secrets)
    shared = _shared_store(settings.redis_url) if settings.redis_url else None

    def refresh_keys(tenant: Tenant) -> None:
        services.signing_keys.refresh_if_changed(tenant.tenant_id, tenant.version)

    services = IdentityServices(
        settings=settings,
        clock=clock,
        database=database,
        encryption=encryption,
        hashing=Argon2Hashing(settings.hashes_at_once),
        limits=RateLimits(shared, clock),
        directory=CachedTenantDirectory(database, settings, refresh_keys),
        signing_keys=StoredSigningKeys(encryption, clock),
        breached_passwords=BreachedPasswordIndex(settings.breaches_url, settings.breaches_file),
        locations=locations(settings.locations_file),
        message_templates=CommittedCache(_CACHED_TEMPLATES),
        resource_items=CommittedCache(_CACHED_RESOURCES),
        themed_tenants=CommittedCache(_CACHED_LOOKS),
        failed_mails=CommittedCache(_CACHED_RESOURCES),
        joined_domains=CommittedCache(_CACHED_RESOURCES),
        subject_secrets=CommittedCache(_CACHED_RESOURCES),
        provider_metadata=ProviderMetadataCache(clock, Resolver(settings.reachable_networks)),
        hub_keys=tuple(derive_key(secret, "hub calls") for secret in settings.secrets),
        nonces=Nonces(shared, WINDOW_SECONDS, refuses_forgotten=True),
        images=ImageConverter(),
        used_proofs=Nonces(shared, dpop.REPLAY_SECONDS),
    )
    return services


def _connect_extensions() -> None:
    from app.identity.assembly import (  # noqa: PLC0415 - the server imports them with its handlers
        extension_points,
        table_modules,  # noqa: F401 - deletions need every table
    )

    extension_points.connect()


def _shared_store(url: str) -> SharedStore:
    from app.kit.limits.shared_store import SharedStore  # noqa: PLC0415 - a start without Redis needs none of it

    return SharedStore(url)
