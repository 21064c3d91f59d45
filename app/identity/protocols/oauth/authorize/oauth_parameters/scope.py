"""scope: limited to the scopes of the client; `openid` at the OpenID addresses (OpenID Connect Core section 3.1.2.1).

An unknown scope is ignored, as that section says; the token response tells the granted scope (RFC 6749
section 3.3). A known scope for which the client is not registered is an error. A request without scope gets the tenant's
default scopes that the client may have (decision 0342).
"""

from app.contract.applications.client_protocol import ClientProtocol
from app.contract.auth import INTERFACE_SCOPES
from app.contract.oauth.response_types import CODE
from app.identity.platform.context import Context
from app.identity.platform.tenant import Application
from app.identity.protocols.oauth import resource_indicators
from app.identity.protocols.oauth.authorize.request import CheckedRequest, RefusedByRedirect, UncheckedRequest
from app.identity.protocols.oauth.claims.account_claims import CLAIMS_OF_SCOPES

OPENID, OFFLINE = "openid", "offline_access"
_KNOWN = frozenset((OPENID, OFFLINE, *INTERFACE_SCOPES, *CLAIMS_OF_SCOPES))


def check(request: UncheckedRequest) -> None:
    requested = tuple(dict.fromkeys(name for name in request.values.get("scope", "").split(" ") if name))
    settings = request.client.settings
    if not requested:
        requested = defaults(request.context, request.client, request.protocol)
        if not requested and (request.protocol is ClientProtocol.OPENID or request.client.is_self_registered):
            raise RefusedByRedirect("invalid_scope", "The scope is missing, and there is no default.")
    if request.protocol is ClientProtocol.OPENID and OPENID not in requested:
        raise RefusedByRedirect("request_not_supported", "The scope openid is missing.")
    allowed = _allowed(request.client)
    if refused := next((name for name in requested if name in _KNOWN - allowed), None):
        raise RefusedByRedirect("invalid_scope", f"The scope {refused} is not registered for this client.")
    omitted = {name for name in requested if name not in allowed}
    if request.protocol is ClientProtocol.OAUTH:
        omitted.add(OPENID)  # only the OpenID endpoints issue id_tokens
    # Without a code `offline_access` is ignored (OpenID Connect Core section 11); a device has no response type.
    brings_code = CODE in request.accepted.get("response_type", CODE).split()
    if not brings_code or "refresh_token" not in settings.grant_types or OFFLINE not in request.client.scopes:
        omitted.add(OFFLINE)
    granted = request.client.granted(tuple(name for name in requested if name not in omitted))
    request.accepted["scope"] = resource_indicators.narrow_scope(
        request.context, request.client, granted, request.accepted.get("resource")
    )


def defaults(context: Context, client: Application, protocol: ClientProtocol) -> tuple[str, ...]:
    """Return the tenant's default scopes that the client may have, with `openid` where only OpenID requests are; empty for none."""
    allowed = _allowed(client)
    found = [name for name in context.tenant.settings.default_scopes if name in allowed]
    needed = [OPENID] if found and protocol is ClientProtocol.OPENID and OPENID in allowed else []
    return tuple(dict.fromkeys([*needed, *found]))


def still_holds(context: Context, client: Application, request: CheckedRequest) -> bool:
    """Return whether the client may still request all of the scopes, and the claims that the request named."""
    del context
    return _allowed(client).issuperset(request.agreed)


def _allowed(client: Application) -> frozenset[str]:
    return client.scopes | {OFFLINE}
