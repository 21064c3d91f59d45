"""scope: limited to the scopes of the client; `openid` at the OpenID addresses (OpenID Connect Core section 3.1.2.1)."""

from app.identity.protocols.oauth import issuers, resource_indicators
from app.identity.protocols.oauth.authorize.request import RefusedByRedirect, UncheckedRequest

OPENID, OFFLINE = "openid", "offline_access"


def check(request: UncheckedRequest) -> None:
    requested = tuple(dict.fromkeys(name for name in request.values.get("scope", "").split(" ") if name))
    settings = request.client.settings
    if request.protocol == issuers.OIDC and OPENID not in requested:
        raise RefusedByRedirect("request_not_supported", "The scope openid is missing.")
    allowed = request.client.scopes | {OFFLINE}
    if any(name not in allowed for name in requested):
        raise RefusedByRedirect("invalid_scope", "A scope is not allowed.")
    omitted = set()
    if request.protocol == issuers.OAUTH:
        omitted.add(OPENID)  # only the OpenID endpoints issue id_tokens
    if "refresh_token" not in settings.grant_types or OFFLINE not in request.client.scopes:
        omitted.add(OFFLINE)
    granted = request.client.granted(tuple(name for name in requested if name not in omitted))
    request.accepted["scope"] = resource_indicators.narrow_scope(
        request.context, request.client, granted, request.accepted.get("resource")
    )
