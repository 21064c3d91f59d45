"""Uploaded images: pictures of accounts and logos of organizations, which applications show on their own pages, too."""

from __future__ import annotations

from base64 import b64decode
from typing import Final

from flask import Blueprint, Response, abort

from app.contract.images import image_pages
from app.contract.images.image_pages import UPLOADED_IMAGES
from app.contract.page_models import NoParameters
from app.hub.web.services import api, services
from app.hub.web.visit import current_visit

views = Blueprint("uploaded_images", __name__)

_HEADERS: Final = {
    # Never in a cache that several people share: a removed picture is gone once the browser forgets it.
    "Cache-Control": "private, max-age=86400, immutable",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'; sandbox",
    "Cross-Origin-Resource-Policy": "cross-origin",
}


@views.get(f"{UPLOADED_IMAGES}<name>")
def uploaded_image(name: str) -> Response:
    """The image of this name; 404 for every other."""
    if image_pages.IMAGE_NAME.fullmatch(name) is None:
        abort(404)
    image = services().known_names.find(
        "images",
        current_visit().tenant.name,
        image_pages.name_digest(name),
        lambda: _read(name),
        lambda: api()(image_pages.list_images, NoParameters()).digests,
    )
    if image is None:
        abort(404)
    response = Response(b64decode(image.content), content_type=image.media_type)
    response.headers.update(_HEADERS)
    return response


def _read(name: str) -> image_pages.ImageView | None:
    try:
        return api()(image_pages.read, image_pages.ImageName.model_construct(name=name))
    except image_pages.UnknownImage:
        return None
