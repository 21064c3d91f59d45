"""The connections that a tenant's pages offer, as its settings state them. Asks no provider."""

from __future__ import annotations

from dataclasses import dataclass

from app.contract import errors
from app.contract.federation.connections import (
    NAMES,
    ConnectionSettings,
    is_offered,
    preset_settings,
    quirks_of,
    resolved,
    well_known_provider,
)
from app.contract.federation.identity_linking_operations import PROVIDERS
from app.identity.platform.context import Context

GOOGLE = "https://accounts.google.com"


@dataclass(frozen=True)
class OfferedConnection:
    """A provider through which the tenant's accounts may sign in."""

    name: str
    title: str
    trusts_email: bool
    can_reauthenticate: bool  # OpenID Connect except Google; `auth_time` states whether the provider did
    mark: str = ""  # the well-known provider at its address


def active_connections(context: Context) -> tuple[OfferedConnection, ...]:
    """Return the active connections that pages offer: presets first, then by name, because stored keys have no order."""
    settings = context.tenant.settings.connections
    names = sorted(settings, key=lambda name: (NAMES.index(name) if name in NAMES else len(NAMES), name))
    return tuple(_connection(name, settings[name]) for name in names if is_offered(name, settings[name]))


def find(context: Context, name: str) -> OfferedConnection:
    """Return an active connection that pages offer, by its name.

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


def title_and_mark(context: Context, name: str) -> tuple[str, str]:
    """Return the display name and the mark of a connection, even if it was removed."""
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


def supports_reauthentication(connection: ConnectionSettings) -> bool:
    """Return whether the provider of a complete connection supports reauthentication; Google rejects the parameter."""
    return connection.issuer not in (None, GOOGLE) and quirks_of(connection).reauthenticates
