"""Bounds on what a theme's CSS may do to elements that are not the theme's own.

A bound keeps the form visible and usable whatever values the theme combines: no length in it may be negative, an `em` that would
multiply from parent to child is refused, and what hides, reorders or lifts an element is for the theme's own classes alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from app.kit.design.colour_tokens import COLOUR_TOKENS

MAX_BYTES: Final = 16 * 1024
"""Of a style sheet."""
OWN: Final = "own-"
"""Prefix of the theme's own classes and keyframes; `--own-` of its custom properties."""
REM: Final = 16
"""Pixels of a rem, unless people choose another size of texts."""
LEAST_REM: Final = 0.75
"""The smallest size of texts, and their least line height."""

Range = tuple[float, float]


def words(text: str) -> frozenset[str]:
    return frozenset(text.split())


@dataclass(frozen=True)
class Bound:
    """What the value of a property may contain on our elements."""

    expected: str
    numbers: Mapping[str, Range] | None = None
    """Lowest and highest number by unit: `""` for plain numbers, `v` for all of the viewport. None: any."""
    words: frozenset[str] | None = None
    """None: any but those refused."""
    refused: frozenset[str] = frozenset()
    """Words that it must not contain."""
    tokens: frozenset[str] | None = None
    """Our custom properties that `var()` may read. None: any."""
    functions: frozenset[str] | None = None
    """None: any."""
    is_opaque: bool = False
    """Whether colors must have no alpha channel."""
    is_shadow: bool = False
    most: int = 99
    """Highest number of numbers."""
    places: frozenset[str] = frozenset()
    """Our classes and the elements that may have the property, beside `::before` and `::after`. Empty: all."""
    after_slash: Bound | None = None
    """The bound of what follows a slash: of the line height in `font`. None: the same."""
    is_of_last: bool = False
    """Whether it is about the last word alone: `place-items: end center` aligns freely, and justifies within the bound."""
    on_icons: frozenset[str] = frozenset()
    """Words that an icon beside a text can have, too."""
    by_last: Mapping[str, Bound] = field(default_factory=dict)
    """Other bounds of values that end with a word: of `flex: 0 1 auto`."""


COLOURS: Final = frozenset(f"--{name}" for name in COLOUR_TOKENS)
"""Our tokens of color."""
MATH: Final = words("calc min max clamp var")
KEYWORDS: Final = words("inherit initial unset auto normal none")
ONLY_OWN: Final = Bound(
    f"this property only where each selector ends with a class of your own, such as .{OWN}hero",
    {},
    frozenset(),
    functions=frozenset(),
)


def one_of(text: str) -> Bound:
    return Bound(f"one of {', '.join(text.split())}", {}, words(text), tokens=frozenset(), functions=frozenset({"var"}))


SPACE: Final = Bound(
    "0 to 80px, 5rem or 10vh, without - and *",
    {"": (0, 0), "px": (0, 80), "rem": (0, 5), "em": (0, 3), "v": (0, 10), "%": (0, 10)},
    tokens=words("--radius --radius-card --button-radius"),
    functions=MATH | {"env"},
)
ROUND: Final = Bound(
    "corners of 0 to 999px or 50%",
    {"": (0, 0), "px": (0, 999), "rem": (0, 99), "em": (0, 99), "%": (0, 50)},
    tokens=SPACE.tokens,
    functions=MATH,
)
BORDER: Final = Bound(
    "a border of at most 16px",
    {"": (0, 255), "px": (0, 16), "rem": (0, 1), "em": (0, 1), "%": (0, 100), "deg": (0, 360)},
    tokens=COLOURS,
)
BORDER_WIDTH: Final = Bound(
    "a border of at most 16px",
    {"": (0, 0), "px": (0, 16), "rem": (0, 1), "em": (0, 1)},
    tokens=frozenset(),
    functions=MATH,
)
PADDING: Final = Bound(
    "0 to 48px, 3rem or 5vw, without - and *",
    {"": (0, 0), "px": (0, 48), "rem": (0, 3), "em": (0, 2), "v": (0, 5), "%": (0, 5)},
    tokens=SPACE.tokens,
    functions=SPACE.functions,
)
MOST_WIDTH: Final = Bound(
    "16px to 2000px or 50% to 100%, without - and *",
    {"px": (16, 2000), "rem": (1, 125), "ch": (4, 200), "v": (50, 100), "%": (50, 100)},
    KEYWORDS | words("fit-content max-content"),
    tokens=words("--column --frame --control"),
    functions=MATH,
)
WIDTH: Final = Bound(
    "16px to 320px or 50% to 100%, without - and * (for more, set max-width)",
    {"px": (16, 320), "rem": (1, 20), "ch": (4, 40), "v": (50, 100), "%": (50, 100)},
    MOST_WIDTH.words,
    tokens=words("--control"),
    functions=MATH,
)
HEIGHT: Final = Bound(
    "16px to 400px on img, svg, .mark, .scene, ::before or ::after (elsewhere min-height, which cuts no text)",
    {"px": (16, 400), "rem": (1, 25), "v": (10, 100), "%": (100, 100)},
    MOST_WIDTH.words,
    tokens=words("--control"),
    functions=MATH,
    places=words("img svg mark scene"),
)
LEAST: Final = Bound(
    "0 to 320px, 20rem, 100vh or 100%, without - and *",
    {"": (0, 0), "px": (0, 320), "rem": (0, 20), "ch": (0, 40), "v": (0, 100), "%": (0, 100)},
    MOST_WIDTH.words,
    tokens=words("--control"),
    functions=MATH,
)
TRACKS: Final = Bound(
    "at most six of 16px to 320px, 50% to 100%, 0.25fr to 4fr and minmax(0, 1fr)",
    {"px": (16, 320), "rem": (1, 20), "%": (50, 100), "fr": (0.25, 4), "": (1, 4)},
    MOST_WIDTH.words,
    tokens=words("--control"),
    functions=MATH | words("minmax repeat fit-content"),
    most=6,
)
FONT_SIZE: Final = Bound(
    "a size of 11px to 96px or 0.75rem to 6rem (em and % multiply from parent to child)",
    {"px": (11, 96), "rem": (LEAST_REM, 6)},
    words("inherit initial unset small medium large x-large xx-large"),
    tokens=words("--t-scene --t-title --t-section --t-body --t-label --t-small --t-tiny"),
    functions=MATH,
)
LINE_HEIGHT: Final = Bound(
    "a line height of 1 to 3, 11px to 192px or 0.75rem to 12rem",
    {"": (1, 3), "em": (1, 3), "%": (100, 300), "px": (11, 192), "rem": (LEAST_REM, 12)},
    functions=MATH,
    tokens=frozenset(),
)
FONT: Final = Bound(
    "var(--t-body) or the like, or a size of 11px to 96px or 0.75rem to 6rem and a line height of 1 to 3, or of the size to 192px or 12rem",
    {"px": (11, 96), "rem": (LEAST_REM, 6), "": (1, 1000), "deg": (-90, 90)},
    refused=words("smaller larger xx-small x-small"),
    tokens=words("--t-scene --t-title --t-section --t-body --t-label --t-small --t-tiny --font --mono"),
    functions=MATH,
    after_slash=LINE_HEIGHT,
)
TRACKING: Final = Bound(
    "-0.05em to 0.3em", {"": (0, 0), "px": (-1, 5), "em": (-0.05, 0.3)}, functions=MATH, tokens=frozenset()
)
LINE: Final = Bound(
    "lines of at most 3px", {"": (0, 255), "px": (0, 3), "em": (0, 0.2), "%": (0, 100), "deg": (0, 360)}, tokens=COLOURS
)
LINE_OFFSET: Final = Bound("0 to 8px", {"": (0, 0), "px": (0, 8), "em": (0, 0.5)}, functions=MATH, tokens=frozenset())
COLOUR: Final = Bound(
    "a color without transparency, such as #1d2433, rgb(29 36 51) or var(--ink)",
    refused=frozenset({"transparent"}),
    tokens=COLOURS,
    functions=words("var rgb hsl hwb lab lch oklab oklch light-dark"),
    is_opaque=True,
)
SHADOW: Final = Bound(
    "shadows with offsets of at most 24px, a blur of at most 64px and a spread of at most 4px, in px or rem",
    tokens=COLOURS | words("--shadow --shadow-raised"),
    functions=words("var rgb rgba hsl hsla hwb lab lch oklab oklch color color-mix light-dark"),
    is_shadow=True,
)
TIME: Final = Bound(
    "times of at most 1s, and an animation that ends: without infinite, forwards, both and paused",
    {"": (0, 1), "s": (0, 1)},
    refused=words("infinite forwards both paused"),
    tokens=words("--ease --quick --move"),
    functions=words("var cubic-bezier linear steps"),
)
MOVE: Final = Bound(
    "at most two of translateY(-8px), scale(0.9 to 1.1) and rotate(10deg), on .button, .method, .mark, img, svg, ::before or ::after",
    {"": (0.9, 1.1), "px": (-8, 8), "deg": (-10, 10)},
    tokens=frozenset(),
    functions=words("var translate translatex translatey scale scalex scaley rotate"),
    most=2,
    places=words("button method mark img svg"),
)
_ALONG: Final = "start center stretch normal space-between flex-start baseline"
JUSTIFY: Final = one_of(_ALONG)
"""What is too wide would overflow at the start, where nobody can scroll."""
PLACE: Final = replace(JUSTIFY, is_of_last=True)
_NO_TOKENS: Final[frozenset[str]] = frozenset()
FLEX: Final = Bound(
    "auto, none, numbers of at least 1, or others before auto",
    {"": (1, 12)},
    words("auto none"),
    tokens=_NO_TOKENS,
    functions=words("var"),
    by_last={"auto": Bound("auto", {"": (0, 12)}, words("auto"), tokens=_NO_TOKENS, functions=_NO_TOKENS)},
)
_DISPLAY: Final = one_of("block inline inline-block flex inline-flex grid inline-grid flow-root list-item")
DISPLAY: Final = replace(
    _DISPLAY,
    expected=f"{_DISPLAY.expected}, and none for icons: .tabs svg, .row > svg, .method > svg, .empty > svg and .back > svg",
    on_icons=frozenset({"none"}),
)
