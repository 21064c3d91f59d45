"""Checks that a theme's file is what its name says, before it is stored or served."""

from __future__ import annotations

from typing import Final

from app.kit.design import theme_file_names
from app.kit.design.theme_files import svg, woff2
from app.kit.images.image_converter import ImageConverter
from app.kit.images.image_format import MAX_CHECKED_PIXELS, Unusable, UnusableImage

_REASONS: Final = {
    Unusable.TOO_LARGE: f"expected at most {theme_file_names.MAX_FILE_BYTES // 1024} kB",
    Unusable.TYPE: "expected a picture of the kind that its name says",
    Unusable.TOO_MANY_PIXELS: f"expected at most {MAX_CHECKED_PIXELS // 1_000_000} million pixels",
    Unusable.ANIMATED: "expected a still picture; found an animation",
    Unusable.MIXED: "expected a picture alone; found a page, a document or an archive in it",
    Unusable.DAMAGED: "expected a complete picture; found a damaged one",
}


def problem(name: str, content: bytes, converter: ImageConverter, tenant_id: str = "") -> str | None:
    """Return what is expected of the content of a file; None for one that is accepted.

    Costs a process of some 0.2 seconds for a picture that is not an SVG. Raises ImagesBusy.
    """
    if len(content) > theme_file_names.MAX_FILE_BYTES:
        return f"{_REASONS[Unusable.TOO_LARGE]}; found {len(content) // 1024 or 1} kB"
    if not content:
        return "expected a file with content; found an empty one"
    kind = theme_file_names.kind_of(name)
    if kind == "woff2":
        return woff2.problem(content)
    if kind == "svg":
        return svg.problem(content)
    try:
        converter.check(content, kind, tenant_id)
    except UnusableImage as refusal:
        return _REASONS[Unusable(refusal.reason)]
    return None
