"""dpop_jkt: the key that the code is bound to, by its thumbprint (RFC 9449 section 10)."""

import re

from app.identity.protocols.oauth.authorize.request import RefusedByRedirect, UncheckedRequest

_THUMBPRINT = re.compile(r"[A-Za-z0-9_-]{43}")


def check(request: UncheckedRequest) -> None:
    thumbprint = request.values.get("dpop_jkt")
    if thumbprint is None:
        return
    if not _THUMBPRINT.fullmatch(thumbprint):
        raise RefusedByRedirect("invalid_request", "The dpop_jkt is not the SHA-256 thumbprint of a key.")
    request.accepted["dpop_jkt"] = thumbprint
