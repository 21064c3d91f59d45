"""login_hint: the identifier that the relying party expects; fills the form, or offers to switch the signed-in account."""

from app.identity.protocols.oauth.authorize.request import Asked

_LONGEST = 320


def check(asked: Asked) -> None:
    hint = asked.values.get("login_hint")
    asked.kept["login_hint"] = hint if hint and len(hint) <= _LONGEST else None
