"""response_type: the code flow, and the legacy implicit and hybrid flows for clients that are registered for them (RFC 6749
section 3.1.1, OAuth 2.0 Multiple Response Types sections 3 and 5). RFC 9700 section 2.1.2 advises against tokens in a URI.
"""

from app.contract.applications.client_protocol import ClientProtocol
from app.contract.oauth import response_types
from app.identity.platform.context import Context
from app.identity.platform.tenant import Application
from app.identity.protocols.oauth.authorize.request import CheckedRequest, RefusedByRedirect, UncheckedRequest

_TYPES = {ClientProtocol.OPENID: response_types.OPENID_TYPES, ClientProtocol.OAUTH: response_types.OAUTH_TYPES}


def check(request: UncheckedRequest) -> None:
    stated = request.values.get("response_type")
    if stated is None:
        raise RefusedByRedirect("invalid_request", "The response_type is a required parameter.")
    response_type = str(response_types.canonical(stated))
    if response_type not in _TYPES[request.protocol]:
        raise RefusedByRedirect("unsupported_response_type", "The response_type is not valid.")
    if not _has_grant_of_codes(request.client, response_type):
        raise RefusedByRedirect("unauthorized_client", "This client may not use the authorization code grant.")
    if not _is_registered(request.client, response_type):
        raise RefusedByRedirect("unauthorized_client", "This client may not use the response_type.")
    request.accepted["response_type"] = response_type


def still_holds(context: Context, client: Application, request: CheckedRequest) -> bool:
    """Return whether the client may still use the response type and its grant."""
    del context
    return _has_grant_of_codes(client, request.response_type) and _is_registered(client, request.response_type)


def _has_grant_of_codes(client: Application, response_type: str) -> bool:
    return response_types.CODE not in response_type.split() or "authorization_code" in client.settings.grant_types


def _is_registered(client: Application, response_type: str) -> bool:
    """Return whether the client is registered for the type and, if it brings tokens, for the grant `implicit` (RFC 7591 section 2.1)."""
    settings = client.settings
    if settings.needs_bound_tokens and response_types.TOKEN in response_type.split():
        return False  # no sender is known to whom the token could be bound (RFC 9449 section 5)
    is_allowed = not response_types.is_front_channel(response_type) or response_types.IMPLICIT in settings.grant_types
    return is_allowed and response_type in [response_types.canonical(item) for item in settings.response_types]
