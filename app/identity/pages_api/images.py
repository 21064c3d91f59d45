"""Uploaded images, for the pages."""

from __future__ import annotations

from base64 import b64encode

from app.contract.images import image_pages
from app.identity.directory import pictures
from app.identity.platform.context import Context


@image_pages.read.implements
def read_image(context: Context, req: image_pages.ImageName) -> image_pages.ImageView:
    image = pictures.find(context.work, req.name)
    if image is None:
        raise image_pages.UnknownImage
    return image_pages.ImageView(media_type=image.media_type, content=b64encode(image.content).decode())
