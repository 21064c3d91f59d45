"""Uploaded images as pages and applications load them, from the tenant's host."""

import hashlib
import re
from typing import Annotated, Final

from pydantic import Field

from app.contract.catalogue import hub_operation
from app.contract.page_models import NoParameters
from app.contract.tenants.errors import UnknownThemeFile
from app.kit.operations.errors import ApiError
from app.kit.operations.wire import From, Wire

UPLOADED_IMAGES: Final = "/pictures/"
"""The address of an uploaded image begins so; its name follows."""
IMAGE_NAME: Final = re.compile(r"[A-Za-z0-9_-]{32}\.(jpg|png)")
MAX_LISTED: Final = 10_000
"""Names of files in a list that the hub reads."""


class UnknownImage(ApiError):
    code, status, message = 8226, 404, "Image not found"
    description = "There’s no image with this name."


class ImageName(Wire):
    name: Annotated[str, From.PATH, Field(pattern=f"^{IMAGE_NAME.pattern}$")]


class ImageView(Wire):
    """An image; `content` is base64."""

    media_type: str
    content: str


class FileNames(Wire):
    digests: list[str] | None
    """`name_digest` of each file; null if the tenant has more than `MAX_LISTED`."""


def name_digest(name: str) -> str:
    """Return the short form of a file's name in lists: 48 bits of its SHA-256, in hex."""
    return hashlib.sha256(name.encode()).hexdigest()[:12]


read = hub_operation(
    "hub.image", "GET /hub/images/{name}", ImageName, ImageView, errors=(UnknownImage,),
    summary="Read an uploaded image.",
)  # fmt: skip
list_images = hub_operation(
    "hub.images", "GET /hub/images", NoParameters, FileNames,
    summary="List the names of the tenant’s uploaded images, shortened.",
)  # fmt: skip


class ThemeFileDigest(Wire):
    digest: Annotated[str, From.PATH, Field(pattern=r"^[0-9a-f]{32}$")]


class ThemeFileView(ImageView):
    """A picture or font of a theme; `content` is base64."""


class ThemeFileDigests(Wire):
    digests: list[str]


read_theme_file = hub_operation(
    "hub.theme_file", "GET /hub/theme-files/{digest}", ThemeFileDigest, ThemeFileView, errors=(UnknownThemeFile,),
    summary="Read a static file of the tenant’s theme.",
)  # fmt: skip
list_theme_files = hub_operation(
    "hub.theme_files", "GET /hub/theme-files", NoParameters, ThemeFileDigests,
    summary="List the digests of the stored files of the tenant’s themes.",
)  # fmt: skip
