"""QR codes as paths of an SVG picture."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import Final

_BORDER: Final = 4
"""Width of the quiet zone in modules (ISO/IEC 18004)."""


@dataclass(frozen=True)
class QrCode:
    """A QR code: `<svg viewBox="0 0 size size"><path d="path"/></svg>`, stroke width 1."""

    size: int
    path: str


def qr_code(text: str) -> QrCode:
    """Return the QR code of a text, with error correction level M (15 %)."""
    import segno

    matrix = segno.make(text, error="m", micro=False).matrix
    runs: list[str] = []
    for y, modules in enumerate(matrix):
        x = 0
        for is_dark, cells in groupby(modules):
            length = len(list(cells))
            if is_dark:
                runs.append(f"M{x + _BORDER} {y + _BORDER}.5h{length}")
            x += length
    return QrCode(len(matrix) + 2 * _BORDER, "".join(runs))
