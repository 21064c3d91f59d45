"""state: an opaque value that the response returns unchanged (RFC 6749 section 4.1.1)."""

from app.identity.protocols.oauth.authorize import request_object
from app.identity.protocols.oauth.authorize.request import RefusedByRedirect, UncheckedRequest

_MAX_LENGTH = 2048


def check(request: UncheckedRequest) -> None:
    value = request.values.get("state") or request_object.unverified(request, "state")
    if value is not None and len(value) > _MAX_LENGTH:
        raise RefusedByRedirect("invalid_request", "The state is too long.")
    request.accepted["state"] = value
