"""Makes the tenant's client at a provider: for websites, or for what the provider's SDK returns to apps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.contract.federation.connection_checks import ConnectionCheck
from app.contract.federation.connection_completion import quirks_of, resolved
from app.contract.federation.connections import ConnectionSettings
from app.identity.authentication.federation import offered_connections
from app.identity.authentication.federation.providers.oauth2 import OAuth2Provider
from app.identity.authentication.federation.providers.openid import OpenIdProvider
from app.identity.directory.identity_provider import SAML_PREFIX
from app.identity.directory.tenants.keys import tenant_secrets
from app.identity.platform.context import Context
from app.identity.platform.outbound.outbound_http import ProviderUnavailable

if TYPE_CHECKING:
    from app.identity.authentication.federation.saml.saml_upstream import SamlUpstream
    from app.identity.directory.organizations.connections.organization_connection_store import (
        OrganizationConnectionRecord,
    )


def for_website(
    context: Context, name: str, record: OrganizationConnectionRecord | None = None
) -> OpenIdProvider | OAuth2Provider | SamlUpstream:
    """Return the client of a configured connection, for sign-ins on pages. Raises ProviderUnavailable.

    Args:
        record: of an organization's connection, if it was read already.
    """
    if offered_connections.is_of_organization(name):
        return _of_organization(context, name, record)
    if offered_connections.is_of_saml_provider(name):
        from app.identity.authentication.federation import saml_providers  # noqa: PLC0415 - few tenants have any
        from app.identity.authentication.federation.saml import tenant_saml  # noqa: PLC0415 - as above

        return tenant_saml.provider_of(context, saml_providers.find(context, name.removeprefix(SAML_PREFIX)))
    settings = resolved(name, context.tenant.settings.connections[name])
    if settings.apple is not None and settings.apple.service_id:
        settings = settings.model_copy(update={"key": settings.apple.service_id})
    made = client(context, name, settings)
    if quirks_of(settings).signs_client_secret and not made.secret:
        text = "the connection has no apple_certificate, which signs the client secret"
        raise ProviderUnavailable(text, check=ConnectionCheck.CONFIGURATION, expected="apple_certificate, or a secret")
    return made


def _of_organization(
    context: Context, name: str, record: OrganizationConnectionRecord | None
) -> OpenIdProvider | SamlUpstream:
    """Return the client of an organization's connection. Raises ProviderUnavailable."""
    from app.identity.directory.organizations.connections import sign_in_connections  # noqa: PLC0415 - few tenants have any

    found = record or sign_in_connections.by_id(context, name)
    if found is not None and found.is_saml:
        from app.identity.authentication.federation.saml import organization_saml  # noqa: PLC0415 - as above

        return organization_saml.provider_of(context, found)
    from app.identity.authentication.federation.providers import organization_openid  # noqa: PLC0415 - as above

    return organization_openid.provider_of(context, found)


def client(context: Context, name: str, settings: ConnectionSettings) -> OpenIdProvider | OAuth2Provider:
    """Return the client of a complete connection. Raises ProviderUnavailable."""
    secret, metadata = client_secret(context, name, settings), context.services.provider_metadata
    if settings.issuer:
        return OpenIdProvider(name, settings, secret, metadata)
    return OAuth2Provider(name, settings, secret, metadata.resolver)


def client_secret(context: Context, name: str, settings: ConnectionSettings) -> str:
    """Return the client secret of a complete connection; empty without one. Raises ProviderUnavailable."""
    secrets = tenant_secrets.secrets_of(context.services.encryption, context.tenant, tenant_secrets.CONNECTIONS)
    private_key = secrets.get(name + tenant_secrets.APPLE_KEY)
    if private_key and quirks_of(settings).signs_client_secret:
        from app.identity.authentication.federation.providers import apple_client_secret  # noqa: PLC0415 - for Apple only

        return apple_client_secret.client_secret(settings, private_key, context.now)
    return secrets.get(name, "")


def consumer(context: Context, name: str, settings: ConnectionSettings) -> tuple[str, str]:
    """Return the consumer key and secret of OAuth 1.0a: those beside the client's, otherwise the client's own."""
    secrets = tenant_secrets.secrets_of(context.services.encryption, context.tenant, tenant_secrets.CONNECTIONS)
    if not settings.extra_field1:
        return settings.key, secrets.get(name, "")
    return settings.extra_field1, secrets.get(name + tenant_secrets.CONSUMER_SECRET) or settings.extra_field2
