"""What a theme's CSS may have: its properties with their bounds, tokens, functions, units and selectors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from app.kit.design.theme_css.bounds import (
    BORDER,
    BORDER_WIDTH,
    COLOUR,
    DISPLAY,
    FLEX,
    FONT,
    FONT_SIZE,
    HEIGHT,
    JUSTIFY,
    LEAST,
    LINE,
    LINE_HEIGHT,
    LINE_OFFSET,
    MATH,
    MOST_WIDTH,
    MOVE,
    ONLY_OWN,
    PADDING,
    PLACE,
    ROUND,
    SHADOW,
    SPACE,
    TIME,
    TRACKING,
    TRACKS,
    WIDTH,
    Bound,
    one_of,
    words,
)


def _table(*rows: tuple[str, Bound | None]) -> dict[str, Bound | None]:
    return {name: bound for names, bound in rows for name in names.split()}


def _sides(stem: str, suffix: str = "") -> str:
    sides = "top right bottom left block inline block-start block-end inline-start inline-end"
    return " ".join((stem + suffix, *(f"{stem}-{side}{suffix}" for side in sides.split())))


_CORNERS: Final = "top-left top-right bottom-left bottom-right start-start start-end end-start end-end"

PROPERTIES: Final[Mapping[str, Bound | None]] = _table(
    # Typography
    (
        "font-family font-weight font-style font-stretch font-variant font-variant-numeric font-variant-caps font-variant-ligatures",
        None,
    ),
    (
        "font-kerning font-feature-settings font-variation-settings font-optical-sizing font-synthesis text-rendering",
        None,
    ),
    (
        "-webkit-font-smoothing text-align text-transform text-wrap text-decoration-line text-decoration-style hyphens",
        None,
    ),
    (
        "overflow-wrap word-break white-space quotes list-style list-style-type list-style-position list-style-image",
        None,
    ),
    ("counter-reset counter-increment counter-set content", None),
    ("font", FONT),
    ("font-size", FONT_SIZE),
    ("line-height", LINE_HEIGHT),
    ("letter-spacing word-spacing", TRACKING),
    ("text-indent", SPACE),
    ("text-decoration text-decoration-thickness", LINE),
    ("text-underline-offset outline-offset", LINE_OFFSET),
    ("vertical-align", one_of("baseline top middle bottom text-top text-bottom sub super")),
    # Color, background, border, shadow
    ("color caret-color outline-color", COLOUR),
    ("accent-color color-scheme scrollbar-color text-decoration-color fill stroke stroke-width", None),
    (
        "background background-color background-image background-position background-position-x background-position-y",
        None,
    ),
    (
        "background-size background-repeat background-origin background-clip background-attachment background-blend-mode",
        None,
    ),
    (" ".join(_sides("border", f"-{part}") for part in ("color", "style")), None),
    (_sides("border"), BORDER),
    (_sides("border", "-width"), BORDER_WIDTH),
    (" ".join(("border-radius", *(f"border-{corner}-radius" for corner in _CORNERS.split()))), ROUND),
    ("box-shadow text-shadow", SHADOW),
    # Spacing and sizing
    (_sides("padding"), PADDING),
    (f"{_sides('margin')} gap row-gap column-gap {_sides('scroll-margin')}", SPACE),
    ("width inline-size", WIDTH),
    ("max-width max-inline-size", MOST_WIDTH),
    ("height block-size max-height max-block-size", HEIGHT),
    ("min-width min-inline-size min-height min-block-size", LEAST),
    ("box-sizing object-fit object-position", None),
    # Layout
    ("display", DISPLAY),
    ("flex-direction", one_of("row column")),
    ("flex-wrap", one_of("nowrap wrap")),
    ("flex-grow flex-shrink align-items align-content align-self", None),
    ("justify-content justify-items justify-self", JUSTIFY),
    ("place-items place-content place-self", PLACE),
    ("flex", FLEX),
    ("grid-template-columns", TRACKS),
    (
        "grid-column",
        Bound(
            "numbers such as 1 / -1",
            {"": (-12, 12)},
            words("auto span"),
            tokens=frozenset(),
            functions=frozenset({"var"}),
        ),
    ),
    ("position", one_of("static relative")),
    # Movement
    (" ".join(f"transition{part}" for part in ("", "-duration", "-delay")), TIME),
    (
        "transition-property transition-timing-function animation-direction animation-name animation-timing-function",
        None,
    ),
    (
        " ".join(
            f"animation{part}" for part in ("", "-duration", "-delay", "-iteration-count", "-fill-mode", "-play-state")
        ),
        TIME,
    ),
    ("transform translate scale rotate", MOVE),
    ("scroll-behavior cursor", None),
    # What hides, reorders, lifts or cuts
    (
        "opacity visibility filter backdrop-filter clip-path mask mask-image mask-size mask-position mask-repeat",
        ONLY_OWN,
    ),
    ("overflow overflow-x overflow-y overflow-block overflow-inline text-overflow float clear order", ONLY_OWN),
    (f"{_sides('inset')} top right bottom left z-index isolation will-change aspect-ratio", ONLY_OWN),
    (
        "grid-area grid-row grid-auto-flow grid-auto-rows grid-auto-columns grid-template-rows grid-template-areas",
        ONLY_OWN,
    ),
    (
        "flex-basis pointer-events user-select transform-origin perspective mix-blend-mode",
        ONLY_OWN,
    ),
)
"""Every property that a theme may set; with a bound, what it may be on elements that are not the theme's own."""

REASONS: Final[Mapping[str, str]] = {
    "behavior": "it runs code",
    "-moz-binding": "it runs code",
    "outline": "people must see where the focus is; set outline-color or outline-offset",
    "outline-width": "people must see where the focus is; set outline-color or outline-offset",
    "outline-style": "people must see where the focus is; set outline-color or outline-offset",
    "all": "it would undo what keeps the form usable; set single properties",
    "direction": "the language decides it",
    "unicode-bidi": "the language decides it",
    "writing-mode": "the language decides it",
    "appearance": "controls keep their look in forced colors; set background and border",
    "zoom": "people choose it; set font-size",
}
"""Why a property that designers may look for is not in the list."""


def _length(least: int, most: int) -> Bound:
    expected = f"{least}px to {most}px or {least / 16:g}rem to {most / 16:g}rem"
    ranges = {"px": (least, most), "rem": (least / 16, most / 16)}
    return Bound(expected, ranges, frozenset(), functions=frozenset(), tokens=frozenset())


_FONTS: Final = Bound("names of fonts", {}, tokens=frozenset(), functions=frozenset())
TOKEN_TABLE: Final[Mapping[str, tuple[str, Bound]]] = {
    "--radius": ("The corners of fields, messages and buttons.", SPACE),
    "--radius-card": ("The corners of cards.", SPACE),
    "--button-radius": ("The corners of buttons, if others than of fields.", ROUND),
    "--control": ("The height of fields and buttons.", _length(40, 72)),
    "--code-place": (
        "The place of a code’s digits in their field: 0 is the start of the line, 1 its end; without it 0.5.",
        Bound("a number of 0 to 1", {"": (0, 1)}, frozenset(), functions=frozenset(), tokens=frozenset()),
    ),
    "--column": ("The width of a page for signing in.", _length(280, 640)),
    "--frame": ("The width of the account.", _length(640, 1600)),
    "--font": ("The fonts of texts.", _FONTS),
    "--mono": ("The fonts of codes and keys.", _FONTS),
    "--t-scene": ("Weight, size and font of the sentence on the scene.", FONT),
    "--t-title": ("Weight, size and font of a page’s heading.", FONT),
    "--t-section": ("Weight, size and font of other headings.", FONT),
    "--t-body": ("Weight, size and font of texts.", FONT),
    "--t-label": ("Weight, size and font of labels.", FONT),
    "--t-small": ("Weight, size and font of small texts.", FONT),
    "--t-tiny": ("Weight, size and font of the smallest texts.", FONT),
    "--shadow": ("The shadow of cards and plain buttons.", SHADOW),
    "--shadow-raised": ("The shadow of menus.", SHADOW),
    "--ease": ("How movements begin and end.", TIME),
    "--quick": ("Time and course of a change of color.", TIME),
    "--move": ("Time and course of what moves.", TIME),
}
"""Our custom properties that a theme may set: one line about each, and its bound. Colors follow from `theme.yaml`, which keeps
their contrast."""
TOKENS: Final[Mapping[str, Bound]] = {name: bound for name, (_, bound) in TOKEN_TABLE.items()}

UNITS: Final = words("px rem em ch lh fr deg turn s ms vw vh vi vb vmin vmax svw svh lvw lvh dvw dvh dpi dppx x")

PSEUDO_ELEMENTS: Final = words("before after placeholder marker selection first-line first-letter backdrop")
PSEUDO_CLASSES: Final = words(
    "hover focus focus-visible focus-within active link visited target disabled enabled checked root empty open"
    " first-child last-child only-child first-of-type last-of-type only-of-type"
)
OWN_BOUNDS: Final[Mapping[str, Bound]] = {
    **dict.fromkeys(
        _sides("margin").split(),
        Bound(
            "margins of at least 0, without - and *",
            dict.fromkeys(("", "%", "v", *UNITS), (0, 1e9)),
            functions=MATH | {"env"},
        ),
    ),
    "outline-color": COLOUR,
    "outline-offset": LINE_OFFSET,
    **TOKENS,
}
"""Bounds on the theme's own elements, too: a negative margin pulls the form off the page, and people must see where the focus is."""
ROOT_PROPERTIES: Final = words("color-scheme scrollbar-color scroll-behavior accent-color outline-color outline-offset")
"""What `html`, `:root` and `*` may have beside custom properties: `rem` and the page's ground depend on the rest."""
WITHOUT_URL: Final = words("content cursor")
PICTURES: Final = words("background background-image list-style list-style-image mask mask-image")

FUNCTIONS: Final = MATH | words(
    "env rgb rgba hsl hsla hwb lab lch oklab oklch color color-mix light-dark url"
    " linear-gradient radial-gradient conic-gradient repeating-linear-gradient repeating-radial-gradient repeating-conic-gradient"
    " translate translatex translatey scale scalex scaley rotate skew skewx skewy perspective cubic-bezier linear steps"
    " blur brightness contrast drop-shadow grayscale hue-rotate invert opacity saturate sepia"
    " repeat minmax fit-content counter counters polygon circle ellipse inset"
)
SELECTOR_FUNCTIONS: Final = words("not is where has")
COUNTING_FUNCTIONS: Final = words("nth-child nth-last-child nth-of-type nth-last-of-type lang dir")
ATTRIBUTES: Final = words("dir lang open aria-current aria-expanded")
FONT_DESCRIPTORS: Final = words("font-family src font-weight font-style font-stretch font-display")
FILE_KINDS: Final = words("svg png jpg webp avif")
DATA_KINDS: Final = words("image/png image/webp image/jpeg")
