"""authorization_details: what the client asks to do, as JSON of registered types (RFC 9396 sections 2 and 5)."""

from app.contract.errors_oauth import InvalidAuthorizationDetails
from app.identity.protocols.oauth import authorization_details
from app.identity.protocols.oauth.authorize.request import RefusedByRedirect, UncheckedRequest


def check(request: UncheckedRequest) -> None:
    text = request.values.get("authorization_details")
    if text is None:
        return
    try:
        details = authorization_details.parse(request.context, request.client, text)
    except InvalidAuthorizationDetails as refusal:
        raise RefusedByRedirect(str(refusal.code), refusal.description) from None
    request.accepted["authorization_details"] = details
