"""request, request_uri, registration: not supported; refused with the errors of OpenID Connect Core section 3.1.2.6."""

from __future__ import annotations

import json
from base64 import urlsafe_b64decode

from app.identity.protocols.oauth.authorize.request import RefusedByRedirect, UncheckedRequest

_ERRORS = {
    "request": "request_not_supported",
    "request_uri": "request_uri_not_supported",
    "registration": "registration_not_supported",
}
_MAX_LENGTH = 8_000


def check(request: UncheckedRequest) -> None:
    for name, error in _ERRORS.items():
        if name in request.values:
            raise RefusedByRedirect(error, f"The parameter {name} is not supported.")


def unverified(request: UncheckedRequest, name: str) -> str | None:
    """Return a member of the request object, although nothing proves who wrote it.

    Only for what shapes the error response: a client may state `state` and `response_mode` in its object alone (section 6.1),
    and whoever sends the browser here could state them beside it as well.
    """
    text = request.values.get("request", "")
    try:
        payload = text.split(".")[1] if len(text) <= _MAX_LENGTH else ""
        members = json.loads(urlsafe_b64decode(payload.encode("ascii") + b"=" * (-len(payload) % 4)))
    except (IndexError, ValueError, RecursionError):
        return None
    value = members.get(name) if isinstance(members, dict) else None
    return value if isinstance(value, str) else None
