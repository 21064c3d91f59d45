"""display, ui_locales and brand: the form, the languages and the brand of the pages (OpenID Connect Core section 3.1.2.1).

An unknown language is no error, as that section says: the pages take the first that they have. Nor is an unknown brand.
"""

from app.identity.directory.tenants import themed_tenant
from app.identity.protocols.oauth.authorize.request import RefusedByRedirect, UncheckedRequest
from app.kit.text.languages import tags_in

_DISPLAYS = ("page", "popup", "touch", "wap")
_MAX_LOCALES = 10  # the pages read fewer


def check(request: UncheckedRequest) -> None:
    display = request.values.get("display")
    if display is not None and display not in _DISPLAYS:
        raise RefusedByRedirect("invalid_request", "The display is not valid.")
    locales = tags_in(request.values.get("ui_locales", ""), _MAX_LOCALES)
    brand = themed_tenant.known_key(request.context, request.values.get("brand", "")) or None
    request.accepted.update(display=display, ui_locales=" ".join(locales) or None, brand=brand)
