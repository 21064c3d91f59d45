"""nonce: copied into the id_token (OpenID Connect Core section 3.1.2.1).

Required where the browser brings an id_token (OpenID Connect Core sections 3.2.2.1 and 3.3.2.11), so not of `code token`.
"""

from app.contract.oauth.response_types import ID_TOKEN
from app.identity.protocols.oauth.authorize.request import RefusedByRedirect, UncheckedRequest

_MAX_LENGTH = 512


def check(request: UncheckedRequest) -> None:
    value = request.values.get("nonce")
    if value is not None and len(value) > _MAX_LENGTH:
        raise RefusedByRedirect("invalid_request", "The nonce is too long.")
    if value is None and ID_TOKEN in request.accepted["response_type"].split():
        raise RefusedByRedirect("invalid_request", "The nonce is a required parameter of this response_type.")
    request.accepted["nonce"] = value
