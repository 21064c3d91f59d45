"""Checks the CSS of a tenant's theme and writes what browsers get: the tokens that were checked, and no other byte.

The parser is tinycss2. What is refused has its line, what is expected, what was found and how to mend it. Elements with a class
of the theme's own (`.own-…`) may be hidden, placed and stacked; on all others a bound keeps the form visible and usable.

Not prevented here: text in the color of its ground; a font without letters; own elements over the form, which the page's style
sheet prevents by a stacking layer above theirs (`z-index` is at most 0); an element around the form with one of the classes of
`CheckedCss.hiding`, which the check of templates refuses.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import tinycss2
from tinycss2.ast import Node

from app.kit.design.theme_css.allowed import FONT_DESCRIPTORS, OWN_BOUNDS, PROPERTIES, REASONS, ROOT_PROPERTIES, TOKENS
from app.kit.design.theme_css.bound_check import is_outside
from app.kit.design.theme_css.bounds import COLOURS, MAX_BYTES, ONLY_OWN, OWN, Bound
from app.kit.design.theme_css.selectors import SelectorSubject, subjects
from app.kit.design.theme_css.tokens import RefusedCss, read_tokens, text_of, trimmed
from app.kit.design.theme_css.values import FilesInCss, check_special, check_value
from app.kit.near_names import near_name

MAX_RULES: Final = 400
PLACING: Final = re.compile(
    r"position|(?:inset|top|right|bottom|left)(?:-.*)?|transform|translate|scale|rotate|z-index|float"
)
"""Properties that move an element over others."""
MAX_SELECTOR: Final = 300
"""Characters of a rule's selectors."""
MAX_DEPTH: Final = 3
"""Of at-rules within one another."""
MAX_PROBLEMS: Final = 50
NO_FILES: Final[Mapping[str, str]] = {}
_AT_RULES: Final = {
    "import": "copy its rules into this file",
    "charset": "delete it, the file is UTF-8",
    "layer": "theme.css comes after our sheets",
    "container": "use @media",
    "page": "use @media print",
    "property": f"set --{OWN}… on :root",
}
"""What to write in place of a refused at-rule."""
_DESCRIPTORS: Final = {
    "font-display": "font-display: swap",
    "font-family": 'font-family: "Inter"',
    "src": "src: url(fonts/inter.woff2)",
}


@dataclass(frozen=True)
class CssProblem:
    line: int
    sentence: str


@dataclass(frozen=True)
class CheckedCss:
    """The result of a check."""

    problems: tuple[CssProblem, ...] = ()
    """By line; at most `MAX_PROBLEMS`."""
    css: str = ""
    """The style sheet to serve; empty if there are problems."""
    urls: tuple[str, ...] = ()
    """The files that it loads: names of the theme's own, such as img/hills.jpg, and paths such as /theme/hills.jpg."""
    hiding: frozenset[str] = frozenset()
    """Own classes whose elements it may hide, place or stack: the form must not be within such an element."""
    placing: frozenset[str] = frozenset()
    """Own classes whose elements it may move over others: the page must have no such element among its own."""
    causes: tuple[tuple[str, str], ...] = ()
    """`hiding .own-a` or `placing .own-a` for each of these classes, with the first declaration that is why: `line 3: display: none`."""


def checked(css: str, files: Mapping[str, str] = NO_FILES) -> CheckedCss:
    """Return the problems of a style sheet, or the sheet to serve. The time is linear in its size, which is bounded.

    `files`: the address of each of the theme's own files, by its name.
    """
    if (size := len(css.encode("utf-8", "surrogatepass"))) > MAX_BYTES:
        sentence = (
            f"expected at most {MAX_BYTES // 1024} kB; found {size / 1024:.0f} kB: delete rules that no page needs"
        )
        return CheckedCss((CssProblem(1, sentence),))
    tokens, problems = read_tokens(css)
    if problems:
        return _refused(problems)
    sheet = _Sheet(files)
    text = "".join(sheet.rules(tinycss2.parse_stylesheet(tokens, skip_comments=True, skip_whitespace=True), _Place()))
    sheet.check_bounds()
    if sheet.problems:
        return _refused(sheet.problems)
    return CheckedCss(
        css=text,
        urls=tuple(sorted(sheet.files.named)),
        hiding=frozenset(sheet.hiding),
        placing=frozenset(sheet.placing),
        causes=tuple(sorted(sheet.causes.items())),
    )


def _refused(problems: Iterable[tuple[int, str]]) -> CheckedCss:
    return CheckedCss(tuple(CssProblem(*problem) for problem in sorted(set(problems))[:MAX_PROBLEMS]))


class _Place(NamedTuple):
    """Where a rule stands."""

    depth: int = 0
    is_print: bool = False


class _Bounded(NamedTuple):
    """A declaration whose bound is checked when all own custom properties are known."""

    declaration: Node
    name: str
    bound: Bound
    subjects: Sequence[SelectorSubject]
    is_free: bool
    """Whether it may be out of its bound, because all subjects are the theme's own or the rule is for print or keyframes."""


class _Sheet:
    """What a style sheet says, gathered while its rules are written."""

    def __init__(self, files: Mapping[str, str]) -> None:
        self.problems: list[tuple[int, str]] = []
        self.files = FilesInCss(files)
        self.hiding: set[str] = set()
        self.placing: set[str] = set()
        self.causes: dict[str, str] = {}
        self._own_values: dict[str, list[Sequence[Node]]] = {}
        self._bounded: list[_Bounded] = []
        self._count = 0

    def rules(self, nodes: Iterable[Node], place: _Place) -> list[str]:
        """Return the rules as CSS, as far as they are accepted."""
        return [text for node in nodes if (text := self._attempt(self._rule, node, place))]

    def _attempt(self, read: Callable[..., str], node: Node, *arguments: object) -> str:
        """Return what `read` returns; empty after a refusal, which becomes a problem."""
        try:
            return read(node, *arguments)
        except RefusedCss as refusal:
            self.problems.append((refusal.line, str(refusal)))
            return ""

    def _rule(self, node: Node, place: _Place) -> str:
        if node.type == "error":
            raise RefusedCss(node, "expected { after a selector; found none: finish the rule or delete it")
        if node.type == "at-rule":
            return self._at_rule(node, place)
        self._count += 1
        if self._count == MAX_RULES + 1:
            raise RefusedCss(
                node, f"expected at most {MAX_RULES} rules; found more: join those with the same declarations"
            )
        found = subjects(node, node.prelude)
        if len(selector := text_of(node.prelude, ",>~")) > MAX_SELECTOR:
            raise RefusedCss(
                node, f"expected selectors of at most {MAX_SELECTOR} characters; found {len(selector)}: split the rule"
            )
        return _block(selector, self._declarations(node, found, is_free=place.is_print))

    def _at_rule(self, node: Node, place: _Place) -> str:
        name = node.lower_at_keyword
        if name not in ("media", "supports", "keyframes", "font-face"):
            remedy = _AT_RULES.get(name, "write the rules without it")
            raise RefusedCss(
                node, f"expected @media, @supports, @keyframes or @font-face; found @{node.at_keyword}: {remedy}"
            )
        if node.content is None:
            raise RefusedCss(node, f"expected {{ after @{name}; found none: add its rules")
        if place.depth >= MAX_DEPTH:
            raise RefusedCss(
                node, f"expected at most {MAX_DEPTH} at-rules within one another; found more: join their conditions"
            )
        if name == "font-face":
            return self._font_face(node)
        nested = tinycss2.parse_rule_list(node.content, skip_comments=True, skip_whitespace=True)
        if name == "keyframes":
            return self._keyframes(node, nested)
        condition = _condition(node)
        is_print = place.is_print or (name == "media" and condition == "print")
        return _block(f"@{name} {condition}", self.rules(nested, _Place(place.depth + 1, is_print)))

    def _keyframes(self, node: Node, nested: Sequence[Node]) -> str:
        words = trimmed(node.prelude)
        if len(words) != 1 or words[0].type != "ident" or not words[0].value.startswith(OWN):
            raise RefusedCss(
                node, f"expected a name that begins with {OWN}, such as @keyframes {OWN}rise; found another: rename it"
            )
        return _block(f"@keyframes {words[0].value}", [self._attempt(self._keyframe, frame) for frame in nested])

    def _keyframe(self, node: Node) -> str:
        if node.type != "qualified-rule" or any(not _is_moment(token) for token in node.prelude):
            raise RefusedCss(node, "expected from, to or a percentage; found another selector: write 50%")
        # Animations of our elements end within a second, whatever their keyframes do.
        return _block(text_of(node.prelude, ","), self._declarations(node, (), is_free=True))

    def _font_face(self, node: Node) -> str:
        kept = [self._attempt(self._descriptor, declaration) for declaration in _parsed(node)]
        names = {text.partition(":")[0] for text in kept}
        if missing := sorted({"font-family", "src", "font-display"} - names):
            raise RefusedCss(
                node, f"expected {missing[0]} in @font-face; found none: add it, such as {_DESCRIPTORS[missing[0]]}"
            )
        return _block("@font-face", kept)

    def _descriptor(self, node: Node) -> str:
        _require_declaration(node)
        if node.lower_name not in FONT_DESCRIPTORS:
            raise RefusedCss(node, f"expected {', '.join(sorted(FONT_DESCRIPTORS))}; found {node.name}: delete it")
        value = [token for token in node.value if not _is_format(token)]
        if node.lower_name == "src" and not any(_is_address(token) for token in value):
            raise RefusedCss(node, "expected src: url(fonts/NAME.woff2); found no address: add it")
        check_value(node.lower_name, value, self.files)
        return f"{node.lower_name}:{text_of(value, ',')}"

    def _declarations(self, rule: Node, found: Sequence[SelectorSubject], *, is_free: bool) -> list[str]:
        is_own = is_free or all(subject.own_classes for subject in found)
        return [self._attempt(self._declaration, node, found, is_own) for node in _parsed(rule)]

    def _declaration(self, node: Node, found: Sequence[SelectorSubject], is_free: bool) -> str:
        _require_declaration(node)
        name, value = node.lower_name, trimmed(node.value)
        if node.name.startswith("--"):
            name = node.name
        bound = self._bound(node, name)
        if not name.startswith("--") and name not in ROOT_PROPERTIES and any(subject.is_root for subject in found):
            raise RefusedCss(
                node, f"expected an element or a class for {name}; found the root of the page: select body or a class"
            )
        check_value(name, value, self.files)
        check_special(name, value, is_own=is_free)
        if name.startswith(f"--{OWN}"):
            self._own_values.setdefault(name, []).append(value)
        if PLACING.fullmatch(name):
            self._note("placing", self.placing, node, name, found)
        if bound is not None:
            self._bounded.append(_Bounded(node, name, bound, found, is_free))
        return f"{name}:{text_of(value, ',')}"

    def _bound(self, node: Node, name: str) -> Bound | None:
        """Return the bound of a property that a theme may set. Raises RefusedCss for others."""
        if node.important:
            raise RefusedCss(
                node, "expected a value without !important; found it: select more precisely, such as .form .button"
            )
        if name.startswith(f"--{OWN}"):
            return None
        if name.startswith("--"):
            if name in TOKENS:
                return TOKENS[name]
            raise RefusedCss(node, _unknown_token(name))
        if name not in PROPERTIES:
            near = near_name(name, PROPERTIES)
            remedy = REASONS.get(name) or (f"did you mean {near}?" if near else "delete it")
            raise RefusedCss(node, f"expected a property that themes may set; found {name}: {remedy}")
        return PROPERTIES[name]

    def check_bounds(self) -> None:
        """Add a problem for each declaration that is out of its bound; on own elements, note their classes instead."""
        for declaration, name, bound, found, is_free in self._bounded:
            least = OWN_BOUNDS.get(name) if is_free else bound
            if least is not None and self._is_outside(least, declaration, found):
                value = text_of(declaration.value, ",")[:60]
                remedy = (
                    ""
                    if is_free or name in OWN_BOUNDS or bound is ONLY_OWN
                    else f": keep to it, or select a class of your own (.{OWN}…)"
                )
                self.problems.append(
                    (declaration.source_line, f"expected {least.expected}; found {name}: {value}{remedy}")
                )
            elif is_free and self._is_outside(bound, declaration, found):
                self._note("hiding", self.hiding, declaration, name, found)

    def _note(
        self, kind: str, classes: set[str], declaration: Node, name: str, found: Sequence[SelectorSubject]
    ) -> None:
        """Add the own classes that a declaration is about, and why."""
        for own in frozenset[str]().union(*(subject.own_classes for subject in found)):
            classes.add(own)
            value = text_of(declaration.value, ",")[:60]
            self.causes.setdefault(f"{kind} .{own}", f"line {declaration.source_line}: {name}: {value}")

    def _is_outside(self, bound: Bound, declaration: Node, found: Sequence[SelectorSubject]) -> bool:
        if text_of(declaration.value, ",") in bound.on_icons and all(subject.is_icon for subject in found):
            return False
        is_misplaced = bool(bound.places) and not all(
            subject.pseudo_element in ("before", "after") or bound.places & {*subject.classes, subject.element}
            for subject in found
        )
        return is_misplaced or is_outside(bound, declaration.value, self._own_values)


def _parsed(rule: Node) -> list[Node]:
    """Return what the block of a rule contains."""
    return list(tinycss2.parse_blocks_contents(rule.content, skip_comments=True, skip_whitespace=True))


def _block(head: str, parts: Sequence[str]) -> str:
    """Return a rule as CSS; empty without content."""
    kept = [part for part in parts if part]
    separator = "" if kept and kept[0].endswith("}") else ";"
    return f"{head}{{{separator.join(kept)}}}" if kept else ""


def _require_declaration(node: Node) -> None:
    if node.type == "declaration":
        if trimmed(node.value):
            return
        raise RefusedCss(node, f"expected a value for {node.name}; found none: add it or delete the declaration")
    if node.type == "error":
        raise RefusedCss(
            node, "expected a declaration such as color: #1d2433; found another text: add the : or the ; before it"
        )
    raise RefusedCss(
        node, "expected declarations only; found a rule within a rule: write it after this one, with its whole selector"
    )


def _unknown_token(name: str) -> str:
    if name in COLOURS:
        return f"expected color or background in theme.yaml, which keep texts readable; found {name}: set {name.replace('--', '--' + OWN)}"
    near = near_name(name, TOKENS)
    remedy = f"did you mean {near}?" if near else f"name your own --{OWN}{name[2:]}"
    return f"expected a token such as --radius or an own property --{OWN}…; found {name}: {remedy}"


def _condition(node: Node) -> str:
    """Return the condition of @media or @supports. Raises RefusedCss."""
    _check_condition(node.prelude)
    if not (text := text_of(node.prelude, ",")):
        raise RefusedCss(
            node, f"expected a condition after @{node.at_keyword}; found none: add one, such as (min-width: 860px)"
        )
    return text


def _check_condition(tokens: Sequence[Node]) -> None:
    for token in tokens:
        if token.type == "() block":
            _check_condition(token.content)
        elif token.type not in ("whitespace", "ident", "number", "dimension", "percentage") and token not in (
            ":",
            ",",
            ">",
            "<",
            "=",
        ):
            found = token.value if token.type == "literal" else token.type
            raise RefusedCss(token, f"expected a condition such as (min-width: 860px); found {found}: write it without")


def _is_moment(token: Node) -> bool:
    return (
        token.type in ("whitespace", "percentage")
        or token == ","
        or (token.type == "ident" and token.lower_value in ("from", "to"))
    )


def _is_format(token: Node) -> bool:
    return bool(token.type == "function" and token.lower_name == "format")


def _is_address(token: Node) -> bool:
    return token.type == "url" or bool(token.type == "function" and token.lower_name == "url")
