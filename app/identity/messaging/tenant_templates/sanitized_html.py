"""Sanitizes the HTML of a tenant's own mail: parses it strictly, refuses everything outside the allowed HTML, and serializes the
result again, so that mail programs see only what was checked."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from html.parser import HTMLParser
from typing import Final

from app.identity.messaging.tenant_templates import conditional_comments
from app.identity.messaging.tenant_templates.allowed_html import (
    DOCUMENT_ELEMENTS,
    ELEMENTS,
    OFFICE_ELEMENTS,
    is_attribute,
    is_harmful_style,
    loads_file,
    refused_meta,
)
from app.identity.messaging.tenant_templates.conditional_comments import ConditionalComment
from app.identity.messaging.tenant_templates.placeholders import LINKS, REQUIRED, Parts, Placeholder, parse
from app.identity.messaging.tenant_templates.plain_text import VOID_ELEMENTS, PlainTextBuilder
from app.kit.web.urls import is_web_url

_MAX_DEPTH, _MAX_PROBLEMS, _MAX_DECLARATIONS = 100, 20, 500
OUR_CLASSES: Final = ("button", "code", "small")
"""Classes that give paragraphs the style of the built-in mails."""
_HARMFUL_STYLES: Final = "scripts, @import, backslashes, and url() of anything but a picture at an https address"
_OTHER_CONDITION: Final = "<!--[if mso]>…<![endif]-->, or <!--[if !mso]><!-->…<!--<![endif]-->, and no other <![ … ]>"
_UNESCAPED: Final = "&lt; in the place of <, or a whole element"
_MAILTO: Final = re.compile(r"(mailto:[^\s<>\"]+@[^\s<>\"]+|tel:\+?[0-9() .-]+)\Z")


@dataclass(frozen=True, slots=True)
class StyleSlot:
    """A position at which the style attribute of the built-in mails is inserted."""

    name: str  # the element, or one of OUR_CLASSES
    has_class: bool


@dataclass(frozen=True, slots=True)
class HtmlProblem:
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
    problems: tuple[HtmlProblem, ...]


def sanitize(html: str) -> SanitizedHtml:
    """Sanitize the HTML of a template, after its sections were selected."""
    reader = _Sanitizer()
    if html.count("<!") > _MAX_DECLARATIONS:
        reader.problem(f"at most {_MAX_DECLARATIONS} comments", 1)
    else:
        html, other_sections = conditional_comments.as_comments(html)
        for line in other_sections:
            reader.problem(_OTHER_CONDITION, line)
        reader.feed(html)
        reader.end()
    is_document = bool(reader.used & DOCUMENT_ELEMENTS)
    problems = sorted(reader.problems, key=lambda problem: problem.line)
    if reader.has_more_problems:
        problems.append(HtmlProblem(problems[-1].line, f"at most {_MAX_PROBLEMS} problems; the others aren't listed"))
    return SanitizedHtml(tuple(reader.parts), reader.plain_text.parts(), is_document, tuple(problems))


class _Sanitizer(HTMLParser):
    """Collects the parts and problems of one document."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str | Placeholder | StyleSlot] = []
        self.problems: list[HtmlProblem] = []
        self.has_more_problems = False
        self.open: list[tuple[str, int]] = []
        self.used: set[str] = set()
        self.plain_text = PlainTextBuilder()
        self._lines: list[str] = []
        self._hidden_from_outlook: list[int] = []
        """The lines at which such parts begin."""
        self._for_outlook: list[str] = []
        """The names of placeholders that Outlook alone shows."""

    def feed(self, data: str) -> None:
        """Read the whole HTML. Call it once: positions are those in `data`."""
        self._lines = data.split("\n")
        super().feed(data)

    def end(self) -> None:
        """Finish the document: unfinished tags and elements still open are problems."""
        if "<" in self.rawdata:  # newer versions of Python leave it out and say nothing
            self.problem(_UNESCAPED)
        else:
            self.close()
        for tag, line in self.open:
            self.problem(f"</{tag}> after <{tag}>", line)
        for line in self._hidden_from_outlook:
            self.problem(f"{conditional_comments.END} after <!--[if …]><!-->", line)
        names = [part.name for part in self.parts if isinstance(part, Placeholder)]
        for name in sorted(REQUIRED):
            if names.count(name) == self._for_outlook.count(name) > 0:
                self.problem(f"#{name}# also in what other mail programs than Outlook show", 1)
        if "html" in self.used and "body" not in self.used:
            self.problem("<body> in <html>", 1)
        if self.used & DOCUMENT_ELEMENTS and "html" not in self.used:
            self.problem("<html> around the whole, or nothing of a document's own", 1)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if len(self.open) >= _MAX_DEPTH:
            self.problem(f"at most {_MAX_DEPTH} levels")
            return
        self.used.add(tag)
        if not self._is_element(tag):
            self.problem(f"an element that mails may hold; found <{tag}>")
        attributes: dict[str, str] = {}
        for name, value in attrs:
            attributes.setdefault(name, value or "")
        self.plain_text.start(tag, attributes)
        self.parts.append(f"<{self._name(tag)}")
        for name, value in attributes.items():
            self._attribute(name, value)
        self._check_together(tag, attributes)
        if "style" not in attributes:
            styled = next((name for name in attributes.get("class", "").split() if name in OUR_CLASSES), "")
            self.parts.append(StyleSlot(styled or tag, "class" in attributes))
        self.parts.append(">")
        if tag not in VOID_ELEMENTS:
            self.open.append((tag, self.getpos()[0]))

    def _check_together(self, tag: str, attributes: Mapping[str, str]) -> None:
        """Report attributes that are missing, or harmful together."""
        if tag == "a" and "href" not in attributes:
            self.problem("<a> with a href")
        if tag == "img" and "alt" not in attributes:
            self.problem("<img> with an alt, an empty one where it says nothing")
        if tag == "meta" and (refused := refused_meta(attributes)):
            self.problem(f"a meta that mails need; found {refused[:60]}")

    def handle_endtag(self, tag: str) -> None:
        if tag in VOID_ELEMENTS:
            return
        if not self.open or self.open[-1][0] != tag:
            expected = f"</{self.open[-1][0]}>" if self.open else "nothing to end here"
            self.problem(f"{expected}; found </{tag}>")
            while any(name == tag for name, _ in self.open) and self.open[-1][0] != tag:
                self.open.pop()
            if not self.open:
                return
        self.open.pop()
        self.plain_text.end(tag)
        self.parts.append(f"</{self._name(tag)}>")

    def handle_data(self, data: str) -> None:
        within = self.open[-1][0] if self.open else ""
        if within == "style":
            if is_harmful_style(data):
                self.problem(f"styles without {_HARMFUL_STYLES}")
            self.parts.append(data)
            self._refuse_placeholders(data, "styles")
            return
        line, column = self.getpos()
        if self._lines[line - 1].startswith("<", column):  # not in `data`, where `&lt;` is decoded
            self.problem(_UNESCAPED)
        for part in parse(data):
            self.parts.append(escape(part, quote=False) if isinstance(part, str) else part)
        if within != "title":
            self.plain_text.add_text(parse(data))

    def handle_comment(self, data: str) -> None:
        """Leave comments out, except for conditional ones, whose HTML is sanitized too."""
        comment = conditional_comments.read(data)
        if comment is None:
            self._refuse_placeholders(data, "comments")
            if conditional_comments.looks_conditional(data):
                self.problem(_OTHER_CONDITION)
        elif comment.kind == "hidden":
            self._add_for_outlook(comment)
        elif comment.kind == "begin":
            self._hidden_from_outlook.append(self.getpos()[0])
            self.parts.append(f"<!--[if {comment.condition}]><!-->")
        elif self._hidden_from_outlook:
            self._hidden_from_outlook.pop()
            self.parts.append(conditional_comments.END)
        else:
            self.problem(f"<!--[if …]><!--> before {conditional_comments.END}")

    def _add_for_outlook(self, comment: ConditionalComment) -> None:
        fragment = _OutlookSanitizer()
        fragment.feed(comment.html)
        fragment.end()
        first_line = self.getpos()[0] + comment.line - 1
        for problem in fragment.problems:
            self.problem(problem.sentence, first_line + problem.line)
        self._for_outlook += [part.name for part in fragment.parts if isinstance(part, Placeholder)]
        self.parts += [f"<!--[if {comment.condition}]>", *fragment.parts, "<![endif]-->"]

    def handle_decl(self, decl: str) -> None:  # noqa: ARG002 - a document type: the parser takes other declarations for comments
        self.parts.append("<!doctype html>")

    def handle_pi(self, data: str) -> None:
        self.problem(f"no instructions; found <?{data[:20]}")

    def _is_element(self, tag: str) -> bool:
        return tag in ELEMENTS

    def _name(self, tag: str) -> str:
        return tag

    def _is_attribute(self, name: str) -> bool:
        return is_attribute(name)

    def _attribute(self, name: str, value: str) -> None:
        if not self._is_attribute(name):
            kind = "an event" if name.startswith("on") else "an attribute"
            self.problem(f"attributes that mails may hold; found {kind}, {name}")
            return
        if name == "href":
            self.parts += [' href="', *self._address(value), '"']
            return
        self._refuse_placeholders(value, f"the attribute {name}")
        if loads_file(name) and not (value.startswith("https://") and is_web_url(value)):
            self.problem(f"a picture at an https address; found {value[:60]!r}")
        if name == "style" and is_harmful_style(value):
            self.problem(f"a style without {_HARMFUL_STYLES}")
        self.parts.append(f' {name}="{escape(value)}"')

    def _address(self, value: str) -> Sequence[str | Placeholder]:
        """Return the parts of an href: `#Url#` alone, or a whole address with placeholders only after the host."""
        parts = parse(value.strip())
        if parts == (Placeholder("Url"),):
            return (Placeholder("Url", is_in_address=True),)
        sample = "".join(part if isinstance(part, str) else "x" for part in parts)
        first = parts[0] if parts else ""
        is_complete = isinstance(first, str) and (first.count("/") >= 3 or len(parts) == 1)
        if Placeholder("Url") in parts or not ((is_web_url(sample) and is_complete) or _MAILTO.match(value.strip())):
            self.problem(f"#Url# alone, or a whole web address in href; found {value[:60]!r}")
            return ()
        return [escape(part) if isinstance(part, str) else Placeholder(part.name, is_in_address=True) for part in parts]

    def _refuse_placeholders(self, text: str, where: str) -> None:
        for part in parse(text):
            if isinstance(part, Placeholder):
                expected = "a link in text or in href" if part.name in LINKS else "a value in text or in href"
                self.problem(f"{expected}; found #{part.name}# in {where}")

    def problem(self, sentence: str, line: int | None = None) -> None:
        if len(self.problems) < _MAX_PROBLEMS:
            self.problems.append(HtmlProblem(line or self.getpos()[0], sentence))
        else:
            self.has_more_problems = True


class _OutlookSanitizer(_Sanitizer):
    """Sanitizes the HTML of one conditional comment. Its elements may begin in one comment and end in another."""

    def end(self) -> None:
        if "<" in self.rawdata:
            self.problem(_UNESCAPED)
        else:
            self.close()

    def handle_endtag(self, tag: str) -> None:
        if self.open and self.open[-1][0] == tag:
            self.open.pop()
        if not self._is_element(tag):
            self.problem(f"an element that mails may hold; found </{tag}>")
        elif tag not in VOID_ELEMENTS:
            self.parts.append(f"</{self._name(tag)}>")

    def _is_element(self, tag: str) -> bool:
        return tag in OFFICE_ELEMENTS or super()._is_element(tag)

    def _name(self, tag: str) -> str:
        return OFFICE_ELEMENTS.get(tag, tag)

    def _is_attribute(self, name: str) -> bool:
        return is_attribute(name, is_in_condition=True)
