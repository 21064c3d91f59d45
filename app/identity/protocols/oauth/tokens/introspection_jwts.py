"""Introspection responses as signed JWTs (RFC 9701), which a resource server may keep as evidence."""

from __future__ import annotations

from typing import Final

from app.contract.oauth.oauth_token_operations import INTROSPECTION_JWT, IntrospectionResponse
from app.identity.platform.context import Context
from app.identity.platform.tenant import Application
from app.identity.protocols.oauth import issuers
from app.kit.operations.wire import Document

KIND: Final = "token-introspection+jwt"
"""The `typ` (RFC 9701 section 5): no other verifier takes such a JWT for an access token or an id_token (section 8.1)."""
_JSON: Final = "application/json"


def is_requested(context: Context) -> bool:
    """Return whether the caller prefers a JWT: it names the media type in `Accept` (RFC 9701 section 4, RFC 9110 section 12.5.1)."""
    accept = context.raw.headers.get("accept", "")
    if INTROSPECTION_JWT not in accept.lower():
        return False
    weights = _weights(accept)
    requested = weights.get(INTROSPECTION_JWT, 0.0)
    return requested > 0 and requested >= weights.get(_JSON, 0.0)


def signed(context: Context, client: Application, response: IntrospectionResponse) -> Document:
    """Return the response as a JWT for this caller alone (RFC 9701 section 5).

    Claims of the token are within `token_introspection`: at the top, a verifier could take this JWT for an access token.
    """
    claims = {
        "iss": issuers.requested_issuer(context, client).url,
        "aud": client.client_id,
        "iat": int(context.now.timestamp()),
        "token_introspection": response.model_dump(mode="json", by_alias=True, exclude_none=True),
    }
    algorithm = client.settings.introspection_signed_response_alg
    text = context.services.signing_keys.sign(context.work, claims, KIND, algorithm)
    return Document(text.encode(), INTROSPECTION_JWT)


def _weights(accept: str) -> dict[str, float]:
    """Return the weight of each media type of an Accept header; a malformed weight is none."""
    weights: dict[str, float] = {}
    for part in accept.split(","):
        kind, *parameters = (text.strip().lower() for text in part.split(";"))
        weight = next((text[2:] for text in parameters if text.startswith("q=")), "1")
        try:
            weights[kind] = float(weight)
        except ValueError:
            weights[kind] = 0.0
    return weights
