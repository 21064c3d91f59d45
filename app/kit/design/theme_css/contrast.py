"""Finds text and focus rings that a theme's CSS makes hard to see, in light and dark mode, each with the nearest color that passes.

It reads the style sheets alone: what stands on what is known for our classes from our own sheets, and for a theme's elements as far
as its selectors say it. What depends on a picture, a gradient or a mix of colors is left out. In forced colors, browsers choose all
colors, and a theme can't change that. A rule in a condition that the mode does not decide, such as a width, is checked as applied and as
not applied; a line is reported once for each mode, with its smallest contrast.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Final, NamedTuple

import tinycss2
from tinycss2.ast import Node

from app.kit.design.colour import WHITE, Colour
from app.kit.design.palette import SHAPE, TEXT, Pair
from app.kit.design.theme_css.bounds import OWN
from app.kit.design.theme_css.colours import Paint, PlainRule, Tokens, UndecidedColour, alternatives, plain_rules
from app.kit.design.theme_css.media import MODES

LARGE_TEXT: Final = 3.0
"""Minimum contrast of text of 24px and more (WCAG 2.2, 1.4.3)."""
MAX_CONDITIONS: Final = 16
"""Different conditions of a style sheet that are each checked alone; the others with all of them, and with none."""
_LARGE_PIXELS: Final = 24
_MODE_NAMES: Final = ("light", "dark")
_GROUNDS: Final = ("--canvas", "--raised", "--surface")
_SPLIT: Final = re.compile(r"\s*[>+~]\s*|\s+")
_SIBLING: Final = re.compile(r"[+~](?![^(]*\))")
_COMPOUND: Final = re.compile(
    r"(?P<element>[a-z][a-z0-9]*)?(?P<classes>(?:\.[\w-]+)*)(?P<states>(?::(?:hover|active|focus|focus-visible|visited|link))*)"
)
_INK: Final = ("--ink",)
_TEXTS: Final = ("--ink", "--muted", "--link")
"""Tokens of the texts that can be within an element of ours."""


class StyleProblem(NamedTuple):
    """What of a style sheet is hard to read: colors, or type of a fixed size."""

    line: int
    sentence: str


class _Weak(NamedTuple):
    """A problem with its contrast; the smallest is the worst."""

    ratio: float
    kind: str
    problem: StyleProblem


class _Target(NamedTuple):
    """An element: its name, its classes and its states."""

    element: str
    classes: frozenset[str]
    states: frozenset[str]

    @property
    def is_own(self) -> bool:
        """Whether it is an element of a theme's layout."""
        return any(name.startswith(OWN) for name in self.classes)

    def __str__(self) -> str:
        return (
            self.element
            + "".join(f".{name}" for name in sorted(self.classes))
            + "".join(f":{name}" for name in sorted(self.states))
        )

    def matches(self, other: _Target) -> bool:
        """Return whether each element as the other one is as this one, too."""
        return self.element in ("", other.element) and self.classes <= other.classes and self.states <= other.states


class _Situation(NamedTuple):
    """An element, and what is known about those around it."""

    target: _Target
    around: tuple[_Target, ...] = ()
    """From the outside to the inside."""


@dataclass(frozen=True)
class _Rule:
    """What a rule declares for one kind of element in one mode."""

    target: _Target
    around: tuple[_Target, ...]
    place: int
    """In the order of all rules; those of the theme come last."""
    declarations: Mapping[str, Node]
    is_theme: bool

    @property
    def rank(self) -> tuple[int, int, int]:
        """Its specificity, and its place."""
        parts = (*self.around, self.target)
        names = sum(len(part.classes) + len(part.states) for part in parts)
        return names, sum(bool(part.element) for part in parts), self.place


@dataclass
class _Sheets:
    """Our style sheets and then the theme's, in one mode."""

    mode: int
    tokens: Tokens
    always_around: AlwaysAround
    rules: list[_Rule] = field(default_factory=list)
    _by_class: dict[str, list[_Rule]] = field(default_factory=dict)
    """The rules by one of their classes; by an empty text without one."""
    variants: dict[_Target, set[_Target]] = field(default_factory=dict)
    """What `_variants` found for an element."""
    classes_around_texts: set[str] = field(default_factory=set)
    """Own classes that the theme colors texts within."""

    def add(self, rules: Sequence[PlainRule], *, is_theme: bool) -> None:
        for rule in rules:
            declarations = _shown(rule.declarations)
            for selector in (one for each in rule.selectors for one in alternatives(each)):
                found = _situation(selector)
                if is_theme and "color" in declarations and (found is None or found.around):
                    self.classes_around_texts |= {*re.findall(rf"\.({OWN}[\w-]+)", selector)}
                if declarations and found is not None:
                    made = _Rule(found.target, found.around, len(self.rules), declarations, is_theme)
                    self.rules.append(made)
                    self._by_class.setdefault(min(found.target.classes, default=""), []).append(made)

    def winner(self, at: _Situation, name: str) -> tuple[Node, bool] | None:
        """Return the declaration that wins for an element, and whether it is the theme's."""
        near = [rule for each in ("", *at.target.classes) for rule in self._by_class.get(each, ())]
        found = [rule for rule in near if name in rule.declarations and self._applies(rule, at)]
        best = max(found, key=lambda rule: rule.rank, default=None)
        return (best.declarations[name], best.is_theme) if best else None

    def _applies(self, rule: _Rule, at: _Situation) -> bool:
        """Return whether a rule is about an element for certain: by what is written around it, or by what pages have around it."""
        if not rule.target.matches(at.target):
            return False
        return not rule.around or all(
            any(part.matches(other) for other in at.around)
            or (not part.states and part.classes <= self._classes_around(at) and part.element in ("", "body"))
            for part in rule.around
        )

    def _classes_around(self, at: _Situation) -> frozenset[str]:
        return frozenset().union(*(self.always_around.get(name, ()) for name in at.target.classes))

    def paint(self, at: _Situation, name: str) -> Paint | None:
        """Return the color of an element's text or ground; None if no rule sets it. Raises UndecidedColour."""
        found = self.winner(at, name)
        if (
            found
            and name == "color"
            and [item.lower_value for item in found[0].value if item.type == "ident"] == ["inherit"]
        ):
            return None
        paint = self.tokens.paint(found[0].value, self.mode) if found else None
        return None if name == "background" and paint and not paint.opacity else paint

    def seen(self, at: _Situation, name: str) -> Paint | None:
        """Return the color of an element's text, or of what is behind it, if it or an element around it sets one."""
        paint = self.paint(at, name)
        if paint is not None or not at.around:
            return paint
        return self.seen(_Situation(at.around[-1], at.around[:-1]), name)

    def is_of_theme(self, at: _Situation, name: str) -> bool:
        """Return whether a declaration of the theme wins for an element."""
        found = self.winner(at, name)
        return found is not None and found[1]

    def decides(self, at: _Situation, declarations: Mapping[str, Node]) -> bool:
        """Return whether a rule with these declarations decides the colors of an element: a later rule that does has the problem."""
        won = [found for name in ("color", "background") if (found := self.winner(at, name)) and found[1]]
        lines = [item.source_line for item in declarations.values()]
        return bool(won) and max(item.source_line for item, _ in won) in lines

    def has_texts_of_theme(self, target: _Target) -> bool:
        """Return whether the theme colors texts within an element by its class."""
        return bool(target.classes & self.classes_around_texts)

    def page_grounds(self, *, is_own: bool) -> list[Colour]:
        """Return the grounds that an element without one can stand on: an own one also those of the theme's elements.

        Raises UndecidedColour if one of these is not known.
        """
        if not is_own:
            return [self.token(name) for name in _GROUNDS]
        canvas = self.token("--canvas")
        nodes = [
            rule.declarations["background"]
            for rule in self.rules
            if rule.is_theme and rule.target.is_own and "background" in rule.declarations
        ]
        paints = [self.tokens.paint(node.value, self.mode) for node in nodes]
        return [canvas, *dict.fromkeys(paint.over(canvas) for paint in paints if paint)]

    def token(self, name: str) -> Colour:
        """Return the color of a token of the palette."""
        paint = self.tokens.paint(tinycss2.parse_component_value_list(f"var({name})"), self.mode)
        return paint.colour if paint else WHITE


AlwaysAround = Mapping[str, Set[str]]
"""By class: the classes that every page with such an element has around it."""


def contrast_problems(
    css: str, ours: str, palette: Mapping[str, Pair], always_around: AlwaysAround
) -> list[StyleProblem]:
    """Return the pairs of colors below the contrast of WCAG 2.2 AA, by line.

    Args:
        css: the theme's style sheet, which `check.checked` accepts.
        ours: our style sheets, which it follows.
        palette: the tokens of the theme's color.
        always_around: of the theme's pages.
    """
    own, base = plain_rules(css), plain_rules(ours)
    worst: dict[tuple[int, int, str], _Weak] = {}
    for mode in MODES:
        for unmet in _cases(own, mode):
            rules, others = ([rule for rule in each if rule.applies(mode, unmet)] for each in (own, base))
            tokens = Tokens({(name, each): pair[each] for name, pair in palette.items() for each in MODES})
            tokens.add([rule for rule in others if not _sets(rule, palette)], mode)
            tokens.add(rules, mode)
            sheets = _Sheets(mode, tokens, always_around)
            sheets.add(others, is_theme=False)
            sheets.add(rules, is_theme=True)
            for rule in rules:
                for weak in _rule_problems(sheets, rule):
                    key = mode, weak.problem.line, weak.kind
                    worst[key] = min(weak, worst.get(key, weak))
    return sorted({weak.problem for weak in worst.values()}, key=lambda problem: (problem.line, problem.sentence))


def _cases(rules: Sequence[PlainRule], mode: int) -> Iterator[frozenset[str]]:
    """Yield the conditions that are unmet in each case to check: none of them, all, and all but those around a rule.

    What two conditions do together alone is not checked: the number of all cases doubles with each condition.
    """
    chains = dict.fromkeys(rule.conditions[mode] for rule in rules if rule.conditions.get(mode))
    every = frozenset(text for chain in chains for text in chain)
    yield from dict.fromkeys((frozenset(), every, *(every.difference(chain) for chain in [*chains][:MAX_CONDITIONS])))


def _sets(rule: PlainRule, palette: Mapping[str, Pair]) -> bool:
    return any(item.name in palette for item in rule.declarations)


def _shown(declarations: Sequence[Node]) -> dict[str, Node]:
    """Return the declarations of colors by name; `background` for each that sets the ground."""
    names = {"background-color": "background", "background-image": "image"}
    wanted = ("color", "background", "image", "outline-color", "font-size")
    return {name: item for item in declarations if (name := names.get(item.lower_name, item.lower_name)) in wanted}


def _target(selector: str) -> _Target | None:
    """Return the element of a selector without elements around it; None for one that is read no further."""
    match = _COMPOUND.fullmatch(selector)
    if match is None:
        return None
    states = frozenset(match["states"].split(":")) - {""}
    return _Target(match["element"] or "", frozenset(match["classes"].split(".")) - {""}, states)


def _situation(selector: str) -> _Situation | None:
    """Return what a selector is about; None for one that is read no further."""
    if _SIBLING.search(selector):
        return None
    parts = [_target(part) for part in _SPLIT.split(selector)]
    known = [part for part in parts if part is not None]
    return _Situation(known[-1], tuple(known[:-1])) if len(known) == len(parts) else None


def _rule_problems(sheets: _Sheets, rule: PlainRule) -> Iterator[_Weak]:
    """Yield the weak focus ring, and the least readable text of a rule."""
    declarations = _shown(rule.declarations)
    if "outline-color" in declarations:
        yield from _ring_problems(sheets, declarations["outline-color"])
    if {"color", "background"} & declarations.keys():
        found = {
            weak
            for selector in dict.fromkeys(one for each in rule.selectors for one in alternatives(each))
            for weak in _weak_texts(sheets, selector, declarations)
        }
        if found:
            yield _Weak(min(found).ratio, "text", min(found).problem(declarations, sheets.mode))


def _weak_texts(sheets: _Sheets, selector: str, declarations: Mapping[str, Node]) -> Iterator[_WeakText]:
    found = _situation(selector)
    if found is None:
        return
    for each in _variants(sheets, found.target):
        with contextlib.suppress(UndecidedColour):
            yield from _weak_texts_of(sheets, _Situation(each, found.around), declarations)


def _variants(sheets: _Sheets, target: _Target) -> set[_Target]:
    """Return the elements that a rule of the theme is about: with our modifiers, such as `button--plain`, and states."""
    if not target.classes or target.is_own:
        return {target}
    if (made := sheets.variants.get(target)) is not None:
        return made
    stems = tuple(f"{name}--" for name in target.classes)
    known = [rule.target for rule in sheets.rules if not rule.is_theme and rule.target.classes]
    modifiers = {name for item in known for name in item.classes if name.startswith(stems)}
    classes = {target.classes, *(target.classes | {name} for name in modifiers)}
    made = sheets.variants[target] = {
        _Target(target.element, each, target.states | states)
        for each in classes
        for states in {frozenset[str](), *(item.states for item in known if item.classes <= each)}
    }
    return made


class _WeakText(NamedTuple):
    """A text that is hard to read."""

    ratio: float
    least: float
    text: str
    ground: str
    better: str
    name: str
    """How a problem names the element, or the text in it."""

    def problem(self, declarations: Mapping[str, Node], mode: int) -> StyleProblem:
        changed = "color" if "color" in declarations else "background"
        return StyleProblem(
            declarations[changed].source_line,
            f"expected a contrast of at least {self.least:g}:1 in {_MODE_NAMES[mode]} mode; found {self.ratio:.2f}:1 for {self.name}, "
            f"{self.text} on {self.ground}: write {changed}: {self.better}, the nearest that passes",
        )


def _weak_texts_of(sheets: _Sheets, at: _Situation, declarations: Mapping[str, Node]) -> Iterator[_WeakText]:
    """Yield the texts of an element below the contrast that they need. Raises UndecidedColour."""
    target, around = at
    if "image" in declarations or sheets.is_of_theme(at, "image") or not sheets.decides(at, declarations):
        return
    ground, paint = sheets.seen(at, "background"), sheets.seen(at, "color")
    if paint is None and target.is_own and sheets.has_texts_of_theme(target):
        return
    grounds = (
        [ground.over(sheets.token("--canvas"))] if ground else sheets.page_grounds(is_own=target.is_own or bool(around))
    )
    least = LARGE_TEXT if _is_large(sheets, at) else TEXT
    texts = (
        {"": paint} if paint else {name: Paint(sheets.token(name), 1) for name in (_INK if target.is_own else _TEXTS)}
    )
    for name, text in texts.items():
        pairs = sorted((text.over(each).contrast(each), str(text.over(each)), str(each)) for each in grounds)
        worst, best = pairs[0], pairs[-1]
        if worst[0] >= least or (ground is None and (target.is_own or around) and best[0] >= least):
            continue
        seen, on = Colour.parse(worst[1]), Colour.parse(worst[2])
        others = grounds if ground is None and not target.is_own and not around else [on]
        better = seen.reaching(least, *others) if "color" in declarations else on.reaching(least, seen)
        yield _WeakText(worst[0], least, worst[1], worst[2], str(better), f"var({name}) in it" if name else str(target))


def _is_large(sheets: _Sheets, at: _Situation) -> bool:
    won = sheets.winner(at, "font-size")
    size = next((item for item in won[0].value if item.type == "dimension"), None) if won else None
    if size is None:
        return False
    return bool(size.value * {"px": 1, "rem": 16, "em": 16, "pt": 4 / 3}.get(size.lower_unit, 0) >= _LARGE_PIXELS)


def _ring_problems(sheets: _Sheets, node: Node) -> Iterator[_Weak]:
    """Yield a weak focus ring, which is on the ground of the page."""
    try:
        paint = sheets.tokens.paint(node.value, sheets.mode)
    except UndecidedColour:
        return
    if paint is None:
        return
    grounds = [sheets.token(name) for name in _GROUNDS]
    worst = min(grounds, key=lambda ground: paint.over(ground).contrast(ground))
    if (ratio := paint.over(worst).contrast(worst)) < SHAPE:
        problem = StyleProblem(
            node.source_line,
            f"expected a focus ring with a contrast of at least {SHAPE:g}:1 in {_MODE_NAMES[sheets.mode]} mode; found {ratio:.2f}:1, "
            f"{paint.over(worst)} on {worst}: write outline-color: {paint.over(worst).reaching(SHAPE, *grounds)}, the nearest that passes",
        )
        yield _Weak(ratio, "ring", problem)
