"""The HTML that mail templates may contain; `docs/mail-templates.md` lists it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

DOCUMENT_ELEMENTS: Final = frozenset(["html", "head", "title", "meta", "style", "body"])
_BODY_ELEMENTS: Final = """
    table thead tbody tfoot tr td th caption colgroup col div p span a img h1 h2 h3 h4 h5 h6 ul ol li dl dt dd br hr
    strong b em i u s strike del ins mark small big sup sub tt kbd samp var cite q time wbr blockquote pre code center font
    abbr bdi bdo address main section article aside nav header footer figure figcaption
"""
ELEMENTS: Final = DOCUMENT_ELEMENTS | frozenset(_BODY_ELEMENTS.split())
_ATTRIBUTE_NAMES: Final = """
    style class id dir lang xml:lang role title align valign width height bgcolor background border bordercolor cellpadding
    cellspacing colspan rowspan scope headers summary nowrap color face size alt src href target rel name content charset
    http-equiv hidden start type media xmlns hspace vspace clear datetime translate itemscope itemtype itemprop
    link vlink alink text topmargin leftmargin marginwidth marginheight
"""
ATTRIBUTES: Final = frozenset(_ATTRIBUTE_NAMES.split())
ATTRIBUTE_PREFIXES: Final = ("aria-", "data-", "xmlns:")
_ATTRIBUTE_NAME: Final = re.compile(r"[a-z][a-z0-9_.:-]*")
"""Mail programs read a quotation mark or a `<` in the name of an attribute in different ways."""
_ADDRESSES: Final = frozenset(["src", "background", "href", "althref"])
"""Attributes that load a file; for Outlook they may have a prefix, such as `o:href`."""
_META: Final = """
    viewport color-scheme supported-color-schemes format-detection x-apple-disable-message-reformatting author robots
    description generator
"""
META_NAMES: Final = frozenset(_META.split())
META_HEADERS: Final = frozenset(["content-type", "x-ua-compatible", "content-language"])
"""What `http-equiv` may be: the others redirect, or set cookies and policies."""
CHARSET: Final = re.compile(r"(?:text/html\s*;\s*charset\s*=\s*)?\"?utf-?8\"?\s*", re.IGNORECASE)
"""Mails are sent in UTF-8."""
CONDITION: Final = r"\[if (?P<condition>(?:mso|ie|gte?|lte?|true|vml|[0-9.!&|() ]){1,60})\]"
"""The condition of a conditional comment, which Outlook for Windows reads."""
_OFFICE: Final = """
    xml noscript o:p o:OfficeDocumentSettings o:AllowPNG o:PixelsPerInch o:TargetScreenSize w:WordDocument w:View w:Zoom
    w:DontUseAdvancedTypographyReadingMail w:anchorlock v:rect v:roundrect v:oval v:shape v:line v:group v:fill v:stroke
    v:background v:image v:imagedata v:textbox
"""
OFFICE_ELEMENTS: Final[Mapping[str, str]] = {name.lower(): name for name in _OFFICE.split()}
"""Elements that only conditional comments may contain. The parser turns names to lower case; Office has its own."""
_OFFICE_NAMES: Final = """
    arcsize strokecolor strokeweight stroke stroked fill filled fillcolor color2 angle focus opacity inset origin position
    aspect size type path coordsize coordorigin from to gradientshapeok
"""
OFFICE_ATTRIBUTES: Final = frozenset(_OFFICE_NAMES.split())
_BAD_STYLE: Final = re.compile(
    r"url\s*\(|\b(?:image|image-set|src)\s*\(|@import|expression\s*\(|javascript|behavior\s*:|-moz-binding|\\|<|--!?>",
    re.IGNORECASE,
)
_COMMENT_OF_STYLE: Final = re.compile(r"/\*(?:.*?\*/|.*\Z)", re.DOTALL)
_PICTURE: Final = re.compile(r"url\(\s*(?P<quote>['\"]?)https://[^\s'\"()\\<>]+(?P=quote)\s*\)", re.IGNORECASE)


def is_attribute(name: str, *, is_in_condition: bool = False) -> bool:
    """Return whether an element may have the attribute."""
    return _ATTRIBUTE_NAME.fullmatch(name) is not None and (
        name in ATTRIBUTES
        or name.startswith(ATTRIBUTE_PREFIXES)
        or (is_in_condition and (name in OFFICE_ATTRIBUTES or name.startswith(("o:", "v:"))))
    )


def is_harmful_style(style: str) -> bool:
    """Return whether a style loads more than pictures and fonts of https addresses, or runs code in old mail programs."""
    rest = _PICTURE.sub("", style)
    # old programs join what a comment divides
    return _BAD_STYLE.search(rest) is not None or _BAD_STYLE.search(_COMMENT_OF_STYLE.sub("", rest)) is not None


def loads_file(name: str) -> bool:
    """Return whether mail programs load the address in an attribute. A link's own `href` is opened only when it is clicked."""
    return name.rpartition(":")[2] in _ADDRESSES and not name.startswith("xmlns:")


def refused_meta(attributes: Mapping[str, str]) -> str | None:
    """Return the forbidden part of a `<meta>`, or None."""
    kind, name = attributes.get("http-equiv"), attributes.get("name")
    if name is not None and name.lower() not in META_NAMES:
        return f"name={name}"
    if kind is not None and kind.lower() not in META_HEADERS:
        return f"http-equiv={kind}"
    stated = [attributes.get("content", "")] if kind and kind.lower() == "content-type" else []
    stated += [attributes["charset"]] if "charset" in attributes else []
    other = next((charset for charset in stated if not CHARSET.fullmatch(charset.strip())), None)
    return f"{other} (mails are sent in UTF-8)" if other is not None else None
