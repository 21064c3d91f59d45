"""nonce: copied into the id_token (OpenID Connect Core section 3.1.2.1)."""

from app.identity.protocols.oauth.authorize.request import RefusedByRedirect, UncheckedRequest

_MAX_LENGTH = 512


def check(request: UncheckedRequest) -> None:
    value = request.values.get("nonce")
    if value is not None and len(value) > _MAX_LENGTH:
        raise RefusedByRedirect("invalid_request", "The nonce is too long.")
    request.accepted["nonce"] = value
