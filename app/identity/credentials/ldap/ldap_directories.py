"""Which directory checks a password: the identifier that a person typed decides, or the identity of a known account."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final

from app.contract import errors
from app.contract.ldap import ldap_operations
from app.contract.ldap.ldap_operations import LdapProvider
from app.identity.directory.accounts import identifiers, linked_identities
from app.identity.directory.accounts.account import Account
from app.identity.directory.accounts.linked_identities import Identity
from app.identity.directory.accounts.login_attempts.account_lookup import TypedIdentifier
from app.identity.directory.identity_provider import LDAP_PREFIX
from app.identity.platform.context import Context
from app.identity.platform.resource_storage.items import Item
from app.identity.platform.resource_storage.resource_store import items_of

_LONG_AGO: Final = datetime.min.replace(tzinfo=UTC)
_DOMAIN_SEPARATOR: Final = "\\"
"""Between a Windows domain and a name: CORP\\ada."""


@dataclass(frozen=True)
class LdapDirectory:
    """An LDAP provider with the password of its service account."""

    provider: LdapProvider
    bind_password: str = field(repr=False)

    @property
    def name(self) -> str:
        """The provider of its identities."""
        return identity_provider_name(self.provider.provider_name)

    @property
    def title(self) -> str:
        """The name that people read."""
        return self.provider.friendly_provider_name or self.provider.provider_name

    def trusts(self, email: str | None, routed_domain: str = "") -> bool:
        """Return whether an address of the directory counts as verified: of its own domain alone, where it has one.

        Args:
            routed_domain: the domain because of which the directory checks this password. That of an organization is verified.
        """
        domain = (email or "").rpartition("@")[2].lower()
        if not self.provider.trusts_email or not domain:
            return False
        own = {name for name in (self.provider.domain, routed_domain) if name}
        return not own or domain in own


@dataclass(frozen=True)
class DirectoryLogin:
    """The directory that checks a password, and the person there: by login, or by subject for a known account."""

    directory: LdapDirectory
    login: str = ""
    subject: str = ""
    domain: str = ""  # of the login's address, because of which this directory checks it


def identity_provider_name(provider_name: str) -> str:
    """Return the provider of the identities of an LDAP provider."""
    return f"{LDAP_PREFIX}{provider_name.lower()}"


def is_of_directory(name: str) -> bool:
    """Return whether the name of a provider is that of an LDAP provider."""
    return name.strip().lower().startswith(LDAP_PREFIX)


def active(context: Context) -> list[LdapDirectory]:
    """Return the active LDAP providers, by name."""
    items = items_of(context, ldap_operations.PROVIDERS).values()
    found = [directory_of(item) for item in items if item.content.get("is_active", True)]
    return sorted(found, key=lambda directory: directory.name)


def directory_of(item: Item) -> LdapDirectory:
    """Return a stored LDAP provider."""
    provider = LdapProvider.model_validate({**item.content, "provider_name": item.name})
    return LdapDirectory(provider, item.secrets.get("bind_password", ""))


def by_name(context: Context, name: str) -> LdapDirectory | None:
    """Return the active provider of identities with this name."""
    return next((directory for directory in active(context) if directory.name == name.strip().lower()), None)


def for_identifier(context: Context, identifier: TypedIdentifier) -> DirectoryLogin | None:
    """Return the directory that checks the password of an identifier; None where this service does.

    The identifier alone decides, so that an account is answered as none is.
    """
    if identifier.kind == "email":
        domain = (identifiers.normalize_email(identifier.value) or "").rpartition("@")[2]
        directory = _of_domain(context, domain) if domain else None
        return DirectoryLogin(directory, identifier.value.strip(), domain=domain) if directory is not None else None
    if identifier.kind != "username":
        return None
    directory = next((each for each in active(context) if each.provider.accepts_usernames), None)
    login = identifier.value.strip().rpartition(_DOMAIN_SEPARATOR)[2]
    return DirectoryLogin(directory, login) if directory is not None else None


def _of_domain(context: Context, domain: str) -> LdapDirectory | None:
    """Return the directory of a domain, or the one that the organization with this verified domain names."""
    directories = active(context)
    own = next((each for each in directories if each.provider.domain == domain), None)
    if own is not None or not directories or not context.tenant.settings.organizations.enabled:
        return own
    from app.identity.directory.organizations import organization_store  # noqa: PLC0415 - few tenants have any
    from app.identity.directory.organizations.domains import domains  # noqa: PLC0415 - as above

    claim = domains.verified(context, domain)
    organization = organization_store.by_id(context, claim.org_id) if claim is not None else None
    named = organization.policy.method_policy.ldap_provider if organization and organization.is_active else None
    return by_name(context, identity_provider_name(named)) if named else None


def refuse_reset(context: Context, identifier: TypedIdentifier) -> None:
    """Raise DirectoryPasswordElsewhere where a directory has the password, which no message from here can reset.

    The identifier alone decides, as at the sign-in.
    """
    if (login := for_identifier(context, identifier)) is not None:
        raise managed_error(login.directory)


def managed_error(directory: LdapDirectory) -> errors.DirectoryPasswordElsewhere:
    """Return the error of a password that people change elsewhere, with the address."""
    url = directory.provider.password_url
    return errors.DirectoryPasswordElsewhere(data={"PasswordUrl": url} if url else None)


def for_account(context: Context, account: Account) -> DirectoryLogin | None:
    """Return the directory that checks the password of a known account, by its identity that signed in last; None without one."""
    linked = [identity for identity in linked_identities.of(account) if is_of_directory(identity.provider)]
    for identity in _latest_first(linked):
        if (directory := by_name(context, identity.provider)) is not None:
            return DirectoryLogin(directory, subject=identity.subject)
    return None


def has_password(context: Context, account: Account) -> bool:
    """Return whether the account signs in by a password, of this service or of a directory."""
    return account.password_hash is not None or for_account(context, account) is not None


def _latest_first(linked: Iterable[Identity]) -> list[Identity]:
    return sorted(linked, key=lambda identity: identity.used_at or _LONG_AGO, reverse=True)
