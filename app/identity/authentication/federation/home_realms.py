"""Home-realm discovery: the provider to which an address leads by its domain, or an organization by its policy.

Only domains decide, so that an address without an account is answered as any other of its domain, at the same cost.
"""

from __future__ import annotations

from app.contract.federation.connection_completion import is_offered
from app.contract.jwt import jwt_operations
from app.identity.authentication.federation import jwt_providers
from app.identity.directory.organizations import organization_names, organization_store, sign_in_methods
from app.identity.directory.organizations.connections import sign_in_connections
from app.identity.platform.context import Context
from app.identity.platform.resource_storage.resource_store import items_of

_MAX_NAME_LENGTH = 400


def has_any(context: Context) -> bool:
    """Return whether any domain leads to a provider."""
    return bool(_providers_by_domain(context)) or sign_in_connections.has_any_with_domain(context)


def look_up(context: Context, identifier: str) -> str | None:
    """Return the name of the connection to which an address from a form leads; None for every other text.

    The look-ups of a network are limited as its authorization requests are, because each answer says whether a domain is that of a
    customer.

    Raises TooManyRequests.
    """
    context.count_request("home_realm", context.tenant.settings.limits.authorize_per_minute_per_address)
    return of_identifier(context, identifier)


def of_identifier(context: Context, identifier: str) -> str | None:
    """Return the name of the connection to which an address leads; None for every other text."""
    return of_domain(context, sign_in_connections.domain_of_email(identifier))


def of_domain(context: Context, domain: str) -> str | None:
    """Return the name of the connection to which a domain leads: of an organization that verified it, else of the tenant."""
    if not domain:
        return None
    record = sign_in_connections.by_domain(context, domain)
    return record.connection_id if record is not None else _providers_by_domain(context).get(domain)


def connection_of_organization(context: Context, text: str) -> str | None:
    """Return the connection of an organization, by its id or name, that accepts no other method and has exactly one."""
    if not context.tenant.settings.organizations.enabled or len(text) > _MAX_NAME_LENGTH:
        return None
    is_id = organization_names.is_id(organization_names.ORGANIZATION, text)
    organization = organization_store.by_id(context, text) if is_id else organization_store.by_name(context, text)
    allowed = organization.policy.method_policy.allowed_methods if organization is not None else None
    if organization is None or not organization.is_active or set(allowed or ()) != {sign_in_methods.CONNECTION}:
        return None
    found = sign_in_connections.of_organizations(context, [organization.org_id])
    return found[0].connection_id if len(found) == 1 else None


def _providers_by_domain(context: Context) -> dict[str, str]:
    """Return the tenant's connections and JWT providers to which domains lead, by domain."""
    from app.identity.authentication.federation import saml_providers  # noqa: PLC0415 - few tenants have any

    connections = {
        configured.domain: name
        for name, configured in context.tenant.settings.connections.items()
        if configured.domain and configured.enable_auto_look_up and is_offered(name, configured)
    }
    senders = {
        str(item.content["domain"]): jwt_providers.identity_provider_name(item.name)
        for item in items_of(context, jwt_operations.PROVIDERS).values()
        if item.content.get("enable_auto_look_up") and item.content.get("domain")
        if jwt_providers.has_login_page(item)
    }
    return {**saml_providers.by_domain(context), **senders, **connections}
