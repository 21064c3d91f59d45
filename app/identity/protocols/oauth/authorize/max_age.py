"""max_age: the maximum age of the authentication in seconds (OpenID Connect Core section 3.1.2.1).

Without it, the client's `default_max_age` counts (OpenID Connect Registration section 2).
"""

from app.identity.protocols.oauth.authorize.request import RefusedByRedirect, UncheckedRequest

_MOST_DIGITS = 10


def check(request: UncheckedRequest) -> None:
    text = request.values.get("max_age")
    if text is None:
        request.accepted["max_age"] = request.client.settings.default_max_age
        return
    if not (text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS):
        raise RefusedByRedirect("invalid_request", "The max_age is not valid.")
    request.accepted["max_age"] = int(text)
