"""The connections that a tenant's pages offer, as its settings state them. Asks no provider."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from app.contract import errors
from app.contract.federation.connection_completion import (
    is_offered,
    preset_settings,
    resolved,
    supports_reauthentication,
    well_known_provider,
)
from app.contract.federation.connections import NAMES, ConnectionSettings
from app.contract.federation.identity_linking_operations import PROVIDERS
from app.contract.federation.pages.connection_pages import (
    CALLBACK,
    SAML_CALLBACK,
    callback_path,
    is_organization_connection,
)
from app.identity.credentials.ldap import ldap_directories
from app.identity.directory.identity_provider import JWT_PREFIX, LDAP_PREFIX, SAML_PREFIX
from app.identity.platform.context import Context

if TYPE_CHECKING:
    from app.identity.authentication.federation.jwt_providers import JwtSender
    from app.identity.authentication.federation.saml_providers import SamlSender
    from app.identity.credentials.ldap.ldap_directories import LdapDirectory
    from app.identity.directory.organizations.connections.organization_connection_store import (
        OrganizationConnectionRecord,
    )
    from app.identity.directory.organizations.organization import OrganizationRecord


@dataclass(frozen=True)
class OfferedConnection:
    """A provider through which the tenant's accounts may sign in. That of an organization has an `org_id`, and its own callback."""

    name: str
    title: str
    trusts_email: bool
    can_reauthenticate: bool  # OpenID Connect except Google; `auth_time` states whether the provider did
    mark: str = ""  # the well-known provider at its address
    org_id: str = ""
    callback: str = CALLBACK
    is_saml: bool = False
    is_idp_initiated: bool = False
    """Whether a SAML provider may begin a sign-in."""
    login_url: str = ""  # of a JWT provider: the page where people sign in, which sends them back with a JWT
    record: OrganizationConnectionRecord | None = field(default=None, repr=False, compare=False)
    """What the organization stored, so that the sign-in need not read it again."""

    @property
    def organization(self) -> OrganizationRecord | None:
        """The active organization of the connection, as it was read with it."""
        return self.record.organization if self.record is not None else None

    @property
    def public_title(self) -> str:
        """The title for browsers in which nobody has signed in yet."""
        return self.record.public_title if self.record is not None else self.title


def listed_connections(context: Context) -> tuple[OfferedConnection, ...]:
    """Return the active connections for which pages have a button."""
    settings = context.tenant.settings.connections
    return tuple(item for item in active_connections(context) if settings[item.name].list_in_interface)


def sign_in_buttons(context: Context) -> tuple[OfferedConnection, ...]:
    """Return the connections for which sign-in pages have a button: those listed, then the JWT providers with a login page."""
    from app.identity.authentication.federation import jwt_providers, saml_providers  # noqa: PLC0415 - few tenants have any

    senders = (
        *(_of_jwt_provider(sender) for sender in jwt_providers.listed(context)),
        *(_of_saml_provider(sender) for sender in saml_providers.listed(context)),
    )
    return *listed_connections(context), *senders


def active_connections(context: Context) -> tuple[OfferedConnection, ...]:
    """Return the active connections that pages offer: presets first, then by name, because stored keys have no order."""
    settings = context.tenant.settings.connections
    names = sorted(settings, key=lambda name: (NAMES.index(name) if name in NAMES else len(NAMES), name))
    return tuple(_connection(name, settings[name]) for name in names if is_offered(name, settings[name]))


def find(context: Context, name: str) -> OfferedConnection:
    """Return an active connection of the tenant that pages offer, by its name.

    Raises UnknownConnection, ConnectionNotConfigured.
    """
    key = name.strip().lower()
    settings = context.tenant.settings.connections.get(key)
    if settings is None and key not in PROVIDERS:
        raise errors.UnknownConnection
    if settings is None or not is_offered(key, settings):
        raise errors.ConnectionNotConfigured
    return _connection(key, settings)


def find_app(context: Context, provider: str, app_name: str | None) -> OfferedConnection:
    """Return the connection `app_name` to a provider; without a name, the connection with the provider's name.

    Raises UnknownConnection, ConnectionNotConfigured.
    """
    if app_name is None:
        return find(context, provider)
    connection, key = find(context, app_name), provider.strip().lower()
    effective = resolved(connection.name, context.tenant.settings.connections[connection.name])
    preset = preset_settings(key)
    is_at_provider = key in (connection.name, effective.preset) or (
        preset and connection.mark == well_known_provider(preset)
    )
    if not is_at_provider:
        raise errors.UnknownConnection
    return connection


def find_any(context: Context, name: str) -> OfferedConnection:
    """Return an active connection of the tenant or a JWT provider by its name, or an organization's by its id. Raises as `find` does.

    Accounts only sign in by an organization's: nothing else links its identities, which belong to addresses of its domains.
    """
    if is_of_jwt_provider(name):
        from app.identity.authentication.federation import jwt_providers  # noqa: PLC0415 - few tenants have any

        return _of_jwt_provider(jwt_providers.find(context, name.strip()[len(JWT_PREFIX) :]))
    if is_of_saml_provider(name):
        from app.identity.authentication.federation import saml_providers  # noqa: PLC0415 - few tenants have any

        return _of_saml_provider(saml_providers.find(context, name.strip()[len(SAML_PREFIX) :]))
    if is_of_organization(name):
        from app.identity.directory.organizations.connections import sign_in_connections  # noqa: PLC0415 - few tenants have any

        return _of_organization(sign_in_connections.by_id(context, name))
    if ldap_directories.is_of_directory(name):
        return _of_directory(ldap_directories.by_name(context, name))
    return find(context, name)


def find_to_begin(context: Context, name: str) -> OfferedConnection:
    """Return an active connection to whose provider a browser can be sent. Raises as `find` does."""
    connection = find_any(context, name)
    if ldap_directories.is_of_directory(connection.name) or (
        is_of_jwt_provider(connection.name) and not connection.login_url
    ):
        raise errors.ConnectionNotConfigured
    return connection


def is_active(context: Context, name: str) -> bool:
    """Return whether accounts can sign in by a connection on pages now."""
    try:
        find_any(context, name)
    except (errors.UnknownConnection, errors.ConnectionNotConfigured):
        return False
    return True


def is_of_organization(name: str) -> bool:
    """Return whether the name of a provider is the id of an organization's connection."""
    return is_organization_connection(name)


def is_of_jwt_provider(name: str) -> bool:
    """Return whether the name of a provider is that of a JWT provider."""
    return name.strip().lower().startswith(JWT_PREFIX)


def is_of_saml_provider(name: str) -> bool:
    """Return whether the name of a provider is that of a tenant's SAML provider."""
    return name.strip().lower().startswith(SAML_PREFIX)


def with_saml_id(context: Context, provider_id: str) -> OfferedConnection:
    """Return the tenant's SAML provider with an id. Raises ConnectionNotConfigured."""
    from app.identity.authentication.federation import saml_providers  # noqa: PLC0415 - few tenants have any

    return _of_saml_provider(saml_providers.with_id(context, provider_id))


def _of_saml_provider(sender: SamlSender) -> OfferedConnection:
    is_idp_initiated = sender.provider.is_idp_initiated
    return OfferedConnection(
        sender.name,
        sender.title,
        bool(sender.provider.domain),  # in which alone it verifies addresses
        can_reauthenticate=True,
        callback=SAML_CALLBACK,
        is_saml=True,
        is_idp_initiated=is_idp_initiated,
    )


def _of_jwt_provider(sender: JwtSender) -> OfferedConnection:
    provider = sender.provider
    return OfferedConnection(
        sender.name, provider.app_name, False, can_reauthenticate=False, login_url=provider.login_url or ""
    )


def _of_directory(directory: LdapDirectory | None) -> OfferedConnection:
    """Return an LDAP provider as a connection. Raises ConnectionNotConfigured for None."""
    if directory is None:
        raise errors.ConnectionNotConfigured
    return OfferedConnection(directory.name, directory.title, directory.provider.trusts_email, can_reauthenticate=True)


def at_address(context: Context, address_key: str) -> OfferedConnection:
    """Return the active connection of an organization with this opaque part of its addresses. Raises ConnectionNotConfigured."""
    from app.identity.directory.organizations.connections import sign_in_connections  # noqa: PLC0415 - few tenants have any

    return _of_organization(sign_in_connections.by_address(context, address_key))


def _of_organization(record: OrganizationConnectionRecord | None) -> OfferedConnection:
    """Return the connection of an organization, under the organization's name. Raises ConnectionNotConfigured for None."""
    if record is None:
        raise errors.ConnectionNotConfigured
    settings = ConnectionSettings.model_construct(issuer=record.content.get("issuer"))
    callback = callback_path(record.address_key, is_saml=record.is_saml)
    return OfferedConnection(
        record.connection_id,
        record.title,
        True,
        record.is_saml or supports_reauthentication(settings),
        org_id=record.org_id,
        callback=callback,
        is_saml=record.is_saml,
        is_idp_initiated=bool(record.content.get("is_idp_initiated")),
        record=record,
    )


def title_and_mark(context: Context, name: str) -> tuple[str, str]:
    """Return the display name and the mark of a connection, even if it was removed."""
    if is_of_organization(name):
        from app.identity.directory.organizations.connections import sign_in_connections  # noqa: PLC0415 - few tenants have any

        return sign_in_connections.title(context, name) or name, ""
    if is_of_jwt_provider(name) or is_of_saml_provider(name):
        return (find_any(context, name).title if is_active(context, name) else name.partition(":")[2]), ""
    if ldap_directories.is_of_directory(name):
        directory = ldap_directories.by_name(context, name)
        return (directory.title if directory is not None else name.removeprefix(LDAP_PREFIX)), ""
    settings = context.tenant.settings.connections.get(name) or preset_settings(name)
    if settings is None:
        return name, ""
    connection = _connection(name, settings)
    return connection.title, connection.mark


def title_for(context: Context, name: str) -> str:
    """Return the display name of a connection, even if it was removed."""
    return title_and_mark(context, name)[0]


def _connection(name: str, settings: ConnectionSettings) -> OfferedConnection:
    effective = resolved(name, settings)
    can_reauthenticate = supports_reauthentication(effective)
    mark = well_known_provider(effective)
    return OfferedConnection(name, effective.title or name, bool(effective.trusts_email), can_reauthenticate, mark)
