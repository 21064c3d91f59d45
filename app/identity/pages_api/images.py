"""Uploaded images and the files of themes, for the pages."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence

from app.contract.images import image_pages
from app.contract.page_models import NoParameters
from app.contract.tenants.errors import UnknownThemeFile
from app.identity.directory import pictures
from app.identity.directory.tenants import theme_files
from app.identity.platform.context import Context


def listed(names: Sequence[str]) -> image_pages.FileNames:
    """Return the list of names that the hub reads; an empty answer for too many."""
    is_short = len(names) <= image_pages.MAX_LISTED
    return image_pages.FileNames(digests=[image_pages.name_digest(name) for name in names] if is_short else None)


@image_pages.read.implements
def read_image(context: Context, req: image_pages.ImageName) -> image_pages.ImageView:
    image = pictures.find(context.work, req.name)
    if image is None:
        raise image_pages.UnknownImage
    return image_pages.ImageView(media_type=image.media_type, content=b64encode(image.content).decode())


@image_pages.list_images.implements
def list_images(context: Context, req: NoParameters) -> image_pages.FileNames:
    return listed(pictures.names(context.work, image_pages.MAX_LISTED + 1))


@image_pages.list_theme_files.implements
def list_theme_files(context: Context, req: NoParameters) -> image_pages.ThemeFileDigests:
    return image_pages.ThemeFileDigests(digests=theme_files.digests(context.work))


@image_pages.read_theme_file.implements
def read_theme_file(context: Context, req: image_pages.ThemeFileDigest) -> image_pages.ThemeFileView:
    file = theme_files.find(context.work, req.digest)
    if file is None:
        raise UnknownThemeFile
    return image_pages.ThemeFileView(media_type=file.media_type, content=b64encode(file.content).decode())
