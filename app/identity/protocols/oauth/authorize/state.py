"""state: opaque to us, given back as it came (RFC 6749 section 4.1.1)."""

from app.identity.protocols.oauth.authorize.request import Asked, Redirected

_LONGEST = 2048


def check(asked: Asked) -> None:
    value = asked.values.get("state")
    if value is not None and len(value) > _LONGEST:
        raise Redirected("invalid_request", "The state is too long.")
    asked.kept["state"] = value
