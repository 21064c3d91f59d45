"""Uploaded images as pages and applications load them, from the tenant's host."""

from typing import Annotated, Final

from pydantic import Field

from app.contract.catalogue import hub_operation
from app.kit.operations.errors import ApiError
from app.kit.operations.wire import From, Wire

UPLOADED_IMAGES: Final = "/pictures/"
"""The address of an uploaded image begins so; its name follows."""


class UnknownImage(ApiError):
    code, status, message = 8226, 404, "Image not found"
    description = "There’s no image with this name."


class ImageName(Wire):
    name: Annotated[str, From.PATH, Field(pattern=r"^[A-Za-z0-9_-]{32}\.(jpg|png)$")]


class ImageView(Wire):
    """An image; `content` is base64."""

    media_type: str
    content: str


read = hub_operation(
    "hub.image", "GET /hub/images/{name}", ImageName, ImageView, errors=(UnknownImage,),
    summary="Read an uploaded image.",
)  # fmt: skip
