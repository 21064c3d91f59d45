"""nonce: copied into the id_token (OpenID Connect Core section 3.1.2.1).

Required of the implicit and hybrid flows (OpenID Connect Core sections 3.2.2.1 and 3.3.2.11), whose id_token passes the browser.
"""

from app.contract import oauth_response_types as types
from app.identity.protocols.oauth.authorize.request import RefusedByRedirect, UncheckedRequest
from app.identity.protocols.oauth.authorize.scope import OPENID

_MAX_LENGTH = 512


def check(request: UncheckedRequest) -> None:
    value = request.values.get("nonce")
    if value is not None and len(value) > _MAX_LENGTH:
        raise RefusedByRedirect("invalid_request", "The nonce is too long.")
    is_front_channel = types.is_front_channel(request.accepted["response_type"])
    if value is None and is_front_channel and OPENID in request.accepted["scope"]:
        raise RefusedByRedirect("invalid_request", "The nonce is a required parameter of this response_type.")
    request.accepted["nonce"] = value
