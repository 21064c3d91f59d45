"""Image files as people and attackers upload them."""

from __future__ import annotations

import io
import zipfile
from typing import Any

from PIL import Image, PngImagePlugin

RED, BLUE = (255, 0, 0), (0, 0, 255)


def image_file(image: Image.Image | None = None, kind: str = "PNG", **options: Any) -> bytes:
    """Return the file of an image, by default a red square of 64 pixels."""
    stream = io.BytesIO()
    (image or Image.new("RGB", (64, 64), RED)).save(stream, kind, **options)
    return stream.getvalue()


def opened(content: bytes) -> Image.Image:
    return Image.open(io.BytesIO(content))


def photo() -> bytes:
    """Return a photo as a phone makes it: taken sideways, with a place, a comment and a preview; upright, its left half is red."""
    image = Image.new("RGB", (300, 400), RED)
    image.paste(BLUE, (0, 0, 300, 200))
    exif = Image.Exif()
    exif[0x0112], exif[0x010E] = 8, "home of Ada"
    exif.get_ifd(0x8825)[1] = "N"
    return image_file(image.transpose(Image.Transpose.ROTATE_180), "JPEG", exif=exif, comment=b"a comment", quality=90)


def noise(width: int, height: int, mode: str = "RGB") -> Image.Image:
    """Return the image that compresses worst."""
    return Image.merge(mode, [Image.effect_noise((width, height), 120) for _ in mode])


def with_text(text: str) -> bytes:
    """Return a PNG file with a text chunk."""
    texts = PngImagePlugin.PngInfo()
    texts.add_text("Comment", text)
    return image_file(pnginfo=texts)


def with_archive(content: bytes) -> bytes:
    """Return an image that is an archive as well."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("run.js", "alert(1)")
    return content + stream.getvalue()


def animation(kind: str) -> bytes:
    frames = [Image.new("RGB", (32, 32), color) for color in (RED, BLUE)]
    return image_file(frames[0], kind, save_all=True, append_images=frames[1:], duration=100)


def webp_header(width: int, height: int) -> bytes:
    """Return the beginning of a WebP file that states this size."""
    sizes = (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little")
    chunk = b"VP8X" + (10).to_bytes(4, "little") + bytes(4) + sizes
    return b"RIFF" + (len(chunk) + 4).to_bytes(4, "little") + b"WEBP" + chunk
