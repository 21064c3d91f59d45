"""Completes connections from the presets of common providers, and checks that they are complete.

A connection with the name of a preset only needs the provider's credentials. A connection with an address of its own takes
nothing from the preset except the title, in particular not its trust.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from app.contract.federation.connections import NAMES, ConnectionSettings

if TYPE_CHECKING:
    from app.contract.federation.provider_presets import ProviderPreset, ProviderQuirks

GOOGLE: Final = "https://accounts.google.com"
_OWN_QUIRKS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "token_method": "token_method", "access_token_parameter": "token_name", "profile_parameters": "profile_parameters",
        "profile_headers": "profile_headers",
    }
)  # fmt: skip
"""The settings of a connection with endpoints of its own, by the member of `ProviderQuirks` that each one sets."""
_PLACES: Final = (
    "issuer", "authorization_endpoint", "token_endpoint", "userinfo_endpoint", "emails_endpoint", "introspection_endpoint",
    "id_token_issuer", "jwks_endpoint",
)  # fmt: skip


def _presets() -> "Mapping[str, ProviderPreset]":
    from app.contract.federation.provider_presets import presets  # noqa: PLC0415 - a start without connections needs none

    return presets()


@cache
def _preset_settings() -> Mapping[str, ConnectionSettings]:
    completed = {}
    for name, found in _presets().items():
        settings = {**found.settings, "title": found.title, "preset": name}
        if found.instance is not None:
            settings["issuer"] = found.instance.issuer_of(found.instance.default)
        completed[name] = ConnectionSettings(key="-", **settings)
    return completed


def preset_settings(name: str) -> ConnectionSettings | None:
    """Return the settings of a connection to a built-in provider; `key` is a placeholder. None for another name."""
    return _preset_settings().get(name) if name in NAMES else None


def resolved(name: str, configured: ConnectionSettings) -> ConnectionSettings:
    """Return a connection completed with its preset, which `preset` names in the result.

    A connection with an address of its own takes no address from the preset and not its trust. It follows the provider in the rest
    only if it states `preset`.
    """
    base = preset_settings(configured.preset or name)
    if base is None:
        return configured
    explicit = {key: getattr(configured, key) for key in configured.model_fields_set}
    has_address = any(explicit.get(place) for place in _PLACES)
    if has_address and configured.preset is None:
        return configured if configured.title else configured.model_copy(update={"title": base.title})
    update = {key: value for key, value in explicit.items() if value or value is False}
    if has_address:
        update = {**dict.fromkeys(_PLACES), "trusts_email": None, **update}
    elif configured.extra_field1 and (instance := _presets()[base.preset or ""].instance):
        update["issuer"] = instance.issuer_of(configured.extra_field1)
    return base.model_copy(update={**update, "claims": {**base.claims, **configured.claims}})


def wrong_instance(name: str, configured: ConnectionSettings) -> str | None:
    """Return what `extra_field1` of a connection must name, if it names no issuer of the provider; pages do not offer it then."""
    base = preset_settings(configured.preset or name)
    instance = _presets()[base.preset].instance if base is not None and base.preset else None
    is_named = instance is not None and configured.extra_field1 and resolved(name, configured).issuer is None
    return instance.expected if instance is not None and is_named else None


def quirks_of(connection: ConnectionSettings) -> "ProviderQuirks":
    """Return how the provider of a complete connection departs from the standards, by its preset and by the connection's settings."""
    from app.contract.federation.provider_presets import NO_QUIRKS  # noqa: PLC0415 - as above

    preset = _presets()[connection.preset].quirks if connection.preset else NO_QUIRKS
    own: dict[str, Any] = {
        quirk: getattr(connection, key) for key, quirk in _OWN_QUIRKS.items() if getattr(connection, key)
    }
    parameters = {**connection.authorization_parameters, **preset.authorization_parameters}
    return replace(preset, **(own if connection.preset is None else {}), authorization_parameters=parameters)


def supports_reauthentication(connection: ConnectionSettings) -> bool:
    """Return whether the provider of a complete connection reauthenticates on request; Google rejects the parameter."""
    return connection.issuer not in (None, GOOGLE) and quirks_of(connection).reauthenticates


def native_settings(name: str, configured: ConnectionSettings) -> ConnectionSettings:
    """Return a complete connection for what the provider's SDK returns to apps, where the addresses or claims differ."""
    completed = resolved(name, configured)
    native = _presets()[completed.preset].native if completed.preset else {}
    if not native:
        return completed
    has_address = any(getattr(configured, place) for place in _PLACES)
    claims = {**native.get("claims", {}), **configured.claims}
    return completed.model_copy(update={**({} if has_address else native), "claims": claims})


def can_sign_in(name: str, configured: ConnectionSettings) -> bool:
    """Return whether accounts can sign in with a connection, on pages or in apps."""
    completed = resolved(name, configured)
    return configured.is_active and bool(completed.issuer or completed.userinfo_endpoint)


def is_listed(name: str, configured: ConnectionSettings) -> bool:
    """Return whether pages have a button for a connection."""
    return configured.list_in_interface and is_offered(name, configured)


def is_offered(name: str, configured: ConnectionSettings) -> bool:
    """Return whether accounts can sign in with a connection on pages: by a button, by their domain, or by a link."""
    completed = resolved(name, configured)
    can_authenticate = not quirks_of(completed).signs_client_secret or completed.can_sign_client_secret
    return can_sign_in(name, configured) and not completed.native_only and can_authenticate


_FURTHER_MARKS: Final[Mapping[str, str]] = MappingProxyType(
    {"gitlab.com": "gitlab", "discord.com": "discord", "slack.com": "slack"}
)


def well_known_provider(connection: ConnectionSettings) -> str:
    """Return the mark of the well-known provider that answers at the address of a complete connection; empty for any other."""
    address = urlsplit(connection.issuer or connection.authorization_endpoint or "")
    return _mark_of_host(address.hostname or "") if address.scheme == "https" else ""


@cache
def _marks() -> Mapping[str, str]:
    return {**_FURTHER_MARKS, **{host: preset.mark for preset in _presets().values() for host in preset.hosts}}


def _mark_of_host(host: str) -> str:
    marks = _marks()
    parents = (f"*.{host.split('.', at)[-1]}" for at in range(1, host.count(".")))
    return next((marks[name] for name in (host, *parents) if name in marks), "")


def valid_instances(connections: Mapping[str, ConnectionSettings]) -> Mapping[str, ConnectionSettings]:
    """Check that each connection names an issuer that its provider has."""
    for name, configured in connections.items():
        if expected := wrong_instance(name, configured):
            raise ValueError(f"{name}.extra_field1: {expected}")
    return connections


def _refuse_shared_domains(connections: Mapping[str, ConnectionSettings]) -> None:
    owners: dict[str, str] = {}
    for name, configured in connections.items():
        if configured.domain and (owner := owners.setdefault(configured.domain, name)) != name:
            raise ValueError(f"{name}.domain: another domain; {owner} has it")


def _setting_for_own_endpoints(completed: ConnectionSettings) -> str | None:
    """Return a setting that a connection with an issuer or a preset cannot have."""
    has_own_endpoints = not (completed.issuer or completed.preset)
    stated = (key for key in _OWN_QUIRKS if getattr(completed, key) not in ("", "POST", {}))
    return None if has_own_endpoints else next(stated, None)


def complete(connections: Mapping[str, ConnectionSettings]) -> Mapping[str, ConnectionSettings]:
    """Check that each connection has an issuer, endpoints or a preset, and a domain of its own."""
    _refuse_shared_domains(connections)
    for name, configured in connections.items():
        completed = resolved(name, configured)
        if (misplaced := _setting_for_own_endpoints(completed)) is not None:
            raise ValueError(f"{name}.{misplaced}: nothing; only connections with endpoints of their own have it")
        known = preset_settings(completed.preset or "")
        endpoints = (completed.authorization_endpoint, completed.token_endpoint, completed.userinfo_endpoint)
        if completed.issuer and any((*endpoints, completed.emails_endpoint)):
            raise ValueError(f"{name}: an issuer or endpoints, not both")
        if wrong_instance(name, configured):  # stored by an earlier version
            continue
        if completed.issuer and not completed.pkce and (known is None or known.pkce):
            raise ValueError(f"{name}.pkce: true, because {name} has an issuer")
        if bool(completed.id_token_issuer) != bool(completed.jwks_endpoint) or (
            completed.issuer and completed.jwks_endpoint
        ):
            raise ValueError(f"{name}: id_token_issuer and jwks_endpoint together, and neither beside an issuer")
        needed = (completed.userinfo_endpoint,) if completed.native_only else endpoints
        if not completed.issuer and not all(needed):
            raise ValueError(
                f"{name}: an issuer, or authorization_endpoint, token_endpoint and userinfo_endpoint; or one of "
                f"these names, which need neither: {', '.join(NAMES)}"
            )
    return connections
