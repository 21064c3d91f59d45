"""scope: limited to the scopes of the client; `openid` at the OpenID addresses (OpenID Connect Core section 3.1.2.1)."""

from app.identity.protocols.oauth import issuers, resources
from app.identity.protocols.oauth.authorize.request import Asked, Redirected

OPENID, OFFLINE = "openid", "offline_access"


def check(asked: Asked) -> None:
    wanted = tuple(dict.fromkeys(name for name in asked.values.get("scope", "").split(" ") if name))
    settings = asked.client.settings
    if asked.protocol == issuers.OIDC and OPENID not in wanted:
        raise Redirected("request_not_supported", "The scope openid is missing.")
    allowed = asked.client.scopes | {OFFLINE}
    if any(name not in allowed for name in wanted):
        raise Redirected("invalid_scope", "A scope is not allowed.")
    left_out = set()
    if asked.protocol == issuers.OAUTH:
        left_out.add(OPENID)  # only the OpenID addresses give id_tokens
    if "refresh_token" not in settings.grant_types or OFFLINE not in asked.client.scopes:
        left_out.add(OFFLINE)
    granted = asked.client.granted(tuple(name for name in wanted if name not in left_out))
    asked.kept["scope"] = resources.narrowed(asked.context, asked.client, granted, asked.kept.get("resource"))
