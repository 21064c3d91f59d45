"""response_type: the code flow, for clients that have it. Tokens never travel in an address (RFC 9700 section 2.1.2)."""

from app.identity.protocols.oauth.authorize.request import Asked, Redirected


def check(asked: Asked) -> None:
    asked_for = asked.values.get("response_type")
    if asked_for is None:
        raise Redirected("invalid_request", "The response_type is a required parameter.")
    if asked_for != "code":
        raise Redirected("unsupported_response_type", "The response_type is not valid.")
    settings = asked.client.settings
    if "code" not in settings.response_types or "authorization_code" not in settings.grant_types:
        raise Redirected("unauthorized_client", "This client may not use the authorization code grant.")
