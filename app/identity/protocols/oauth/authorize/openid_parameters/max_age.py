"""max_age: the maximum age of the authentication in seconds (OpenID Connect Core section 3.1.2.1).

Without it, the client's `default_max_age` counts (OpenID Connect Registration section 2).
"""

from app.identity.platform.tenant import Application
from app.identity.protocols.oauth.authorize.request import RefusedByRedirect, UncheckedRequest

_MAX_DIGITS = 10


def check(request: UncheckedRequest) -> None:
    text = request.values.get("max_age")
    if text is None:
        request.accepted["max_age"] = demanded(request.client, None)
        return
    if not (text.isascii() and text.isdigit() and len(text) <= _MAX_DIGITS):
        raise RefusedByRedirect("invalid_request", "The max_age is not valid.")
    request.accepted["max_age"] = int(text)


def demanded(client: Application, requested: int | None) -> int | None:
    """Return the age that counts for a request of the client."""
    return requested if requested is not None else client.settings.default_max_age
