"""display and ui_locales: the form and the language of the pages (OpenID Connect Core section 3.1.2.1)."""

from app.identity.protocols.oauth.authorize.request import RefusedByRedirect, UncheckedRequest

_DISPLAYS = ("page", "popup", "touch", "wap")
_MAX_LENGTH = 200


def check(request: UncheckedRequest) -> None:
    display = request.values.get("display")
    if display is not None and display not in _DISPLAYS:
        raise RefusedByRedirect("invalid_request", "The display is not valid.")
    locales = request.values.get("ui_locales")
    request.accepted.update(display=display, ui_locales=locales[:_MAX_LENGTH] if locales else None)
