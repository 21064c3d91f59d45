"""Sanitizes the HTML of a tenant's own mail: parses it strictly, refuses what is not known to be harmless, and serializes the
result again, so that mail programs see only what was checked."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from html.parser import HTMLParser
from typing import Final

from app.identity.messaging.placeholders import LINKS, Parts, Placeholder, parse
from app.identity.messaging.plain_text import VOID_ELEMENTS, PlainTextBuilder
from app.kit.web_addresses import is_web_address

_MAX_DEPTH, _MAX_PROBLEMS, _MAX_DECLARATIONS = 100, 20, 500
_DOCUMENT_NAMES: Final = "html head title meta style body"
_BODY_ELEMENTS: Final = """
    table thead tbody tfoot tr td th caption colgroup col div p span a img h1 h2 h3 h4 h5 h6 ul ol li dl dt dd br hr
    strong b em i u s small sup sub blockquote pre code center font abbr bdi bdo address main section article header
    footer figure figcaption
"""
_ATTRIBUTE_NAMES: Final = """
    style class id dir lang role title align valign width height bgcolor border cellpadding cellspacing colspan rowspan
    color face size alt src href target rel name content charset hidden start type xmlns aria-hidden aria-label
"""
_DOCUMENT_ELEMENTS: Final = frozenset(_DOCUMENT_NAMES.split())
_ELEMENTS: Final = _DOCUMENT_ELEMENTS | frozenset(_BODY_ELEMENTS.split())
_ATTRIBUTES: Final = frozenset(_ATTRIBUTE_NAMES.split())
_META: Final = frozenset(
    ("viewport", "color-scheme", "supported-color-schemes", "format-detection", "x-apple-disable-message-reformatting")
)
OUR_CLASSES: Final = ("button", "code", "small")
"""Classes that give paragraphs the style of the built-in mails."""
_BAD_STYLE: Final = re.compile(
    r"url\s*\(|@import|expression\s*\(|javascript|behavior\s*:|-moz-binding|\\|<", re.IGNORECASE
)
_NO_CONDITIONS: Final = "no conditional comments and no <![ … ]>: no part is for one mail program alone"
_UNESCAPED: Final = "&lt; in the place of <, or a whole element"
_MAILTO: Final = re.compile(r"(mailto:[^\s<>\"]+@[^\s<>\"]+|tel:\+?[0-9() .-]+)\Z")


@dataclass(frozen=True, slots=True)
class StyleSlot:
    """A position at which the style attribute of the built-in mails is inserted."""

    name: str  # the element, or one of OUR_CLASSES
    has_class: bool


@dataclass(frozen=True, slots=True)
class Problem:
    """An error and its line in the template."""

    line: int
    sentence: str

    def __str__(self) -> str:
        return f"{self.sentence} (in its line {self.line})"


@dataclass(frozen=True, slots=True)
class SanitizedHtml:
    """The HTML in parts, the same content as plain text, and its problems."""

    parts: tuple[str | Placeholder | StyleSlot, ...]
    text: Parts
    is_document: bool
    problems: tuple[Problem, ...]


def sanitize(html: str) -> SanitizedHtml:
    """Sanitize the HTML of a template, after its sections were selected."""
    reader = _Sanitizer()
    if html.count("<!") > _MAX_DECLARATIONS:
        reader.problems.append(Problem(1, f"at most {_MAX_DECLARATIONS} comments"))
    elif (section := html.find("<![")) >= 0:  # each version of Python reads them in another manner
        reader.problems.append(Problem(html.count("\n", 0, section) + 1, _NO_CONDITIONS))
    else:
        reader.feed(html)
        reader.end()
    is_document = bool(reader.used & _DOCUMENT_ELEMENTS)
    return SanitizedHtml(tuple(reader.parts), reader.plain_text.parts(), is_document, tuple(reader.problems))


class _Sanitizer(HTMLParser):
    """Collects the parts and problems of one document."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str | Placeholder | StyleSlot] = []
        self.problems: list[Problem] = []
        self.open: list[tuple[str, int]] = []
        self.used: set[str] = set()
        self.plain_text = PlainTextBuilder()

    def end(self) -> None:
        """Finish the document: unfinished tags and elements still open are problems."""
        if "<" in self.rawdata:  # newer versions of Python leave it out and say nothing
            self._problem(_UNESCAPED)
        else:
            self.close()
        for tag, line in self.open:
            self._problem(f"</{tag}> after <{tag}>", line)
        if "html" in self.used and "body" not in self.used:
            self._problem("<body> in <html>", 1)
        if self.used & _DOCUMENT_ELEMENTS and "html" not in self.used:
            self._problem("<html> around the whole, or nothing of a document's own", 1)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if len(self.open) >= _MAX_DEPTH:
            self._problem(f"at most {_MAX_DEPTH} levels")
            return
        self.used.add(tag)
        if tag not in _ELEMENTS:
            self._problem(f"an element that mails may hold; found <{tag}>")
        attributes: dict[str, str] = {}
        for name, value in attrs:
            attributes.setdefault(name, value or "")
        self.plain_text.start(tag, attributes)
        self.parts.append(f"<{tag}")
        for name, value in attributes.items():
            self._attribute(tag, name, value)
        if tag == "a" and "href" not in attributes:
            self._problem("<a> with a href")
        if tag == "img" and "alt" not in attributes:
            self._problem("<img> with an alt, an empty one where it says nothing")
        if "style" not in attributes:
            styled = next((name for name in attributes.get("class", "").split() if name in OUR_CLASSES), "")
            self.parts.append(StyleSlot(styled or tag, "class" in attributes))
        self.parts.append(">")
        if tag not in VOID_ELEMENTS:
            self.open.append((tag, self.getpos()[0]))

    def handle_endtag(self, tag: str) -> None:
        if tag in VOID_ELEMENTS:
            return
        if not self.open or self.open[-1][0] != tag:
            expected = f"</{self.open[-1][0]}>" if self.open else "nothing to end here"
            self._problem(f"{expected}; found </{tag}>")
            while any(name == tag for name, _ in self.open) and self.open[-1][0] != tag:
                self.open.pop()
            if not self.open:
                return
        self.open.pop()
        self.plain_text.end(tag)
        self.parts.append(f"</{tag}>")

    def handle_data(self, data: str) -> None:
        within = self.open[-1][0] if self.open else ""
        if within == "style":
            if _BAD_STYLE.search(data):
                self._problem("styles without url(), @import, scripts, < and backslashes")
            self.parts.append(data)
            self._refuse_placeholders(data, "styles")
            return
        if "<" in data:
            self._problem(_UNESCAPED)
        for part in parse(data):
            self.parts.append(escape(part, quote=False) if isinstance(part, str) else part)
        if within != "title":
            self.plain_text.add_text(parse(data))

    def handle_comment(self, data: str) -> None:
        """Leave comments out: some mail programs interpret them."""
        self._refuse_placeholders(data, "comments")
        if data.lstrip().lower().startswith("[if"):
            self._problem(_NO_CONDITIONS)

    def handle_decl(self, decl: str) -> None:  # noqa: ARG002 - a document type: the parser takes other declarations for comments
        self.parts.append("<!doctype html>")

    def handle_pi(self, data: str) -> None:
        self._problem(f"no instructions; found <?{data[:20]}")

    def _attribute(self, tag: str, name: str, value: str) -> None:
        if name not in _ATTRIBUTES:
            kind = "an event" if name.startswith("on") else "an attribute"
            self._problem(f"attributes that mails may hold; found {kind}, {name}")
            return
        if name == "href":
            self.parts += [' href="', *self._address(value), '"']
            return
        self._refuse_placeholders(value, f"the attribute {name}")
        if name == "src" and not (value.startswith("https://") and is_web_address(value)):
            self._problem(f"a picture at an https address; found {value[:60]!r}")
        if name == "style" and _BAD_STYLE.search(value):
            self._problem("a style without url(), scripts and backslashes")
        if tag == "meta" and name == "name" and value.lower() not in _META:
            self._problem(f"a meta that mails need ({', '.join(sorted(_META))}); found {value[:40]!r}")
        self.parts.append(f' {name}="{escape(value)}"')

    def _address(self, value: str) -> Sequence[str | Placeholder]:
        """Return the parts of an href: `#Url#` alone, or a whole address with placeholders only after the host."""
        parts = parse(value.strip())
        if parts == (Placeholder("Url"),):
            return (Placeholder("Url", is_in_address=True),)
        sample = "".join(part if isinstance(part, str) else "x" for part in parts)
        first = parts[0] if parts else ""
        is_complete = isinstance(first, str) and (first.count("/") >= 3 or len(parts) == 1)
        if Placeholder("Url") in parts or not (
            (is_web_address(sample) and is_complete) or _MAILTO.match(value.strip())
        ):
            self._problem(f"#Url# alone, or a whole web address in href; found {value[:60]!r}")
            return ()
        return [escape(part) if isinstance(part, str) else Placeholder(part.name, is_in_address=True) for part in parts]

    def _refuse_placeholders(self, text: str, where: str) -> None:
        for part in parse(text):
            if isinstance(part, Placeholder):
                expected = "a link in text or in href" if part.name in LINKS else "a value in text or in href"
                self._problem(f"{expected}; found #{part.name}# in {where}")

    def _problem(self, sentence: str, line: int | None = None) -> None:
        if len(self.problems) < _MAX_PROBLEMS:
            self.problems.append(Problem(line or self.getpos()[0], sentence))
