"""state: an opaque value that the response returns unchanged (RFC 6749 section 4.1.1)."""

from app.contract.oauth.pages.authorization_pages import MAX_STATE
from app.identity.protocols.oauth.authorize import request_object
from app.identity.protocols.oauth.authorize.request import RefusedByRedirect, UncheckedRequest


def check(request: UncheckedRequest) -> None:
    value = request.values.get("state") or request_object.unverified(request, "state")
    if value is not None and len(value) > MAX_STATE:
        raise RefusedByRedirect("invalid_request", f"The state is too long: {MAX_STATE} characters at most.")
    request.accepted["state"] = value
