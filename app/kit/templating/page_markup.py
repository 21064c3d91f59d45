"""The markup of pages: the elements, attributes and values that templates of layouts, pages and parts may have."""

from __future__ import annotations

import re
from collections.abc import Mapping, Set
from dataclasses import replace
from typing import Final

from app.kit.templating import page_classes
from app.kit.templating.contract import Dialect


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


VOID: Final = frozenset({"br", "hr", "img", "source", "wbr"})
_TEXTS: Final = VOID | _words(
    "a abbr address aside b bdi blockquote cite code dd del details div dl dt em figcaption figure footer h2 h3 h4 header hgroup i ins "
    "kbd li mark nav ol p picture q s section small span strong sub summary sup svg time u ul"
)
_PLAIN: Final = _words("alt class datetime dir lang title role width height tabindex")
_DRAWING: Final = _words(
    "viewBox preserveAspectRatio fill stroke d cx cy r rx ry x y x1 x2 y1 y2 points transform opacity focusable fill-opacity pathLength "
    "fill-rule clip-path clip-rule stroke-width stroke-linecap stroke-linejoin stroke-miterlimit stroke-opacity stroke-dasharray "
    "stroke-dashoffset vector-effect"
)
_GRADIENTS: Final = _words("linearGradient radialGradient")
_OF_GRADIENT: Final = _words("cx cy fr fx fy gradientTransform gradientUnits r spreadMethod x1 x2 y1 y2")
SHAPES: Final = _GRADIENTS | _words("g path circle ellipse line polygon polyline rect title defs stop clipPath")
"""Elements within `<svg>`."""
_BY_ELEMENT: Final[Mapping[str, Set[str]]] = {
    "a": {"href", "target", "rel", "hreflang"},
    "img": {"src", "loading", "decoding"},
    "source": {"media", "type", "srcset"},
    "details": {"open", "name"},
    "ol": {"start", "reversed"},
    "li": {"value"},
}
_BLOCKS: Final = _words("aside div footer header nav section")
"""Elements that a part may be in: none hides it, makes it small, or is too small for its blocks."""
_WORDS: Final[Mapping[str, Set[str]]] = {
    "target": {"_blank"}, "loading": {"lazy", "eager"}, "decoding": {"async"}, "dir": {"ltr", "rtl", "auto"}, "tabindex": {"-1", "0"},
    "role": {"presentation", "none", "img", "note", "list", "group"},
    "rel": {"noopener", "noreferrer", "noopener noreferrer", "nofollow", "external", "help", "license"},
}  # fmt: skip
_COLOR: Final = r"none|currentColor|#[0-9a-fA-F]{3,8}|[a-zA-Z]{3,24}|var\(--[a-z0-9-]{1,60}\)"
"""A color, which loads nothing, as other addresses than those of the same template would."""
_REFERENCE: Final = r"url\(#own-[a-z0-9-]{1,60}\)"
_FILE: Final = re.compile(
    r"(?:img/|/theme/(?:img/)?)[A-Za-z0-9][A-Za-z0-9._-]*\.(?:svg|png|jpe?g|webp|avif)|data:image/(?:png|webp|jpeg);base64,[A-Za-z0-9+/=]{1,6000}"
)
_ARIA: Final = _words("aria-hidden aria-label aria-labelledby aria-describedby aria-current aria-roledescription")
_HINTS: Final = {
    **dict.fromkeys(("use", "symbol"), "the shapes themselves; themes have no <use> and no <symbol>"),
    **dict.fromkeys(
        ("filter", "mask", "pattern", "image"),
        'shapes, gradients and clipPath; more of SVG in a file: <img src="img/NAME.svg">',
    ),
    "text": "texts beside the <svg>, where they can be translated",
    "script": "no <script>: name the script in scripts of theme.yaml, where the operator allows its origin",
    "style": "no <style>: put rules into the theme's css",
    "form": "no <form>: the page has its own",
    "input": "no <input>: the page has its own fields",
    "button": 'no <button>: link with <a class="button">',
    "h1": "no <h1>: each page has its own; use <h2>",
    "main": "no <main>: content() has it",
    "body": "no <body>: the page has it",
    "html": "no <html>: the page has it",
    "head": "no <head>: the page has it",
}
PAGE: Final = Dialect(
    elements=_TEXTS | SHAPES,
    void=VOID,
    attributes=_PLAIN | _ARIA | {"id"},
    by_element={
        **_BY_ELEMENT,
        **dict.fromkeys((*SHAPES, "svg"), _DRAWING),
        **dict.fromkeys(_GRADIENTS, _OF_GRADIENT),
        "stop": _words("offset stop-color stop-opacity"),
        "clipPath": _words("clipPathUnits transform"),
    },
    words=_WORDS,
    classes=page_classes.OF_TEMPLATES,
    apart=page_classes.APART,
    holders=_BLOCKS,
    file=_FILE,
    example="img/logo.svg",
    silencing=frozenset({"aria-hidden", "role"}),
    hints=_HINTS,
    patterns={
        **dict.fromkeys(("fill", "stroke"), re.compile(f"{_COLOR}|{_REFERENCE}")),
        "stop-color": re.compile(_COLOR),
        "clip-path": re.compile(_REFERENCE),
    },
    parents={"stop": _GRADIENTS},
    unprinted={"content": page_classes.UNPRINTED},
    parts_of={"beside": "beside"},
)
"""The markup of layouts."""
WITHIN: Final = replace(PAGE, classes=PAGE.classes - page_classes.OF_LAYOUTS, unprinted={"": page_classes.UNPRINTED})
"""The markup of pages, within a layout."""
_SHAPES_WITHOUT_IDS: Final = _words("g path circle ellipse line polygon polyline rect")
_DRAWING_WITHOUT_IDS: Final = _DRAWING - {"clip-path", "focusable"}
REPEATED: Final = replace(
    WITHIN,
    elements=_TEXTS | _SHAPES_WITHOUT_IDS | {"title"},
    attributes=PAGE.attributes - {"id", "aria-labelledby", "aria-describedby"},
    in_spans=_words("label beside"),
)
"""The markup of parts, which a page has several times: their elements have no ids, and so neither gradients nor clips."""
LINE: Final = replace(
    WITHIN,
    elements=_words("b bdi br em i img small span strong svg wbr") | _SHAPES_WITHOUT_IDS,
    attributes=_words("alt aria-hidden class dir height lang width"),
    by_element={"img": {"src"}, **dict.fromkeys((*_SHAPES_WITHOUT_IDS, "svg"), _DRAWING_WITHOUT_IDS)},
    classes=_words("quiet tag tile what"),
    holders=_words("b em small span strong"),
    silencing=frozenset({"aria-hidden"}),
    hints={
        **_HINTS,
        "div": "no <div> within a line of text: use <span>",
        "a": "no <a> here: it is within a button, a link or a label",
    },
)
"""The markup within a button, a link, a label or a paragraph: text, pictures and drawings, and nothing that can be pressed itself."""
