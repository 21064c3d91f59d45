"""display and ui_locales: how pages look and in which language (OpenID Connect Core section 3.1.2.1)."""

from app.identity.protocols.oauth.authorize.request import Asked, Redirected

_DISPLAYS = ("page", "popup", "touch", "wap")
_LONGEST = 200


def check(asked: Asked) -> None:
    display = asked.values.get("display")
    if display is not None and display not in _DISPLAYS:
        raise Redirected("invalid_request", "The display is not valid.")
    locales = asked.values.get("ui_locales")
    asked.kept.update(display=display, ui_locales=locales[:_LONGEST] if locales else None)
