"""login_hint: whom the relying party expects; fills the form, and shows it where somebody else is signed in."""

from app.identity.protocols.oauth.authorize.request import Asked

_LONGEST = 320


def check(asked: Asked) -> None:
    hint = asked.values.get("login_hint")
    asked.kept["login_hint"] = hint if hint and len(hint) <= _LONGEST else None
