"""Reads the access token of a request to an OAuth endpoint (RFC 6750 section 2, RFC 9449 section 7.1); the API is more lenient."""

from __future__ import annotations

from typing import Any

from app.contract.oauth.oauth_errors import MalformedTokenRequest
from app.kit.operations.request_parsing import RawRequest

_NAME = "access_token"


def read(raw: RawRequest, body: dict[str, Any]) -> str | None:
    """Return the access token: `Authorization: Bearer` or `DPoP`, or a member of the body; None without one.

    Addresses that name the application take it from the query too, as all of the interface does; the standard's do not, because
    addresses end up in logs and histories (RFC 9700 section 4.3.2).

    Raises:
        MalformedTokenRequest: it comes in several ways, of which two readers could pick different ones, or in the query.
    """
    header = raw.header_token()
    in_query = [value for name, value in raw.query_pairs if name.lower() == _NAME and value]
    in_body = [value for name, value in body.items() if name.lower() == _NAME]
    if in_query and "app" not in raw.parameters:
        raise MalformedTokenRequest("Send the access token in the Authorization header.")
    tokens = [*([header] if header is not None else []), *in_query, *in_body]
    if len(tokens) > 1:
        raise MalformedTokenRequest("The access token is given more than once.")
    return tokens[0] if tokens and isinstance(tokens[0], str) else None
