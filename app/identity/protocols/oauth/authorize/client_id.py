"""client_id: must name an active client of this tenant, the same as the address (RFC 6749 section 4.1.1)."""

from app.identity.protocols.oauth import issuers
from app.identity.protocols.oauth.authorize.request import RefusedOnPage, UncheckedRequest
from app.identity.protocols.oauth.registration import documents
from app.kit.errors import OAuthError

_MAX_LENGTH = 128


def check(request: UncheckedRequest) -> None:
    client_id = request.values.get("client_id", "")
    if not client_id or len(client_id) > _MAX_LENGTH:
        raise RefusedOnPage("client", "invalid_request")
    try:
        documents.ensure(request.context, client_id)
    except OAuthError:
        raise RefusedOnPage("client", "invalid_client") from None
    client = request.context.application(client_id=client_id)
    if client is None or not client.settings.is_active:
        raise RefusedOnPage("client", "invalid_client")
    request.client = client
    issuer = issuers.of_application(request.context, client)
    if request.app is None:
        request.issuer = issuers.tenant_wide(request.context)
    elif (client.issuer_name.lower(), issuer.protocol) == (request.app.lower(), request.protocol):
        request.issuer = issuer
    else:
        del request.client
        raise RefusedOnPage("client", "invalid_client")
