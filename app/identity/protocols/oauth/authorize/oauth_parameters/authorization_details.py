"""authorization_details: the requested permissions, as JSON of registered types (RFC 9396 sections 2 and 5)."""

from app.contract.oauth.oauth_errors import InvalidAuthorizationDetails
from app.identity.platform.context import Context
from app.identity.platform.tenant import Application
from app.identity.protocols.oauth import authorization_details
from app.identity.protocols.oauth.authorize.request import CheckedRequest, RefusedByRedirect, UncheckedRequest


def check(request: UncheckedRequest) -> None:
    text = request.values.get("authorization_details")
    if text is None:
        return
    try:
        details = authorization_details.parse(request.context, request.client, text)
    except InvalidAuthorizationDetails as refusal:
        raise RefusedByRedirect(str(refusal.code), refusal.description) from None
    request.accepted["authorization_details"] = details


def still_holds(context: Context, client: Application, request: CheckedRequest) -> bool:
    """Return whether the client may still use all of the types."""
    types = authorization_details.supported(context, client)
    return all(detail["type"] in types for detail in request.authorization_details)
