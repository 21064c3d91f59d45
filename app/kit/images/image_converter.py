"""Converts uploaded images, one at a time, in processes that can do nothing else (`decoder.py`)."""

from __future__ import annotations

import logging
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from app.kit.images.image_format import (
    CHECKED_FORMATS,
    MAX_UPLOAD_BYTES,
    REFUSED,
    ImageTarget,
    Unusable,
    UnusableImage,
    announced_format,
    format_of,
)
from app.kit.limits.fair_limiter import FairLimiter, MaxWaiting

log = logging.getLogger("gatehouse.images")

DEADLINE_SECONDS: Final = 10.0
"""How long one image may take, in all."""
_MAX_WAITING: Final = MaxWaiting(of_all=16, of_one_tenant=8)
_ROOT: Final = Path(__file__).parents[3]
_PROGRAM: Final = "import sys; sys.path.insert(0, sys.argv[1]); from app.kit.images import decoder; sys.exit(decoder.main(sys.argv[2:]))"


class ImagesBusy(Exception):
    """Too many images wait already; responds 503 with Retry-After."""

    unavailable_status = 503
    retry_after_seconds = 5


@dataclass(frozen=True)
class ConvertedImage:
    """An image that was encoded anew."""

    media_type: str
    content: bytes


class _ImageLimiter(FairLimiter):
    busy = ImagesBusy


class ImageConverter:
    """Converts one image at a time; tenants take turns. An operation that uses it declares `heavy_work`."""

    def __init__(self) -> None:
        self._limiter = _ImageLimiter(1, max_waiting=_MAX_WAITING)

    def convert(self, content: bytes, target: ImageTarget, tenant_id: str) -> ConvertedImage:
        """Return the image encoded anew: PNG, JPEG or WebP in, at most `MAX_SERVED_BYTES` out.

        Costs a process of some 0.2 seconds. Hold no connection meanwhile.

        Raises:
            UnusableImage: the file is refused.
            ImagesBusy: too many images wait.
        """
        if len(content) > MAX_UPLOAD_BYTES:
            raise UnusableImage(Unusable.TOO_LARGE)
        if format_of(content) is None:
            raise UnusableImage(Unusable.TYPE)
        with self._limiter.place(tenant_id):
            size = str(target.width), str(target.height), "crop" if target.is_cropped else "fit"
            return ConvertedImage(target.media_type, _run(content, size, tenant_id))

    def check(self, content: bytes, kind: str, tenant_id: str) -> None:
        """Decode a picture that is served as it is; `kind` is a key of `CHECKED_FORMATS`. Costs and raises as `convert`."""
        if len(content) > MAX_UPLOAD_BYTES:
            raise UnusableImage(Unusable.TOO_LARGE)
        if announced_format(content) != CHECKED_FORMATS[kind]:
            raise UnusableImage(Unusable.TYPE)
        with self._limiter.place(tenant_id):
            _run(content, ("check", CHECKED_FORMATS[kind]), tenant_id)


def _run(content: bytes, arguments: tuple[str, ...], tenant_id: str) -> bytes:
    program = (sys.executable, "-I", "-B", "-c", _PROGRAM, str(_ROOT), *arguments)
    try:
        done = subprocess.run(  # noqa: S603 - a program of ours, and no argument of the request
            program, input=content, capture_output=True, timeout=DEADLINE_SECONDS, env={}, cwd="/", check=False
        )
    except subprocess.TimeoutExpired:
        log.warning("image.late", extra={"tenant": tenant_id})
        raise UnusableImage(Unusable.DAMAGED) from None
    if done.returncode == 0:
        return done.stdout
    if done.returncode == REFUSED:
        raise UnusableImage(Unusable(done.stdout.decode()))
    log.warning(
        "image.failed",
        extra={"tenant": tenant_id, "status": done.returncode, "problem": done.stderr[-500:].decode(errors="replace")},
    )
    raise UnusableImage(Unusable.DAMAGED)
