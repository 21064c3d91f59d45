"""Home-realm discovery: the provider to which an address leads by its domain, or an organization by its policy.

Only domains decide, so that an address without an account is answered as any other of its domain, at the same cost.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from app.contract.federation.connection_completion import is_offered
from app.contract.jwt import jwt_operations
from app.contract.organizations.models import Policies
from app.contract.organizations.settings import MethodLimit, SignInMethod
from app.contract.step_reasons import LoginReason
from app.contract.steps import LoginStep
from app.identity.authentication.federation import jwt_providers
from app.identity.directory.organizations import named_organization, sign_in_methods
from app.identity.directory.organizations.connections import sign_in_connections
from app.identity.directory.organizations.connections.organization_connection_store import (
    OrganizationConnectionRecord,
)
from app.identity.platform.context import Context
from app.identity.platform.resource_storage.resource_store import items_of


@dataclass(frozen=True)
class HomeRealm:
    """Where an address or an organization leads: to one connection, or to the page with several of an organization that demands one."""

    connection: str | None = None
    limit: MethodLimit | None = None
    creates_accounts: bool = False
    """Whether nothing else counts there, and people get an account at their first sign-in."""

    def login_step(self) -> LoginStep:
        """Return the step that leads there."""
        if self.limit is None:
            return LoginStep(connection=self.connection)
        return LoginStep(reason=LoginReason.METHOD, method_limit=self.limit)


def has_any(context: Context) -> bool:
    """Return whether any domain leads to a provider."""
    if _providers_by_domain(context) or sign_in_connections.has_any_with_domain(context):
        return True
    return any(_demands(context, policies) for policies in sign_in_connections.limiting_policies(context))


def look_up(context: Context, identifier: str) -> HomeRealm | None:
    """Return where an address from a form leads; None for every other text.

    The look-ups of a network are limited as its authorization requests are, because each answer says whether a domain is that of a
    customer.

    Raises TooManyRequests.
    """
    context.count_request("home_realm", context.tenant.settings.limits.authorize_per_minute_per_address)
    return of_identifier(context, identifier)


def look_up_to_register(context: Context, email: str) -> HomeRealm | None:
    """Return where an address of the registration form leads: to the connections of an organization that demands them, and whose
    provider creates accounts. Any other domain stays with the form. Limited as `look_up`.

    Raises TooManyRequests.
    """
    realm = look_up(context, email)
    return realm if realm is not None and realm.creates_accounts else None


def of_identifier(context: Context, identifier: str) -> HomeRealm | None:
    """Return where an address leads; None for every other text."""
    return of_domain(context, sign_in_connections.domain_of_email(identifier))


def of_domain(context: Context, domain: str) -> HomeRealm | None:
    """Return where a domain leads: to the connection with it, to those that its organization demands, or to a provider of the tenant.

    The organization has verified the domain.
    """
    if not domain:
        return None
    connections = sign_in_connections.of_domain(context, domain)
    own = [item for item in connections if item.domain == domain]
    organization = connections[0].organization if connections else None
    is_demanded = organization is not None and _demands(context, organization.policy)
    if organization is not None and (own or is_demanded):
        jit = organization.policy.jit_policy
        creates_accounts = is_demanded and bool(jit.enabled) and not jit.require_approval
        return replace(_of_connections(context, own or connections, domain), creates_accounts=creates_accounts)
    name = _providers_by_domain(context).get(domain)
    return HomeRealm(name) if name is not None else None


def _of_connections(context: Context, found: list[OrganizationConnectionRecord], domain: str) -> HomeRealm:
    """Return the only connection, or the choice among several under the organization's public name, else the domain."""
    if len(found) == 1:
        return HomeRealm(found[0].connection_id)
    organization = found[0].organization
    name = organization.public_name if organization is not None else ""
    options = sign_in_connections.options(context, found)
    methods: list[SignInMethod] = [sign_in_methods.CONNECTION]
    return HomeRealm(limit=MethodLimit(organization=name or domain, allowed_methods=methods, connections=options))


def hinted_domains(domain_hint: str, login_hint: str) -> list[str]:
    """Return the domains that the hints of an application name."""
    return [item for item in (domain_hint.strip().lower(), sign_in_connections.domain_of_email(login_hint)) if item]


def of_first_domain(context: Context, domains: list[str]) -> HomeRealm | None:
    """Return where the first of these domains leads that leads anywhere."""
    return next(filter(None, (of_domain(context, domain) for domain in domains)), None)


def connection_of_organization(context: Context, text: str, domains: list[str]) -> str | None:
    """Return the connection of an organization, by its id or name: that of a hinted domain, or the only one that it demands."""
    named = named_organization.find(context, text)
    if named is None:
        return None
    hinted = [item for item in named.connections if item.domain in domains]
    found = hinted or (named.connections if named.demands_connection(context) else [])
    return found[0].connection_id if hinted or len(found) == 1 else None


def _demands(context: Context, policies: Policies) -> bool:
    return sign_in_methods.demands_connection(context.tenant.settings, policies)


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
