"""Decodes one uploaded image and encodes it anew: a program that reads the file from stdin and writes the result to stdout.

`image_converter.py` starts it without environment, as a process that can open no file and no socket, start no program, and use
only so much memory and CPU: a fault in a decoder reaches neither secrets nor the database. Nothing of the file survives but its
pixels: no EXIF data, no comments, no color profile.

Arguments: width, height and `crop` or `fit` of the target; or `check` and Pillow's name of a format, for a picture that is decoded and
stays as it is. Exit status: 0, or `REFUSED` with the reason in place of the result.
"""

from __future__ import annotations

import io
import os
import re
import sys
import warnings
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from app.kit.images.image_format import (
    MAX_CHECKED_PIXELS,
    MAX_PIXELS,
    MAX_SERVED_BYTES,
    MAX_UPLOAD_BYTES,
    REFUSED,
    ImageTarget,
    Unusable,
    UnusableImage,
    format_of,
)

if TYPE_CHECKING:
    from PIL.Image import Image as PillowImage

MAX_MEMORY_BYTES: Final = 640 * 1024 * 1024
MAX_CPU_SECONDS: Final = 8
_NICENESS: Final = 5
_ORIENTATION: Final = 0x0112
_UPRIGHT: Final = {
    2: "FLIP_LEFT_RIGHT", 3: "ROTATE_180", 4: "FLIP_TOP_BOTTOM", 5: "TRANSPOSE", 6: "ROTATE_270", 7: "TRANSVERSE", 8: "ROTATE_90",
}  # fmt: skip
"""What turns an image upright, by its EXIF orientation; from 5 on, sideways."""
_SIDEWAYS: Final = frozenset(list(_UPRIGHT.values())[3:])
_MARKUP: Final = re.compile(rb"<(?:script|iframe|html|!doctype|\?php|svg[\s>])|%PDF-1\.", re.IGNORECASE)
_SCALES: Final = (1.0, 0.75, 0.5, 0.35, 0.25)
_QUALITIES: Final = (85, 70, 55)


def main(arguments: list[str]) -> int:
    """Run the program; return its exit status."""
    _load()
    _limit()
    try:
        content = sys.stdin.buffer.read(MAX_UPLOAD_BYTES + 1)
        if arguments[0] == "check":
            check(content, arguments[1])
            return 0
        target = ImageTarget(int(arguments[0]), int(arguments[1]), is_cropped=arguments[2] == "crop")
        result = convert(content, target)
    except UnusableImage as refusal:
        sys.stdout.write(refusal.reason)
        return REFUSED
    sys.stdout.buffer.write(result)
    return 0


def convert(content: bytes, target: ImageTarget) -> bytes:
    """Return the image encoded anew. Raises UnusableImage."""
    if len(content) > MAX_UPLOAD_BYTES:
        raise UnusableImage(Unusable.TOO_LARGE)
    if (known := format_of(content)) is None:
        raise UnusableImage(Unusable.TYPE)
    _refuse_mixed(content)
    try:
        return _encoded(_prepared(_opened(content, known), target), target)
    except UnusableImage:
        raise
    except Exception as problem:
        raise UnusableImage(Unusable.DAMAGED) from problem


def check(content: bytes, known: str) -> None:
    """Decode a picture of a known format completely. Raises UnusableImage."""
    _refuse_mixed(content)
    try:
        _opened(content, known, MAX_CHECKED_PIXELS).load()
    except UnusableImage:
        raise
    except Exception as problem:
        raise UnusableImage(Unusable.DAMAGED) from problem


def _refuse_mixed(content: bytes) -> None:
    if zipfile.is_zipfile(io.BytesIO(content)) or _MARKUP.search(content):
        raise UnusableImage(Unusable.MIXED)


def _load() -> None:
    """Import all that decoding needs, before no file can be opened."""
    from PIL import AvifImagePlugin, IcoImagePlugin, Image, ImageCms, MpoImagePlugin, TiffImagePlugin, WebPImagePlugin  # noqa: F401

    Image.preinit()
    AvifImagePlugin.DEFAULT_MAX_THREADS = 1  # this process may start none
    ImageCms.createProfile("sRGB")


def _limit() -> None:
    """Give up what decoding does not need. Systems other than Linux bound less."""
    import resource  # noqa: PLC0415 - of POSIX alone

    bounds = {
        resource.RLIMIT_CPU: MAX_CPU_SECONDS,
        resource.RLIMIT_FSIZE: 0,
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_NOFILE: 3,  # stdin, stdout and stderr are open
        resource.RLIMIT_NPROC: 0,
    }
    if sys.platform == "linux":
        bounds[resource.RLIMIT_AS] = MAX_MEMORY_BYTES
        Path("/proc/self/oom_score_adj").write_text(
            "1000"
        )  # without memory, the machine ends this process, not the server
    os.nice(_NICENESS)
    for kind, most in bounds.items():
        resource.setrlimit(kind, (most, most))


def _opened(content: bytes, known: str, most: int = MAX_PIXELS) -> PillowImage:
    """Return the image with its header read. Raises UnusableImage."""
    from PIL import Image

    if known == "WEBP":
        _refuse_size(*_webp_size(content), most)  # Pillow's decoder takes memory for the whole image when it opens it
    Image.MAX_IMAGE_PIXELS = None  # the bound is ours
    warnings.simplefilter("ignore")
    image = Image.open(io.BytesIO(content), formats=[known])
    _refuse_size(*image.size, most)
    # A JPEG file with several images is a phone's, which adds a preview or a depth map: the first one counts.
    if known != "JPEG" and getattr(image, "is_animated", False):
        raise UnusableImage(Unusable.ANIMATED)
    return image


def _refuse_size(width: int, height: int, most: int) -> None:
    if width * height > most:
        raise UnusableImage(Unusable.TOO_MANY_PIXELS)


def _webp_size(content: bytes) -> tuple[int, int]:
    """Return the width and height that the first chunk states (RFC 9649 sections 2.5 to 2.7). Raises ValueError for no such chunk."""
    kind, chunk = content[12:16], content[20:30]
    if kind == b"VP8X":
        return int.from_bytes(chunk[4:7], "little") + 1, int.from_bytes(chunk[7:10], "little") + 1
    if kind == b"VP8L":
        bits = int.from_bytes(chunk[1:5], "little")
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    if kind == b"VP8 ":
        return int.from_bytes(chunk[6:8], "little") & 0x3FFF, int.from_bytes(chunk[8:10], "little") & 0x3FFF
    raise ValueError("no image in the first chunk")


def _prepared(image: PillowImage, target: ImageTarget) -> PillowImage:
    """Return the upright image in sRGB, cropped or fitted, without metadata. An image is never enlarged."""
    from PIL import Image

    most = max(target.width, target.height)
    image.draft("RGB", (2 * most, 2 * most))  # JPEG files are decoded at a fraction of their size
    turn, profile = _turn(image), image.info.get("icc_profile")
    image = _resized(_in_colors(image), target.turned() if turn in _SIDEWAYS else target)
    if turn:
        image = image.transpose(Image.Transpose[turn])
    image = _in_srgb(image, profile)
    if target.is_cropped and image.mode == "RGBA":
        ground = Image.new("RGBA", image.size, "white")
        image = Image.alpha_composite(ground, image).convert("RGB")
    image.info.clear()
    return image


def _turn(image: PillowImage) -> str | None:
    """Return what turns the image upright, by Pillow's name."""
    try:
        return _UPRIGHT.get(int(image.getexif().get(_ORIENTATION, 1)))
    except Exception:  # noqa: BLE001 - malformed EXIF data say nothing about the pixels
        return None


def _in_colors(image: PillowImage) -> PillowImage:
    """Return the image in a mode that can be scaled: RGB, RGBA, L or CMYK."""
    if image.mode.startswith("I"):  # 16 bits of gray
        return image.point(lambda value: value / 256).convert("L")
    if image.mode in {"RGB", "RGBA", "L", "CMYK"} and "transparency" not in image.info:
        return image
    return image.convert("RGBA" if image.has_transparency_data else "RGB")


def _resized(image: PillowImage, target: ImageTarget) -> PillowImage:
    from PIL.Image import Resampling

    width, height = image.size
    if target.is_cropped:
        scale = max(target.width / width, target.height / height)
        shown = min(width, round(target.width / scale)) or 1, min(height, round(target.height / scale)) or 1
    else:
        scale = min(target.width / width, target.height / height)
        shown = width, height
    left, top = (width - shown[0]) / 2, (height - shown[1]) / 2
    size = tuple(max(1, round(side * min(1, scale))) for side in shown)
    return image.resize(size, Resampling.LANCZOS, (left, top, left + shown[0], top + shown[1]), reducing_gap=3.0)


def _in_srgb(image: PillowImage, profile: bytes | None) -> PillowImage:
    """Return the image as RGB or RGBA, its colors converted from its profile to sRGB, which pages show without one."""
    from PIL import ImageCms

    mode = "RGBA" if image.mode == "RGBA" else "RGB"
    if profile:
        try:
            source = ImageCms.ImageCmsProfile(io.BytesIO(profile))
            converted = ImageCms.profileToProfile(image, source, ImageCms.createProfile("sRGB"), outputMode=mode)
        except Exception:  # noqa: BLE001 - a profile that is malformed, or of another mode, is left out
            return image.convert(mode)
        if converted is not None:
            return converted
    return image.convert(mode)


def _encoded(image: PillowImage, target: ImageTarget) -> bytes:
    """Return the file of the image: with as much quality and as many pixels as fit into `MAX_SERVED_BYTES`."""
    from PIL.Image import Resampling

    for scale in _SCALES:
        size = max(1, round(image.width * scale)), max(1, round(image.height * scale))
        scaled = image if scale == 1 else image.resize(size, Resampling.LANCZOS)
        for content in _candidates(scaled, target):
            if len(content) <= MAX_SERVED_BYTES:
                return content
    raise UnusableImage(Unusable.DAMAGED)


def _candidates(image: PillowImage, target: ImageTarget) -> Iterator[bytes]:
    """Yield files of the image, the best first."""
    if target.is_cropped:
        for quality in _QUALITIES:
            yield _saved(image, "JPEG", quality=quality, optimize=True, progressive=True)
    else:
        yield _saved(image, "PNG", optimize=True)
        yield _saved(image.quantize(256, method=2), "PNG", optimize=True)


def _saved(image: PillowImage, name: str, **options: Any) -> bytes:
    stream = io.BytesIO()
    image.save(stream, name, **options)
    return stream.getvalue()
