"""The services of a process as protocols; `assembly/services.py` creates the implementations."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

from joserfc.jwk import Key

from app.identity.platform.call_answers import CallAnswers
from app.identity.platform.committed_cache import CommittedCache
from app.identity.platform.encryption import Encryption
from app.identity.platform.locations import Locations
from app.identity.platform.outbound.openid_metadata import ProviderMetadataCache
from app.identity.platform.outbound.target_pauses import TargetPauses
from app.identity.platform.password_hashing import PasswordHashing
from app.identity.platform.store.database import Database
from app.identity.platform.store.unit_of_work import Cost, UnitOfWork
from app.identity.platform.tenant import Application, Tenant
from app.kit.clock import Clock
from app.kit.images.image_converter import ImageConverter
from app.kit.limits.nonces import Nonces
from app.kit.limits.rate_limits import RateLimits
from app.settings import Settings


class TenantDirectory(Protocol):
    """Finds tenants and their applications in a cache that a change reaches within 5 seconds."""

    def by_name(self, name: str, cost: Cost | None = None) -> Tenant | None:
        """Return the tenant with this name."""

    def by_host(self, host: str, cost: Cost | None = None) -> Tenant | None:
        """Return the tenant of this host: its own below the hub domain, or a verified custom domain."""

    def by_key(self, api_key: str, cost: Cost | None = None) -> Tenant | None:
        """Return the tenant of this API key."""

    def by_secret(self, api_secret: str, cost: Cost | None = None) -> Tenant | None:
        """Return the tenant of this API secret."""

    def by_client(self, client_id: str, secret: str, cost: Cost | None = None) -> Tenant | None:
        """Return the tenant whose client has this id and secret."""

    def by_id(self, tenant_id: str, cost: Cost | None = None) -> Tenant | None:
        """Return the tenant with this id."""

    def cached_name(self, kind: str, value: str) -> str:
        """Return the name of a cached tenant by kind "host", "key" or "secret", or an empty string. Makes no query."""

    def fresh(self, host: str) -> Tenant | None:
        """Return the tenant of this host if the cached one is current. Makes no query."""

    def current_tags(self, hosts: Collection[str], work: UnitOfWork) -> dict[str, str]:
        """Return the present version tag of the tenant at each host, in one statement; empty if there is none."""

    def application(
        self, tenant: Tenant, work: UnitOfWork, *, client_id: str | None = None, name: str | None = None
    ) -> Application | None:
        """Return the tenant's application by client id or name."""

    def origins(self, tenant: Tenant, work: UnitOfWork) -> frozenset[str]:
        """Return the origins of the active applications that the tenant configured."""

    def clear_cache(self) -> None:
        """Empty the cache, after a change in this process."""


@dataclass(frozen=True)
class Signer:
    """A private key that signs, with its id."""

    kid: str
    key: Key


@dataclass(frozen=True)
class KeySet:
    """A tenant's signing keys at one moment."""

    signers: Mapping[str, Signer]
    """The key that signs, by algorithm."""
    public: tuple[dict[str, Any], ...]
    jwks: bytes  # the serialized JWKS document
    webhooks: tuple[dict[str, Any], ...] = ()
    """The keys that sign webhooks, which are none of `public`."""

    @property
    def kids(self) -> dict[str, str]:
        """The ids of the signing keys by algorithm."""
        return {algorithm: signer.kid for algorithm, signer in self.signers.items()}

    def has(self, algorithms: Collection[str]) -> bool:
        """Return whether a key signs for each of these algorithms."""
        return self.signers.keys() >= set(algorithms)


@dataclass(frozen=True)
class RevokedKey:
    """A revoked signing key: its id, the id of the key that signs now, and their algorithm."""

    kid: str
    signs: str
    algorithm: str


class SigningKeys(Protocol):
    """Signs JWTs with the tenant's active keys."""

    def current(self, work: UnitOfWork, *algorithms: str) -> KeySet:
        """Return the tenant's keys; creates the first one of RS256 and of these algorithms, in a separate transaction."""

    def cached(self, tenant_id: str) -> KeySet | None:
        """Return the tenant's keys if the cached ones are current. Makes no query."""

    def publish(self, work: UnitOfWork, algorithms: Collection[str]) -> None:
        """Create missing keys of these algorithms in this unit of work, so that they are published before they sign."""

    def can_sign(self, work: UnitOfWork, algorithm: str) -> bool:
        """Return whether the tenant has keys of the algorithm; creates none, so it may be asked within a transaction."""

    def published(self, work: UnitOfWork) -> KeySet:
        """Return the keys for verifiers, the cached ones if the store does not respond."""

    def sign(self, work: UnitOfWork, claims: dict[str, Any], kind: str = "JWT", algorithm: str = "RS256") -> str:
        """Return a compact JWT of the claims; `kind` is its `typ`."""

    def algorithms(self, work: UnitOfWork) -> tuple[str, ...]:
        """Return the algorithms that the tenant has keys for."""

    def rotate(self, work: UnitOfWork, algorithm: str = "RS256") -> str:
        """Publish a new key of the algorithm that starts to sign later. Return its id."""

    def revoke(self, work: UnitOfWork, kid: str | None = None) -> RevokedKey:
        """Withdraw a published key, by default the current RS256 key. Raises LookupError."""

    def refresh_if_changed(self, tenant_id: str, version: int) -> None:
        """Drop the tenant's cached keys if the tenant's version has changed."""

    def drop(self, tenant_id: str) -> None:
        """Drop the tenant's cached keys."""

    def clear_cache(self) -> None:
        """Drop the cached keys of every tenant."""


class BreachedPasswords(Protocol):
    """Looks passwords up in public breaches."""

    @property
    def is_configured(self) -> bool:
        """Whether a service or a file is configured."""

    def has(self, password: str) -> bool:
        """Return whether the password is breached; False if neither service nor file answers."""


class MembershipDomains(NamedTuple):
    """Ids of organizations by verified domain: with automatic membership, and with membership by request."""

    automatic: dict[str, str]
    by_request: dict[str, str]


class FailedMail(NamedTuple):
    """A file of a theme that fails in mails."""

    tenant_id: str
    version: int
    """Of the tenant: a later one may have another look, or contacts that hear of the failure."""
    themes: tuple[str, ...]
    file: str
    sends: bool
    """Whether the mail was sent; only then the contacts hear of the failure."""


@dataclass
class IdentityServices:
    """The services of a process, created once from the settings."""

    settings: Settings
    clock: Clock
    database: Database
    encryption: Encryption
    hashing: PasswordHashing
    limits: RateLimits
    directory: TenantDirectory
    signing_keys: SigningKeys
    breached_passwords: BreachedPasswords
    locations: Locations
    message_templates: CommittedCache[tuple[str, int, str, str], Mapping[str, Any]]
    resource_items: CommittedCache[tuple[str, int, str], Mapping[tuple[str, ...], Any]]
    themed_tenants: CommittedCache[tuple[str, int, tuple[str, ...]], Tenant]
    """By tenant, its version, and the names of the themes over its look."""
    failed_mails: CommittedCache[FailedMail, bool]
    """The files of themes whose failure in mails is recorded."""
    joined_domains: CommittedCache[tuple[str, int], MembershipDomains]
    """By tenant and its version."""
    subject_secrets: CommittedCache[str, bytes]
    """The secrets of pairwise identifiers, by tenant; they never change."""
    provider_metadata: ProviderMetadataCache
    hub_keys: tuple[bytes, ...]
    nonces: Nonces
    images: ImageConverter
    used_proofs: Nonces
    """The DPoP proofs of clients, apart from the nonces of the hub's calls, so that clients cannot fill the store of these."""
    call_answers: CallAnswers = field(default_factory=CallAnswers)
    """Of the servers that workflows ask."""
    target_pauses: TargetPauses = field(default_factory=TargetPauses)
    """Of the same servers, by tenant and host."""
