"""Checks that an SVG picture draws and does nothing else: no scripts, links, other documents or files of other hosts.

The parser is expat, which resolves nothing here: a document type, and with it every entity, is refused where it begins.
"""

from __future__ import annotations

import re
from typing import Final

import tinycss2

MAX_ELEMENTS: Final = 20_000
MAX_COMMENTED: Final = 64 * 1024
MAX_DEPTH: Final = 100
_SVG: Final = "http://www.w3.org/2000/svg"
_XLINK: Final = "http://www.w3.org/1999/xlink"
_XML: Final = "http://www.w3.org/XML/1998/namespace"
_EDITORS: Final = (
    "http://sodipodi.sourceforge.net/", "http://www.inkscape.org/", "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "http://creativecommons.org/ns#", "http://web.resource.org/cc/", "http://purl.org/dc/", "http://www.bohemiancoding.com/",
    "http://www.serif.com/", "http://ns.adobe.com/",
)  # fmt: skip
"""Namespaces of notes that drawing programs leave; browsers ignore them."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


ELEMENTS: Final = _words(
    """svg g defs symbol use path circle ellipse line polygon polyline rect text tspan textPath title desc metadata style image switch
    linearGradient radialGradient stop clipPath mask pattern marker filter feBlend feColorMatrix feComponentTransfer feComposite
    feConvolveMatrix feDiffuseLighting feDisplacementMap feDistantLight feDropShadow feFlood feFuncA feFuncB feFuncG feFuncR
    feGaussianBlur feMerge feMergeNode feMorphology feOffset fePointLight feSpecularLighting feSpotLight feTile
    feTurbulence"""
)
_PICTURE: Final = re.compile(r"data:image/(?:png|jpeg|webp);base64,[A-Za-z0-9+/=\s]+")
_LOADING: Final = re.compile(
    r"""\\|@import|(?:image-set|cross-fade|image|src|element)\(|url\((?!\s*["']?#)""", re.IGNORECASE
)
_SCHEME: Final = re.compile(r"javascript:|vbscript:|data:text", re.IGNORECASE)


class _Refused(Exception):
    pass


def problem(content: bytes) -> str | None:
    """Return what is expected of an SVG picture, with the line; None for one that is accepted. The time is linear in its size."""
    try:
        content.decode()
    except UnicodeDecodeError:
        return "expected an SVG picture as UTF-8 text"
    from xml.parsers import expat

    parser, reader = expat.ParserCreate(encoding="utf-8", namespace_separator=" "), _Reader()
    parser.StartDoctypeDeclHandler, parser.ProcessingInstructionHandler = reader.doctype, reader.instruction
    parser.StartElementHandler, parser.EndElementHandler = reader.start, reader.end
    parser.CharacterDataHandler = reader.text
    try:
        parser.Parse(content, True)
    except _Refused as refusal:
        return f"{refusal} (line {parser.CurrentLineNumber})"
    except expat.ExpatError as mistake:
        return f"expected an SVG picture; found XML that cannot be read (line {mistake.lineno})"
    return reader.nested_use()


class _Reader:
    """Takes what the parser finds. Raises _Refused."""

    def __init__(self) -> None:
        self._count = 0
        self._open: list[tuple[str, str]] = []
        """The local name and the id of each open element."""
        self._texts: list[str] = []
        self._shown: set[str] = set()
        self._around_use: set[str] = set()

    def nested_use(self) -> str | None:
        """Return what is expected if a <use> shows another one: some dozen of them would draw millions of elements."""
        if self._shown & self._around_use:
            return "expected <use> of elements without a <use> in them; found one within another"
        return None

    def doctype(self, *_: object) -> None:
        raise _Refused("expected no <!DOCTYPE> and no entities")

    def instruction(self, target: str, _: str) -> None:
        raise _Refused(f"expected no <?{target[:40]}?>")

    def start(self, name: str, attributes: dict[str, str]) -> None:
        self._count += 1
        namespace, _, local = name.rpartition(" ")
        if self._count > MAX_ELEMENTS or len(self._open) >= MAX_DEPTH:
            raise _Refused(f"expected at most {MAX_ELEMENTS} elements, {MAX_DEPTH} within each other")
        if not self._open and (namespace, local) != (_SVG, "svg"):
            raise _Refused(f'expected <svg xmlns="{_SVG}">; found <{local[:40]}>')
        if namespace == _SVG and local not in ELEMENTS:
            raise _Refused(f"expected elements that draw; found <{local[:40]}>")
        if namespace != _SVG and not namespace.startswith(_EDITORS):
            raise _Refused(f"expected elements of SVG; found <{local[:40]}> of another kind")
        for key, value in attributes.items():
            _check_attribute(local, key, value)
        self._open.append((local, attributes.get("id", "")))
        if local == "use":
            self._around_use |= {at for _, at in self._open if at}
            self._shown |= {value.lstrip()[1:] for key, value in attributes.items() if key.rpartition(" ")[2] == "href"}

    def end(self, _: str) -> None:
        local, _ = self._open.pop()
        if local == "style":
            _check_style("".join(self._texts))
            self._texts.clear()

    def text(self, text: str) -> None:
        if self._open and self._open[-1][0] == "style":
            self._texts.append(text)


def _check_attribute(element: str, key: str, value: str) -> None:
    namespace, _, local = key.rpartition(" ")
    if namespace.startswith(_EDITORS):
        return
    if local.lower().startswith("on"):
        raise _Refused(f"expected no {local[:40]}: a picture runs nothing")
    if (namespace == _XML and local not in ("space", "lang")) or namespace not in ("", _XML, _XLINK):
        raise _Refused(f"expected no attribute {local[:40]} of another kind")
    if local == "href":
        is_inside = re.fullmatch(r"\s*#[^\s#]+\s*", value) is not None
        if not (is_inside or (element in ("image", "feImage") and _PICTURE.fullmatch(value.strip()))):
            raise _Refused(
                "expected href of an element of the picture (#id), or a data: picture of <image>; found another address"
            )
    elif local == "src" or _SCHEME.search(value):
        raise _Refused(f"expected no address in {local[:40]}")
    else:
        _check_style(value)


def _without_comments(css: str) -> str:
    """Return CSS without its comments, the signs of which may be in strings, too. Raises _Refused for more than 64 kB with comments."""
    if "/*" not in css:
        return css
    if len(css) > MAX_COMMENTED:
        raise _Refused(f"expected at most {MAX_COMMENTED // 1024} kB of styles with comments")
    return str(tinycss2.serialize(tinycss2.parse_component_value_list(css, skip_comments=True)))


def _check_style(text: str) -> None:
    if found := _LOADING.search(_without_comments(text)):
        raise _Refused(f"expected styles that load nothing and have no \\; found {found[0]}")
