"""client_id: must name an active client of this tenant, and the one of the address (RFC 6749 section 4.1.1)."""

from app.identity.protocols.oauth import issuers
from app.identity.protocols.oauth.authorize.request import Asked, Refused

_LONGEST = 128


def check(asked: Asked) -> None:
    client_id = asked.values.get("client_id", "")
    if not client_id or len(client_id) > _LONGEST:
        raise Refused("client", "invalid_request")
    client = asked.context.application(client_id=client_id)
    if client is None or not client.settings.is_active:
        raise Refused("client", "invalid_client")
    asked.client = client
    own = issuers.of_application(asked.context, client)
    if asked.app is None:
        asked.issuer = issuers.tenant_wide(asked.context)
    elif (client.name.lower(), own.protocol) == (asked.app.lower(), asked.protocol):
        asked.issuer = own
    else:
        del asked.client
        raise Refused("client", "invalid_client")
