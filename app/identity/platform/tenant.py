"""A tenant and its applications as immutable values, cached by version."""

from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from app.contract.applications.settings import ApplicationSettings
from app.contract.auth import ACCOUNT_WRITE, INTERFACE_SCOPES
from app.contract.tenants.branding import Brand, Line, line_in
from app.contract.tenants.settings import TenantSettings
from app.kit.text.tenant_texts import TenantTexts, compile_texts


@dataclass(frozen=True)
class Tenant:
    """A tenant with its configuration at `version`."""

    tenant_id: str
    name: str
    api_key: str
    sealed_api_secret: bytes
    version: int
    settings: TenantSettings
    brand: Brand
    sealed_captcha_secret: bytes | None = None
    sealed_service_secrets: bytes | None = None
    custom_hosts: tuple[str, ...] = ()
    """The verified custom domains, the first verified first."""

    @cached_property
    def version_tag(self) -> str:
        """The version for the hub's caches, which are by host: a custom domain may move to another tenant, and a name to a new one."""
        return version_tag(self.tenant_id, self.version)

    @cached_property
    def texts(self) -> TenantTexts:
        """The tenant's own texts of emails and text messages."""
        return compile_texts(self.brand.texts)

    @property
    def display_line(self) -> Line:
        """The name that people see, in one language or several."""
        return self.brand.display_name or self.name.title()

    @property
    def display_name(self) -> str:
        """The name in the default language."""
        return self.name_in(self.settings.default_locale)

    def name_in(self, language: str) -> str:
        """Return the name that people see in a language."""
        return line_in(self.display_line, language, self.settings.default_locale)


def version_tag(tenant_id: str, version: int) -> str:
    """Return `Tenant.version_tag` of a tenant at a version."""
    return f"{tenant_id}-{version}"


@dataclass(frozen=True)
class Application:
    """A registered relying party."""

    client_id: str
    secret_hash: str | None
    settings: ApplicationSettings
    former_secret_hash: str | None = None
    """Of the secret before the last rotation; accepted until `former_secret_until`."""
    former_secret_until: datetime | None = None
    registered_by: str | None = None
    """How it registered itself: open, token or document; None for an application that the tenant configured."""
    registered_under: str | None = None
    logo_digest: str | None = None
    """Of the copy of its logo."""
    expires_at: datetime | None = None
    """When it is removed unless it is used."""
    sealed_secret: bytes | None = None
    """The secret itself, encrypted, of a client that signs with it."""
    former_sealed_secret: bytes | None = None

    @property
    def name(self) -> str:
        return self.settings.name

    @property
    def issuer_name(self) -> str:
        """The name in the address of its issuer: its own, or that of the application at whose address it registered."""
        return self.registered_under or self.settings.name

    @property
    def is_of_document(self) -> bool:
        """Whether its client id is the address of the document that describes it."""
        return self.registered_by == "document"

    @property
    def is_self_registered(self) -> bool:
        """Whether the tenant does not vouch for it: it always asks for consent, and uses no address of the tenant's whitelist."""
        return self.registered_by is not None

    def secret_hashes(self, now: datetime) -> tuple[str, ...]:
        """The digests of the secrets that it may present: the present one, and the former one for a while after a rotation."""
        former = self.former_secret_hash if self._is_former_in_force(now) else None
        present = (self.secret_hash,) if self.secret_hash else ()
        return (*present, former) if former else present

    def encrypted_secrets(self, now: datetime) -> tuple[bytes, ...]:
        """The encrypted secrets that it may sign with, which follow the same rule."""
        former = self.former_sealed_secret if self._is_former_in_force(now) else None
        return tuple(item for item in (self.sealed_secret, former) if item)

    def _is_former_in_force(self, now: datetime) -> bool:
        return self.former_secret_until is not None and now < self.former_secret_until

    @property
    def display_name(self) -> str:
        return self.settings.client_name or self.settings.name

    @cached_property
    def scopes(self) -> frozenset[str]:
        """The scopes it may request; scopes of the account interface come from `interface_access` alone."""
        return frozenset(self.settings.scope.split()).difference(INTERFACE_SCOPES).union(self.settings.interface_scopes)

    def granted(self, requested: tuple[str, ...]) -> tuple[str, ...]:
        """Return the scopes that a grant of the `requested` ones includes: those of `interface_access` are added.

        A request that names an interface scope gets only the named one, except that writing includes reading, because
        a write returns the changed profile.
        """
        if ACCOUNT_WRITE in requested or not any(name in INTERFACE_SCOPES for name in requested):
            return tuple(dict.fromkeys((*requested, *self.settings.interface_scopes)))
        return requested
