"""Copies of the logos of applications that registered themselves: pages load nothing from such an application (decision 0223)."""

from __future__ import annotations

from base64 import b64decode
from typing import Final

from flask import Blueprint, Response, abort

from app.contract.applications import application_logo_pages
from app.contract.applications.application_logo_pages import COPIED_LOGOS
from app.contract.images.image_pages import name_digest
from app.contract.oauth.oauth_errors import UnknownApplication
from app.contract.page_models import NoParameters
from app.hub.web.services import api, services
from app.hub.web.visit import current_visit

views = Blueprint("application_logos", __name__)

_CACHE: Final = "public, max-age=86400, immutable"
_POLICY: Final = "default-src 'none'; frame-ancestors 'none'; sandbox"


@views.get(f"{COPIED_LOGOS}<digest>")
def application_logo(digest: str) -> Response:
    """The picture with this digest; 404 for every other."""
    if application_logo_pages.LOGO_DIGEST.fullmatch(digest) is None:
        abort(404)
    logo = services().known_names.find(
        "application logos",
        current_visit().tenant.name,
        name_digest(digest),
        lambda: _read(digest),
        lambda: api()(application_logo_pages.list_logos, NoParameters()).digests,
    )
    if logo is None:
        abort(404)
    response = Response(b64decode(logo.content), content_type=logo.media_type)
    response.headers.update({"Cache-Control": _CACHE, "Content-Security-Policy": _POLICY})
    return response


def _read(digest: str) -> application_logo_pages.LogoView | None:
    try:
        return api()(application_logo_pages.read, application_logo_pages.LogoUrl.model_construct(digest=digest))
    except UnknownApplication:
        return None
