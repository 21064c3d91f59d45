"""prompt: which pages must or must not be shown (OpenID Connect Core section 3.1.2.1, Initiating User Registration 1.0)."""

from collections.abc import Set

from app.identity.directory.organizations import requested_organization
from app.identity.platform.tenant import Application
from app.identity.protocols.oauth.authorize.request import RefusedByRedirect, UncheckedRequest

NONE, LOGIN, CONSENT, SELECT, CREATE = "none", "login", "consent", "select_account", "create"
ADVERTISED = (NONE, LOGIN, CONSENT, SELECT, CREATE)
"""The values of specifications. Libraries such as Spring's refuse a provider whose metadata has another one."""
SUPPORTED = (*ADVERTISED, requested_organization.PROMPT)


def check(request: UncheckedRequest) -> None:
    requested = frozenset(name for name in request.values.get("prompt", "").split(" ") if name)
    if not requested <= set(SUPPORTED):
        raise RefusedByRedirect("invalid_request", "The prompt is not valid.")
    if NONE in requested and len(requested) > 1:
        raise RefusedByRedirect("invalid_request", "The prompt none stands alone.")
    request.accepted["prompt"] = demanded(request.client, requested)


def demanded(client: Application, requested: Set[str]) -> frozenset[str]:
    """Return the values, and those that the client requires of each of its requests."""
    return frozenset({*requested, LOGIN} if client.settings.force_reauthentication else requested)
