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
    r"url\s*\(|@import|expression\s*\(|javascript|behavior\s*:|-moz-binding|\\|<|--!?>", re.IGNORECASE
)
_PICTURE: Final = re.compile(r"url\(\s*(?P<quote>['\"]?)https://[^\s'\"()\\<>]+(?P=quote)\s*\)", re.IGNORECASE)


def is_attribute(name: str, *, is_in_condition: bool = False) -> bool:
    """Return whether an element may have the attribute."""
    return (
        name in ATTRIBUTES
        or name.startswith(ATTRIBUTE_PREFIXES)
        or (is_in_condition and (name in OFFICE_ATTRIBUTES or name.startswith(("o:", "v:"))))
    )


def is_harmful_style(style: str) -> bool:
    """Return whether a style loads more than pictures and fonts of https addresses, or runs code in old mail programs."""
    return _BAD_STYLE.search(_PICTURE.sub("", style)) is not None


def refused_meta(attributes: Mapping[str, str]) -> str | None:
    """Return what a `<meta>` has that mails may not have, or None."""
    kind, name = attributes.get("http-equiv"), attributes.get("name")
    if name is not None and name.lower() not in META_NAMES:
        return f"name={name}"
    if kind is not None and kind.lower() not in META_HEADERS:
        return f"http-equiv={kind}"
    charset = attributes.get("content", "") if kind and kind.lower() == "content-type" else attributes.get("charset")
    return None if charset is None or CHARSET.fullmatch(charset.strip()) else f"{charset} (mails are sent in UTF-8)"
