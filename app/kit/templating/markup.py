"""Checks the markup of a template while its syntax tree is read: complete elements, quoted attributes, nothing that runs or sends.

The accepted markup is a strict part of HTML, which every browser reads as this module does: elements and attributes by name, values
in double quotes, every element closed, no comments. So a value can be in text or within quotes only, where it is escaped.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Set
from contextlib import contextmanager
from dataclasses import dataclass, field
from html import unescape
from typing import Final

from app.kit.templating import page_classes
from app.kit.templating.contract import NO_EFFECTS, ClassEffects, Dialect, ValueKind
from app.kit.templating.page_markup import PAGE, SHAPES
from app.kit.templating.part_place import OpenElement, part_problem


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_OWN_CLASS: Final = re.compile(r"own-[a-z0-9-]{1,60}")
_FLAGS: Final = frozenset({"open", "reversed"})
_FIXED: Final = frozenset({"href", "src", "srcset", "id", "style"})
"""Attributes whose value is checked as a whole, beside those with a list of values."""
_TAG: Final = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9-]*)")
_ATTRIBUTE: Final = re.compile(r'\s+([a-zA-Z][a-zA-Z0-9:_-]*)(="?)?')
_END: Final = re.compile(r"\s*(/?)>")
_LINK: Final = re.compile(r"(?:https://|mailto:|tel:|/(?![/\\])|#own-)[^\s\\]*")
_ID: Final = re.compile(r"own-[a-z0-9-]{1,60}")
_REFERENCE: Final = re.compile(r"url\(#([^)]*)\)")
_HEADINGS: Final = _words("h2 h3 h4")
_ENDED: Final[Mapping[str, Set[str]]] = {
    **dict.fromkeys(
        _words(
            "address aside blockquote details div dl figcaption figure footer header hgroup hr nav ol p section summary table ul"
        ),
        frozenset({"p"}),
    ),
    **dict.fromkeys(_HEADINGS, _HEADINGS | {"p"}),
    "a": frozenset({"a"}),
}
"""By the name of an element: those that browsers end where it begins, so that it cannot be within them."""
_EXPECTED: Final = {
    **dict.fromkeys(("bgcolor", "stop-color"), "a color such as #1d2433"),
    **dict.fromkeys(("fill", "stroke"), "a color such as #1d2433, or url(#own-…) of a gradient"),
    "clip-path": "url(#own-…) of a <clipPath>",
}
"""What a value with a pattern is, beside numbers."""
MAX_DEPTH: Final = 40
_LEAST_WIDTH: Final = 240
"""Of an element around a part, in px."""

Report = Callable[[int, str], None]


@dataclass(frozen=True)
class _State:
    """Where the reader stands: in text, in a tag, or in the value of an attribute; in which one, and within how many elements."""

    place: str
    attribute: int
    depth: int


@dataclass
class MarkupReader:
    """Reads the pieces of a template in their order; reports each problem with its line.

    Args:
        effects: of the theme's style sheet.
    """

    report: Report
    effects: ClassEffects = NO_EFFECTS
    dialect: Dialect = PAGE
    is_within_page: bool = False
    open: list[OpenElement] = field(default_factory=list)
    ids: set[str] = field(default_factory=set)
    _references: dict[str, int] = field(default_factory=dict)
    """The line where an id is first named."""
    _place: str = "text"
    _element: str = ""
    _attributes: set[str] = field(default_factory=set)
    _classes: frozenset[str] = frozenset()
    _hides: str = ""
    _attribute: str = ""
    _literal: str = ""
    _kinds: list[ValueKind] = field(default_factory=list)
    _has_branch: bool = False
    """Whether the value of the attribute has a condition."""
    _count: int = 0
    """Of the attributes so far."""
    _floor: int = 0
    """How many of the open elements a branch found open: it ends none of them."""

    def literal(self, text: str, line: int) -> None:
        """Read literal markup that begins at a line."""
        at = 0
        while at < len(text) and self._place != "broken":
            step = {"text": self._text, "tag": self._tag, "value": self._value}[self._place]
            after = step(text, at, line + text.count("\n", 0, at))
            if after is None:
                self._place = "broken"
                return
            at = after

    def value(self, kind: ValueKind, line: int) -> None:
        """Read a value of the view."""
        if self._place == "value":
            self._kinds.append(kind)
        elif self._place == "tag":
            self._break(line, "values in text or within the quotes of an attribute")
        elif self._place == "text":
            self._require_place_for("", line)

    def part(self, name: str, line: int) -> None:
        """Read a part, which is markup."""
        if self._place == "broken":
            return
        if self._place != "text":
            self._break(line, f"{name}() between elements, because it is markup")
        elif problem := part_problem(name, self.open, self.dialect, self.effects):
            self.report(line, problem)
        else:
            self._require_place_for("", line)

    def finish(self, line: int) -> None:
        """Read the end of the template."""
        if self._place in ("tag", "value"):
            self.report(line, f"the end of the tag <{self._element}")
        if self._place == "broken":  # what follows the problem was not read
            return
        for name, at in self._references.items():
            if name not in self.ids:
                self.report(at, f"url(#…) with an id of the same template; found #{name}, which no element has")
        for element in self.open:
            self.report(element.line, f"</{element.name}> for this <{element.name}>")

    @contextmanager
    def branch(self, line: int, *, is_loop: bool = False) -> Iterator[None]:
        """Read a branch of a condition, or the body of a loop, within the block. It must leave everything as it was."""
        if self._place == "tag" or (is_loop and self._place == "value"):
            self._break(line, "loops between elements, and conditions there or within the quotes of an attribute")
        self._has_branch = self._has_branch or self._place == "value"
        before, floor = self._state, self._floor
        self._floor = len(self.open)
        yield
        self._floor = floor
        if self._place != "broken" and self._state != before:
            self._break(line, "complete elements within a condition or a loop: each ends where it began")

    @property
    def _state(self) -> _State:
        return _State(self._place, self._count if self._place == "value" else 0, len(self.open))

    def _break(self, line: int, sentence: str) -> None:
        self.report(line, sentence)
        self._place = "broken"

    def _text(self, text: str, at: int, line: int) -> int | None:
        start = text.find("<", at)
        if text[at : start if start >= 0 else len(text)].strip() and not self._require_place_for("", line):
            return None
        if start < 0:
            return len(text)
        line += text.count("\n", at, start)
        match = _TAG.match(text, start)
        if match is None:
            comment = text.startswith("<!", start)
            self.report(line, "comments as {# … #}" if comment else "&lt; for a < that begins no tag")
            return None
        closes, name = match[1] == "/", match[2]
        if name not in self.dialect.elements:
            self.report(line, _element_sentence(self.dialect, name))
            return None
        if closes:
            return self._close(text, match.end(), name, line)
        if (name in SHAPES) != any(element.name == "svg" for element in self.open):
            # Browsers would leave the drawing at another element, and read a title outside of one as the document's.
            self.report(
                line, f"<{name}> within <svg>" if name in SHAPES else f"shapes alone within <svg>; found <{name}>"
            )
            return None
        if ended := next((element.name for element in self.open if element.name in _ENDED.get(name, ())), ""):
            self.report(line, f"</{ended}> before <{name}>: browsers end it there")
            return None
        if not self._require_place_for(name, line):
            return None
        self._place, self._element, self._attributes, self._classes, self._hides = "tag", name, set(), frozenset(), ""
        return match.end()

    def _require_place_for(self, name: str, line: int) -> bool:
        """Report an element, or a text, that cannot stand directly within the innermost open element."""
        within, allowed = self.open[-1].name if self.open else "", self.dialect.parents.get(name)
        if allowed is not None and within not in allowed:
            self.report(line, f"<{name}> directly within {' or '.join(f'<{each}>' for each in sorted(allowed))}")
            return False
        if allowed is None and within in self.dialect.without_text:
            names = sorted(f"<{each}>" for each, around in self.dialect.parents.items() if within in around)
            self.report(line, f"{' and '.join(names)} alone directly within <{within}>")
            return False
        return True

    def _close(self, text: str, at: int, name: str, line: int) -> int | None:
        end = re.compile(r"\s*>").match(text, at)
        if end is None:
            self.report(line, f"</{name}> without anything between name and >")
            return None
        if len(self.open) <= self._floor or self.open[-1].name != name:
            within = f"</{self.open[-1].name}> first" if len(self.open) > self._floor else "no end without a beginning"
            self.report(line, f"{within}; found </{name}>")
            return None
        self.open.pop()
        return end.end()

    def _tag(self, text: str, at: int, line: int) -> int | None:
        if (end := _END.match(text, at)) is not None:
            self._place = "text"
            if self._element not in self.dialect.void and not end[1]:
                is_hidden = bool(self._attributes & self.dialect.silencing)
                self.open.append(OpenElement(self._element, line, self._classes, is_hidden, self._hides))
            if len(self.open) > MAX_DEPTH:
                self.report(line, f"at most {MAX_DEPTH} elements within each other")
                return None
            if end[1] and self._element not in self.dialect.void and not _is_drawing(self._element):
                self.report(line, f"<{self._element}></{self._element}>: browsers ignore the / at its end")
            return end.end()
        match = _ATTRIBUTE.match(text, at)
        if match is None and not text[at:].strip():
            return len(text)
        if match is None:
            rest = text[at : at + 12].strip().partition("\n")[0]
            self.report(line, f'attributes as name="value" in <{self._element}>; found {rest!r}')
            return None
        return self._attribute_at(match, line)

    def _attribute_at(self, match: re.Match[str], line: int) -> int | None:
        name, sign, line = match[1], match[2], line + match[0].count("\n")
        if name not in self.dialect.attributes and name not in self.dialect.by_element.get(self._element, ()):
            self.report(line, _attribute_sentence(self._element, name))
            return None
        if name in self._attributes:
            self.report(line, f"{name} once in <{self._element}>")
        self._attributes.add(name)
        if sign is None and name in _FLAGS:
            return match.end()
        if sign != '="':
            self.report(line, f'double quotes: {name}="…"')
            return None
        self._place, self._attribute, self._literal, self._kinds = "value", name, "", []
        self._has_branch, self._count = False, self._count + 1
        return match.end()

    def _value(self, text: str, at: int, line: int) -> int | None:
        end = text.find('"', at)
        piece = text[at : end if end >= 0 else len(text)]
        if "<" in piece:
            self.report(line, f'the closing " of {self._attribute} before a <')
            return None
        self._literal += piece
        if end < 0:
            return len(text)
        self._place = "tag"
        if (sentence := self._value_problem()) is not None:
            self.report(line, sentence)
        elif (reference := _REFERENCE.fullmatch(self._literal.strip())) is not None:
            self._references.setdefault(reference[1], line)
        return end + 1

    def _value_problem(self) -> str | None:
        name, literal = self._attribute, self._literal.strip()
        words, pattern = self.dialect.words.get(name), self.dialect.patterns.get(name)
        if self._has_branch and (name in _FIXED or words or pattern):
            return f"{name} without a condition within its quotes"
        if name in ("href", "src", "srcset"):
            return self._address_problem(name, literal)
        if name == "class":
            self._classes = frozenset(literal.split())
            return self._class_problem()
        if name == "id":
            if self._kinds or not _ID.fullmatch(literal) or literal in self.ids:
                return "an id of its own that begins with own-"
            self.ids.add(literal)
        if name == "style":
            return self._style_problem(literal)
        if words and (self._kinds or literal not in words):
            return f"one of {', '.join(sorted(words))} for {name}; found {literal!r}"
        return self._pattern_problem(name, literal, pattern) if pattern else None

    def _pattern_problem(self, name: str, literal: str, pattern: re.Pattern[str]) -> str | None:
        if self._kinds or not pattern.fullmatch(literal):
            return f"{_EXPECTED.get(name, 'a number')} for {name}; found {literal!r}"
        if name == "clip-path" and any(element.name == "clipPath" for element in self.open):
            return "no clip-path within a <clipPath>: some dozen would draw millions of shapes"
        if name == "width" and literal.isdigit() and int(literal) < _LEAST_WIDTH:
            self._hides = self._hides or f"expected a width of at least {_LEAST_WIDTH}"
        return None

    def _style_problem(self, literal: str) -> str | None:
        if self._kinds or self.dialect.style is None:
            return "a style as it is, without values"
        problem, hides = self.dialect.style(literal)
        self._hides = self._hides or hides
        return problem or None

    def _class_problem(self) -> str | None:
        if self._kinds:
            return "class names as they are, with conditions where they differ"
        if self.is_within_page and (covering := self._classes & self.effects.placing):
            own = min(covering)
            cause = self.effects.cause(f"placing .{own}")
            return f"no .{own} here, which may be placed over the page by {cause}: change that rule, or use the class in a layout"
        strange = [
            name
            for name in sorted(self._classes)
            if not _OWN_CLASS.fullmatch(name) and name not in self.dialect.classes
        ]
        if not strange:
            return None
        hint = (
            ", which is for layouts alone"
            if strange[0] in page_classes.OF_LAYOUTS & PAGE.classes - self.dialect.classes
            else ""
        )
        return f"classes that begin with own-, or one of {', '.join(sorted(self.dialect.classes))}; found {strange[0]}{hint}"

    def _address_problem(self, name: str, literal: str) -> str | None:
        if self._kinds:
            is_alone = not literal and self._kinds == [ValueKind.ADDRESS] and name == "href"
            return None if is_alone else f"an address of the view alone as {name}, or a fixed one"
        if name == "href":
            # Browsers decode character references: /&#9;/example.com is another host.
            is_link = _LINK.fullmatch(literal) and _LINK.fullmatch(unescape(literal))
            return None if is_link else "an https address, /path, mailto:, tel: or #own-id as href"
        return (
            None
            if self.dialect.file.fullmatch(literal)
            else f"a file of the tenant such as {self.dialect.example} as {name}"
        )


def _is_drawing(element: str) -> bool:
    return element in SHAPES or element == "svg"


def _element_sentence(dialect: Dialect, name: str) -> str:
    is_upper = name not in dialect.elements and name.lower() in dialect.elements
    hint = " (names are in lower case)" if is_upper else ""
    expected = "an element that themes may use" if dialect.elements else "text without markup"
    return dialect.hints.get(name, f"{expected}; found <{name}>{hint}")


def _attribute_sentence(element: str, name: str) -> str:
    if name.lower().startswith("on"):
        return f"no {name}: markup has no scripts"
    if name == "style":
        return "no style attribute: put rules into the theme's css"
    return f"an attribute that <{element}> may have; found {name}"
