"""response_mode: how the response reaches the client (OAuth 2.0 Multiple Response Types section 2.1, Form Post Response Mode)."""

from app.identity.protocols.oauth.authorize import request_object
from app.identity.protocols.oauth.authorize.request import RefusedByRedirect, UncheckedRequest

MODES = ("query", "fragment", "form_post")


def check(request: UncheckedRequest) -> None:
    mode = request.values.get("response_mode") or request_object.unverified(request, "response_mode") or "query"
    if mode not in MODES:
        raise RefusedByRedirect("invalid_request", "The response_mode is not valid.")
    request.accepted["response_mode"] = mode
