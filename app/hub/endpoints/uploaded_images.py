"""Uploaded images: pictures of accounts and logos of organizations, which applications show on their own pages, too."""

from __future__ import annotations

from base64 import b64decode
from typing import Final

from flask import Blueprint, Response, abort

from app.contract.errors import BadParameter
from app.contract.images import image_pages
from app.contract.images.image_pages import UPLOADED_IMAGES
from app.hub.web.services import api

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
    try:
        image = api()(image_pages.read, image_pages.ImageName.model_construct(name=name[:65]))
    except (BadParameter, image_pages.UnknownImage):
        abort(404)
    response = Response(b64decode(image.content), content_type=image.media_type)
    response.headers.update(_HEADERS)
    return response
