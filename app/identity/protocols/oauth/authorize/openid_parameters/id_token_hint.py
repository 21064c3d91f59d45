"""id_token_hint: an id_token of this tenant, expired or not, that names the account that must be signed in (Core section 3.1.2.1)."""

from app.identity.protocols.oauth.authorize.request import RefusedByRedirect, UncheckedRequest
from app.identity.protocols.oauth.tokens import issued_jwts


def check(request: UncheckedRequest) -> None:
    text = request.values.get("id_token_hint")
    if text is None:
        return
    hint = issued_jwts.read_id_token_hint(request.context, text)
    if hint is None or hint.client.client_id != request.client.client_id:
        raise RefusedByRedirect("invalid_request", "The id_token_hint is not valid.")
    request.accepted["subject"] = hint.uid
