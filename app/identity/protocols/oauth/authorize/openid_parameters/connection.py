"""connection, provider, organization, domain_hint, login_hint: redirect to an identity provider at once.

A name that the tenant does not have, or has switched off, is no error: the sign-in page is shown.
"""

from app.contract.federation.connection_completion import can_sign_in
from app.contract.steps import LoginStep
from app.identity.authentication.federation import offered_connections
from app.identity.protocols.oauth.authorize.request import UncheckedRequest


def check(request: UncheckedRequest) -> None:
    text = request.values.get("connection") or request.values.get("provider") or ""
    name = text.lower()
    connection = request.context.tenant.settings.connections.get(name)
    if connection is not None and can_sign_in(name, connection):
        request.accepted["connection"] = name
    elif (
        request.context.tenant.settings.organizations.enabled and (found := _of_organization(request, text)) is not None
    ):
        request.accepted["connection"] = found


def _of_organization(request: UncheckedRequest, text: str) -> str | None:
    """Return the organization's connection that the request names: by its id, its organization, or a domain."""
    if text:
        is_one = offered_connections.is_of_organization(text) and offered_connections.is_active(request.context, text)
        return text if is_one else None
    organization = request.values.get("organization") or ""
    domain = (request.values.get("domain_hint") or "").strip().lower()
    hint = request.values.get("login_hint") or ""
    if not (organization or domain or "@" in hint):
        return None
    from app.identity.authentication.federation import home_realms  # noqa: PLC0415 - few requests name any

    if organization:
        return home_realms.connection_of_organization(request.context, organization)
    found = home_realms.of_domain(request.context, domain) if domain else None
    found = found or home_realms.of_identifier(request.context, hint[:320])
    return found.connection if isinstance(found, LoginStep) else None
