"""response_type: the code flow, for clients that are registered for it. Tokens never appear in a URI (RFC 9700 section 2.1.2)."""

from app.identity.protocols.oauth.authorize.request import RefusedByRedirect, UncheckedRequest


def check(request: UncheckedRequest) -> None:
    response_type = request.values.get("response_type")
    if response_type is None:
        raise RefusedByRedirect("invalid_request", "The response_type is a required parameter.")
    if response_type != "code":
        raise RefusedByRedirect("unsupported_response_type", "The response_type is not valid.")
    settings = request.client.settings
    if "code" not in settings.response_types or "authorization_code" not in settings.grant_types:
        raise RefusedByRedirect("unauthorized_client", "This client may not use the authorization code grant.")
