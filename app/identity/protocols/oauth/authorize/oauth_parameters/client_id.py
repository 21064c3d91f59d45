"""client_id: must name an active client of this tenant, the same as the address (RFC 6749 section 4.1.1)."""

from app.contract.step_reasons import RefusedPart
from app.identity.protocols.oauth import issuers, refusal_log
from app.identity.protocols.oauth.authorize.request import RefusedOnPage, UncheckedRequest
from app.identity.protocols.oauth.registration import client_documents
from app.kit.operations.errors import OAuthError

_MAX_LENGTH = 128


def check(request: UncheckedRequest) -> None:
    client_id = request.values.get("client_id", "")
    if not client_id:
        raise RefusedOnPage(RefusedPart.CLIENT, "invalid_request", "The client_id is missing or given twice.")
    if len(client_id) > _MAX_LENGTH:
        raise RefusedOnPage(RefusedPart.CLIENT, "invalid_request", "The client_id is too long.")
    try:
        client_documents.refresh(request.context, client_id)
    except OAuthError as refusal:
        raise RefusedOnPage(RefusedPart.CLIENT, "invalid_client", refusal.description) from None
    client = request.context.application(client_id=client_id)
    if client is None or not client.settings.is_active:
        known = f"{request.context.tenant.name} has no active application with the client_id {refusal_log.shown(client_id)}."
        raise RefusedOnPage(RefusedPart.CLIENT, "invalid_client", known)
    request.client = client
    issuer = issuers.of_application(request.context, client)
    if request.app is None:
        request.issuer = issuers.tenant_wide(request.context)
    elif (client.issuer_name.lower(), issuer.protocol) == (request.app.lower(), request.protocol):
        request.issuer = issuer
    else:
        del request.client
        another = f"The issuer of the client_id {refusal_log.shown(client_id)} has another authorization_endpoint: see its metadata."
        raise RefusedOnPage(RefusedPart.CLIENT, "invalid_client", another)
