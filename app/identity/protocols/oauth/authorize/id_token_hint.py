"""id_token_hint: an id_token of this tenant, expired or not; names the account that must be signed in (Core section 3.1.2.1)."""

from app.identity.protocols.oauth import id_token_hints
from app.identity.protocols.oauth.authorize.request import Asked, Redirected


def check(asked: Asked) -> None:
    text = asked.values.get("id_token_hint")
    if text is None:
        return
    hint = id_token_hints.read(asked.context, text)
    if hint is None or hint.client.client_id != asked.client.client_id:
        raise Redirected("invalid_request", "The id_token_hint is not valid.")
    asked.kept["subject"] = hint.uid
