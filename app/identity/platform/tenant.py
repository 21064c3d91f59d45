"""What an operation knows of its tenant and of an application: frozen, cached with a version."""

from dataclasses import dataclass
from functools import cached_property

from app.contract.auth import ACCOUNT_WRITE, INTERFACE_SCOPES
from app.contract.configuration import ApplicationSettings, Brand, TenantSettings


@dataclass(frozen=True)
class Tenant:
    """One customer, as configured at `version`."""

    tenant_id: str
    name: str
    api_key: str
    sealed_api_secret: bytes
    version: int
    settings: TenantSettings
    brand: Brand
    sealed_captcha_secret: bytes | None = None
    sealed_service_secrets: bytes | None = None

    @property
    def display_name(self) -> str:
        return self.brand.display_name or self.name.title()


@dataclass(frozen=True)
class Application:
    """One registered relying party."""

    client_id: str
    secret_hash: str | None
    settings: ApplicationSettings

    @property
    def name(self) -> str:
        return self.settings.name

    @property
    def display_name(self) -> str:
        return self.settings.client_name or self.settings.name

    @cached_property
    def scopes(self) -> frozenset[str]:
        """The scopes it may ask for; those of the account interface by its `interface_access` alone."""
        return frozenset(self.settings.scope.split()).difference(INTERFACE_SCOPES).union(self.settings.interface_scopes)

    def granted(self, wanted: tuple[str, ...]) -> tuple[str, ...]:
        """Return what a grant of these scopes holds: with `interface_access` also its scopes.

        A request that names one of them gets that one. Writing shows the profile as it is then, so it comes with reading.
        """
        if ACCOUNT_WRITE in wanted or not any(name in INTERFACE_SCOPES for name in wanted):
            return tuple(dict.fromkeys((*wanted, *self.settings.interface_scopes)))
        return wanted
