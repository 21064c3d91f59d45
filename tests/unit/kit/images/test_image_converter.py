"""Uploaded images become small files of their pixels alone; everything else is refused, by a process that can do nothing else."""

from __future__ import annotations

import subprocess
import sys
import threading

import pytest
from PIL import Image

from app.kit.images import decoder, image_converter
from app.kit.images.image_converter import ImageConverter, ImagesBusy
from app.kit.images.image_format import (
    LOGO,
    MAX_PIXELS,
    MAX_SERVED_BYTES,
    MAX_UPLOAD_BYTES,
    PORTRAIT,
    ImageTarget,
    Unusable,
    UnusableImage,
)
from app.kit.limits.fair_limiter import MaxWaiting
from tests.support.images import (
    BLUE,
    RED,
    animation,
    image_file,
    noise,
    opened,
    photo,
    webp_header,
    with_archive,
    with_text,
)

TURNS = {turn: Image.Transpose(inverse) for turn, inverse in zip(range(2, 9), (0, 3, 1, 5, 2, 6, 4), strict=True)}
"""What turns an upright image into one of each EXIF orientation."""
GREEN = Image.new("RGB", (5001, MAX_PIXELS // 5000), "green")
REFUSED = {
    "nothing": (b"", Unusable.TYPE),
    "a text": (b"hello", Unusable.TYPE),
    "SVG": (b'<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>', Unusable.TYPE),
    "GIF": (image_file(kind="GIF"), Unusable.TYPE),
    "BMP": (image_file(kind="BMP"), Unusable.TYPE),
    "TIFF": (image_file(kind="TIFF"), Unusable.TYPE),
    "an archive": (with_archive(b""), Unusable.TYPE),
    "a web page after a script": (b"<script>" + image_file(), Unusable.TYPE),
    "too many bytes": (image_file() + bytes(MAX_UPLOAD_BYTES), Unusable.TOO_LARGE),
    "PNG bomb": (image_file(GREEN), Unusable.TOO_MANY_PIXELS),
    "JPEG bomb": (image_file(GREEN, "JPEG"), Unusable.TOO_MANY_PIXELS),
    "WebP bomb": (webp_header(16383, 16383), Unusable.TOO_MANY_PIXELS),
    "animated PNG": (animation("PNG"), Unusable.ANIMATED),
    "animated WebP": (animation("WEBP"), Unusable.ANIMATED),
    "PNG and archive": (with_archive(image_file()), Unusable.MIXED),
    "JPEG and archive": (with_archive(image_file(kind="JPEG")), Unusable.MIXED),
    "script in a text": (with_text("<ScRiPt src=//evil.example>"), Unusable.MIXED),
    "page in a comment": (image_file(kind="JPEG", comment=b"<!DOCTYPE html><html>"), Unusable.MIXED),
    "script after the end": (image_file(kind="WEBP") + b"<script>alert(1)</script>", Unusable.MIXED),
    "program of PHP": (image_file(kind="JPEG", comment=b"<?php system($_GET[0]);"), Unusable.MIXED),
    "PDF": (image_file() + b"%PDF-1.7", Unusable.MIXED),
    "WebP without image": (webp_header(10, 10), Unusable.DAMAGED),
    "WebP of an unknown chunk": (b"RIFF\x1e\0\0\0WEBPVP9 " + bytes(20), Unusable.DAMAGED),
    "PNG header alone": (image_file()[:40], Unusable.DAMAGED),
    **{
        f"half a {kind}": (image_file(noise(90, 90), kind)[:4000], Unusable.DAMAGED) for kind in ("PNG", "JPEG", "WEBP")
    },
    "text that grows": (image_file()[:33] + b"\0\0\0\x10zTXtComment\0\0" + bytes(200), Unusable.DAMAGED),
}


def convert(content: bytes, target: ImageTarget = PORTRAIT) -> Image.Image:
    converted = decoder.convert(content, target)
    assert len(converted) <= MAX_SERVED_BYTES
    image = opened(converted)
    assert Image.MIME[image.format or ""] == target.media_type
    return image


def red_at(image: Image.Image, left: int, top: int) -> int:
    return image.convert("RGB").tobytes()[3 * (top * image.width + left)]


@pytest.mark.parametrize("case", REFUSED)
def test_unusable_files_are_refused(case: str) -> None:
    content, reason = REFUSED[case]
    with pytest.raises(UnusableImage) as refusal:
        decoder.convert(content, PORTRAIT)
    assert refusal.value.reason is reason


@pytest.mark.parametrize("case", ["a text", "too many bytes", "WebP bomb", "PNG and archive"])
def test_process_refuses_as_the_decoder_does(case: str) -> None:
    content, reason = REFUSED[case]
    with pytest.raises(UnusableImage) as refusal:
        ImageConverter().convert(content, PORTRAIT, "acme")
    assert refusal.value.reason is reason


def test_process_answers_what_the_decoder_makes() -> None:
    for target in (PORTRAIT, LOGO):
        converted = ImageConverter().convert(photo(), target, "acme")
        assert (converted.media_type, converted.content) == (target.media_type, decoder.convert(photo(), target))


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP"])
def test_picture_is_a_square_of_jpeg(kind: str) -> None:
    wide = Image.new("RGB", (900, 300), BLUE)
    wide.paste(RED, (300, 0, 600, 300))
    image = convert(image_file(wide, kind, quality=95))
    assert (image.size, image.mode) == ((300, 300), "RGB")
    assert red_at(image, 150, 150) > 240


def test_photo_is_upright_and_without_metadata() -> None:
    content = decoder.convert(photo(), PORTRAIT)
    image = opened(content)
    assert red_at(image, 10, 150) > 200 > 50 > red_at(image, 290, 150)
    assert not image.getexif()
    assert set(image.info) <= {"jfif", "jfif_version", "jfif_unit", "jfif_density", "progressive", "progression"}
    for trace in (b"Exif", b"home of Ada", b"a comment", b"ICC_PROFILE"):
        assert trace not in content


@pytest.mark.parametrize("turn", range(1, 9))
def test_every_orientation_is_turned_upright(turn: int) -> None:
    upright = Image.new("RGB", (40, 20), BLUE)
    upright.paste(RED, (0, 0, 10, 10))
    turned = upright.transpose(TURNS[turn]) if turn in TURNS else upright
    exif = Image.Exif()
    exif[0x0112] = turn
    image = convert(image_file(turned, exif=exif), LOGO)
    assert (image.size, image.getpixel((3, 3)), image.getpixel((30, 15))) == ((40, 20), RED, BLUE)


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGB", "RGBA", "I;16", "CMYK"])
def test_every_kind_of_pixels_is_read(mode: str) -> None:
    kind = "JPEG" if mode == "CMYK" else "PNG"
    content = image_file(Image.new(mode, (50, 20)), kind)
    assert (convert(content).size, convert(content, LOGO).size) == ((20, 20), (50, 20))


def test_transparent_picture_gets_a_white_ground_and_a_logo_none() -> None:
    content = image_file(Image.new("RGBA", (80, 40)))
    assert convert(content).getpixel((5, 5)) == (255, 255, 255)
    assert convert(content, LOGO).getpixel((5, 5)) == (0, 0, 0, 0)


def test_colors_are_converted_to_srgb() -> None:
    from PIL import ImageCms  # noqa: PLC0415

    lab = ImageCms.ImageCmsProfile(ImageCms.createProfile("XYZ")).tobytes()
    assert convert(image_file(icc_profile=lab)).info.get("icc_profile") is None
    assert red_at(convert(image_file(icc_profile=b"malformed" * 20)), 5, 5) > 240


def test_largest_images_fit_into_the_bounds() -> None:
    largest = image_file(Image.new("RGBA", (5000, MAX_PIXELS // 5000), "green"))
    assert convert(largest, LOGO).size == (320, 256)
    assert convert(image_file(noise(700, 700), "JPEG", quality=60)).width > 200
    assert convert(image_file(noise(600, 600, "RGBA"), "WEBP"), LOGO).mode == "P"
    assert convert(image_file(Image.new("L", (MAX_PIXELS, 1))), LOGO).size == (512, 1)


def test_jpeg_of_a_phone_with_two_images_is_its_first() -> None:
    assert red_at(convert(animation("MPO")), 5, 5) > 240


@pytest.mark.parametrize("act", ["open('/etc/passwd')", "__import__('socket').socket()", "bytearray(1 << 30)"])
def test_decoder_opens_no_file_or_socket_and_has_little_memory(act: str) -> None:
    program = f"import socket; from app.kit.images import decoder; decoder._load(); decoder._limit(); print(1, flush=True); {act}"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.stdout, done.returncode) == ("1\n", 1)
    assert "Too many open files" in done.stderr or "MemoryError" in done.stderr


def test_decoder_has_no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GATEHOUSE_SECRET_KEY", "a secret")
    program = "import os, sys; sys.stdout.write(str(dict(os.environ)))"
    monkeypatch.setattr(image_converter, "_PROGRAM", program)
    assert b"secret" not in ImageConverter().convert(image_file(), PORTRAIT, "acme").content


@pytest.mark.parametrize("program", ["import time; time.sleep(60)", "raise SystemExit(9)", "import os; os.abort()"])
def test_decoder_that_hangs_or_crashes_refuses_the_image(monkeypatch: pytest.MonkeyPatch, program: str) -> None:
    monkeypatch.setattr(image_converter, "_PROGRAM", program)
    monkeypatch.setattr(image_converter, "DEADLINE_SECONDS", 1)
    with pytest.raises(UnusableImage) as refusal:
        ImageConverter().convert(image_file(), PORTRAIT, "acme")
    assert refusal.value.reason is Unusable.DAMAGED


def test_full_lane_refuses_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(image_converter, "_MAX_WAITING", MaxWaiting(0, 0))
    converter, is_running, may_end = ImageConverter(), threading.Event(), threading.Event()

    def hold() -> None:
        with converter._limiter.place("acme"):
            is_running.set()
            may_end.wait(30)

    holder = threading.Thread(target=hold)
    holder.start()
    is_running.wait(30)
    try:
        with pytest.raises(ImagesBusy):
            converter.convert(image_file(), PORTRAIT, "globex")
    finally:
        may_end.set()
        holder.join()
