"""Measures the contrast of texts on what is painted under them, from a picture without the texts."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, cast

from app.kit.design.colour import Colour

if TYPE_CHECKING:
    from PIL.Image import Image

_COLUMNS, _ROWS = 48, 8
"""Points of a text that are measured, at most."""
_SHARE: Final = 0.1
"""Of the points that may have less: edges of what is behind a text are no ground of its letters."""
_HIGHEST: Final = 21.0
"""The contrast of black on white."""


@dataclass(frozen=True)
class PaintedText:
    """A text on a picture of a page."""

    colour: list[float]
    """Red, green and blue from 0 to 255, alpha from 0 to 1."""
    box: list[float]
    """Left, top, right and bottom in pixels of the picture."""


def contrasts(picture: bytes, texts: Iterable[PaintedText]) -> Iterator[float]:
    """Yield the contrast of each text with what is behind its letters, where it is low."""
    from PIL import Image

    with Image.open(io.BytesIO(picture)) as opened:
        painted = opened.convert("RGB")
    for text in texts:
        yield _contrast(painted, text)


def _contrast(painted: Image, text: PaintedText) -> float:
    left, top, right, bottom = text.box
    columns, rows = max(min(int(right - left), _COLUMNS), 1), max(min(int(bottom - top), _ROWS), 1)
    points = (
        (int(left + (right - left) * (column + 0.5) / columns), int(top + (bottom - top) * (row + 0.5) / rows))
        for row in range(rows)
        for column in range(columns)
    )
    grounds = Counter(
        painted.getpixel(point) for point in points if point[0] < painted.width and point[1] < painted.height
    )
    counted = sorted((_on(text.colour, ground), count) for ground, count in grounds.items())
    skipped = 0
    for contrast, count in counted:
        skipped += count
        if skipped > grounds.total() * _SHARE:
            return contrast
    return _HIGHEST


def _on(colour: list[float], ground: object) -> float:
    """Return the contrast of a colour, which may be translucent, with a pixel."""
    under = cast(tuple[int, int, int], ground)
    alpha = colour[3]
    mixed = [round(over * alpha + each * (1 - alpha)) for over, each in zip(colour, under, strict=False)]
    return Colour(*mixed).contrast(Colour(*under))
