"""What an uploaded image may be, and what becomes of it. `decoder.py` reads it too, so it imports nothing of ours."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

MAX_UPLOAD_BYTES: Final = 2 * 1024 * 1024
"""Of an uploaded file."""
MAX_PIXELS: Final = 20_000_000
"""Of an uploaded image: width times height."""
MAX_SERVED_BYTES: Final = 64_000
"""Of an image that pages load."""
REFUSED: Final = 3
"""The exit status of a decoder that refused the image."""
ACCEPTED_TYPES: Final = ("image/png", "image/jpeg", "image/webp")


class Unusable(StrEnum):
    """Why an uploaded file is refused."""

    TOO_LARGE = "too_large"
    """More than `MAX_UPLOAD_BYTES`."""
    TYPE = "type"
    """Neither PNG nor JPEG nor WebP."""
    TOO_MANY_PIXELS = "too_many_pixels"
    """More than `MAX_PIXELS`."""
    ANIMATED = "animated"
    """More than one frame."""
    MIXED = "mixed"
    """Also an archive, a web page or a document, which programs that ignore the type would open."""
    DAMAGED = "damaged"
    """Truncated or malformed, or too costly to decode."""


class UnusableImage(Exception):
    """An uploaded file is refused."""

    def __init__(self, reason: Unusable) -> None:
        super().__init__(reason.value)
        self.reason = reason


@dataclass(frozen=True)
class ImageTarget:
    """What an uploaded image becomes: at most so many pixels wide and high."""

    width: int
    height: int
    is_cropped: bool
    """Whether it is cropped to the target's proportions around its middle; else it is fitted in, and stays transparent."""

    def turned(self) -> ImageTarget:
        """Return the target of an image that is turned by a quarter afterwards."""
        return ImageTarget(self.height, self.width, self.is_cropped)

    @property
    def media_type(self) -> str:
        """JPEG for cropped images; PNG, which has transparency, for others. Mail programs show both, unlike WebP."""
        return "image/jpeg" if self.is_cropped else "image/png"


PORTRAIT: Final = ImageTarget(384, 384, is_cropped=True)
"""The picture of a person."""
LOGO: Final = ImageTarget(512, 256, is_cropped=False)
"""The logo of an organization."""


CHECKED_FORMATS: Final = {"png": "PNG", "jpg": "JPEG", "webp": "WEBP", "avif": "AVIF", "ico": "ICO"}
"""Pillow's names of the formats of pictures that are checked and served as they are, by the ending of their files."""
MAX_CHECKED_PIXELS: Final = 10_000_000
"""Of a picture that is served as it is: width times height."""


def announced_format(content: bytes) -> str | None:
    """Return the format that a file's first bytes announce: what `format_of` returns, AVIF or ICO."""
    if content[4:12] in (b"ftypavif", b"ftypmif1"):
        return "AVIF"
    return "ICO" if content.startswith(b"\x00\x00\x01\x00") else format_of(content)


def format_of(content: bytes) -> str | None:
    """Return the format that a file's first bytes announce, by Pillow's name; None for a format that is not accepted."""
    if content.startswith(b"\x89PNG\r\n\x1a\n"):
        return "PNG"
    if content.startswith(b"\xff\xd8\xff"):
        return "JPEG"
    return "WEBP" if content[:4] == b"RIFF" and content[8:12] == b"WEBP" else None
