"""nonce: goes into the id_token as it came (OpenID Connect Core section 3.1.2.1)."""

from app.identity.protocols.oauth.authorize.request import Asked, Redirected

_LONGEST = 512


def check(asked: Asked) -> None:
    value = asked.values.get("nonce")
    if value is not None and len(value) > _LONGEST:
        raise Redirected("invalid_request", "The nonce is too long.")
    asked.kept["nonce"] = value
