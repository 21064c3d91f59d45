"""Colours: luminance and contrast (WCAG 2.2), lightness and hue (OKLCH), to derive readable shades from untrusted colours."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

_HEX: Final = re.compile(r"#(?:[0-9a-f]{3}|[0-9a-f]{6})", re.IGNORECASE)


class NotAColour(ValueError):
    """The text is not `#rgb` or `#rrggbb`."""


@dataclass(frozen=True, slots=True)
class Colour:
    """An opaque sRGB colour, channels 0 to 255."""

    red: int
    green: int
    blue: int

    @classmethod
    def parse(cls, text: str) -> Colour:
        """Read `#rgb` or `#rrggbb`.

        Raises:
            NotAColour: any other notation.
        """
        if not _HEX.fullmatch(text.strip()):
            raise NotAColour(text)
        digits = text.strip()[1:]
        pairs = [d * 2 for d in digits] if len(digits) == 3 else [digits[i : i + 2] for i in (0, 2, 4)]
        red, green, blue = (int(pair, 16) for pair in pairs)
        return cls(red, green, blue)

    @classmethod
    def from_oklch(cls, lightness: float, chroma: float, hue: float) -> Colour:
        """Return the nearest sRGB colour: lightness and hue are kept, chroma is reduced until it fits."""
        lightness = min(max(lightness, 0.0), 1.0)
        channels = _oklch_to_linear(lightness, chroma, hue)
        if not _fits(channels):
            least, most = 0.0, chroma
            for _ in range(9):  # halves the interval: a chroma of 0.25 is exact to 0.0005
                middle = (least + most) / 2
                least, most = (middle, most) if _fits(_oklch_to_linear(lightness, middle, hue)) else (least, middle)
            channels = _oklch_to_linear(lightness, least, hue)
        red, green, blue = (round(_from_linear(min(max(c, 0.0), 1.0)) * 255) for c in channels)
        return cls(red, green, blue)

    def __str__(self) -> str:
        return f"#{self.red:02x}{self.green:02x}{self.blue:02x}"

    @property
    def luminance(self) -> float:
        """Relative luminance, 0 to 1 (WCAG 2.2)."""
        red, green, blue = (_to_linear(c) for c in (self.red, self.green, self.blue))
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    @property
    def oklch(self) -> tuple[float, float, float]:
        """OKLCH lightness (0 to 1), chroma and hue in degrees."""
        return _to_oklch(self)

    @property
    def short(self) -> str:
        """The shortest CSS notation: `#rgb` where it is the same colour."""
        text = str(self)
        return f"#{text[1::2]}" if text[1::2] == text[2::2] else text

    def contrast(self, other: Colour) -> float:
        """Contrast ratio with another colour, 1 to 21 (WCAG 2.2)."""
        low, high = sorted((self.luminance, other.luminance))
        return (high + 0.05) / (low + 0.05)

    def with_lightness(self, lightness: float) -> Colour:
        """Return the same hue at another OKLCH lightness (0 to 1); chroma is reduced if sRGB cannot show both."""
        _, chroma, hue = _to_oklch(self)
        return Colour.from_oklch(lightness, chroma, hue)

    def mixed(self, other: Colour, share: float) -> Colour:
        """Return the mix with another colour in OKLab; `share` (0 to 1) is the other's part."""
        mine, theirs = _to_oklab(self), _to_oklab(other)
        lightness, a, b = (item * (1 - share) + two * share for item, two in zip(mine, theirs, strict=True))
        return Colour.from_oklch(lightness, math.hypot(a, b), math.degrees(math.atan2(b, a)))

    def reaching(self, ratio: float, *against: Colour) -> Colour:
        """Return this colour with the smallest change of lightness that reaches the contrast ratio against every background."""
        if all(self.contrast(ground) >= ratio for ground in against):
            return self
        darker = max(ground.luminance for ground in against) > 0.18
        return (
            self._moved(ratio, against, darker=darker)
            or self._moved(ratio, against, darker=not darker)
            or (BLACK if darker else WHITE)
        )

    def _moved(self, ratio: float, against: Sequence[Colour], *, darker: bool) -> Colour | None:
        """Return the first darker, or lighter, shade that reaches the contrast ratio; None if none does."""
        start = _to_oklch(self)[0]
        for step in range(1, 101):
            share = step / 100
            candidate = self.with_lightness(start * (1 - share) if darker else start + (1 - start) * share)
            if all(candidate.contrast(ground) >= ratio for ground in against):
                return candidate
        return None


def _to_linear(channel: int) -> float:
    c = channel / 255
    return c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4


def _from_linear(value: float) -> float:
    return value * 12.92 if value <= 0.0031308 else 1.055 * value ** (1 / 2.4) - 0.055


def _to_oklch(colour: Colour) -> tuple[float, float, float]:
    lightness, a, b = _to_oklab(colour)
    return lightness, math.hypot(a, b), math.degrees(math.atan2(b, a))


def _to_oklab(colour: Colour) -> tuple[float, float, float]:
    """Lightness, a and b (Björn Ottosson's OKLab)."""
    r, g, b = (_to_linear(c) for c in (colour.red, colour.green, colour.blue))
    long = math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b)
    medium = math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b)
    short = math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b)
    lightness = 0.2104542553 * long + 0.7936177850 * medium - 0.0040720468 * short
    a = 1.9779984951 * long - 2.4285922050 * medium + 0.4505937099 * short
    b = 0.0259040371 * long + 0.7827717662 * medium - 0.8086757660 * short
    return lightness, a, b


def _oklch_to_linear(lightness: float, chroma: float, hue: float) -> tuple[float, float, float]:
    a, b = chroma * math.cos(math.radians(hue)), chroma * math.sin(math.radians(hue))
    long = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3
    medium = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3
    short = (lightness - 0.0894841775 * a - 1.2914855480 * b) ** 3
    return (
        4.0767416621 * long - 3.3077115913 * medium + 0.2309699292 * short,
        -1.2684380046 * long + 2.6097574011 * medium - 0.3413193965 * short,
        -0.0041960863 * long - 0.7034186147 * medium + 1.7076147010 * short,
    )


def _fits(channels: tuple[float, float, float]) -> bool:
    return all(-0.0005 <= c <= 1.0005 for c in channels)


WHITE: Final = Colour(255, 255, 255)
BLACK: Final = Colour(0, 0, 0)
