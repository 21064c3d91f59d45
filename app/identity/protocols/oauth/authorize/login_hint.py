"""login_hint: the identifier that the relying party expects (Core section 3.1.2.1); fills the form or offers another account."""

from app.identity.protocols.oauth.authorize.request import UncheckedRequest

_MAX_LENGTH = 320


def check(request: UncheckedRequest) -> None:
    hint = request.values.get("login_hint")
    request.accepted["login_hint"] = hint if hint and len(hint) <= _MAX_LENGTH else None
