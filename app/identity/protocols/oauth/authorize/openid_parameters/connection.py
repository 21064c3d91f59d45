"""connection, provider, organization, domain_hint, login_hint: redirect to an identity provider at once.

A name that the tenant does not have, or has switched off, is no error: the sign-in page is shown.
"""

from app.contract import errors
from app.identity.authentication.federation import offered_connections
from app.identity.protocols.oauth.authorize.request import UncheckedRequest

_MAX_HINT_LENGTH = 320


def check(request: UncheckedRequest) -> None:
    text = request.values.get("connection") or request.values.get("provider") or ""
    found = _named(request, text) if text else _hinted(request)
    if found is not None:
        request.accepted["connection"] = found


def _named(request: UncheckedRequest, text: str) -> str | None:
    """Return the connection with a name: the tenant's in any letter case, an organization's by its id."""
    try:
        return offered_connections.find_to_begin(request.context, text).name
    except (errors.UnknownConnection, errors.ConnectionNotConfigured):
        return None


def _hinted(request: UncheckedRequest) -> str | None:
    """Return the connection of the organization or of the domain that the request names; several of a domain are noted."""
    organization = request.values.get("organization") or ""
    domain, hint = request.values.get("domain_hint") or "", request.values.get("login_hint") or ""
    if not (organization or domain or "@" in hint):
        return None
    from app.identity.authentication.federation import home_realms  # noqa: PLC0415 - few requests name any

    domains = home_realms.hinted_domains(domain, hint[:_MAX_HINT_LENGTH])
    if organization:
        return home_realms.connection_of_organization(request.context, organization, domains)
    realm = home_realms.of_first_domain(request.context, domains)
    request.home_realm_limit = realm.limit if realm is not None else None
    return realm.connection if realm is not None else None
