"""Reads the selectors of a theme's CSS: refuses those that read what people type, and says which elements a rule is about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from tinycss2.ast import Node

from app.kit.design.theme_css.allowed import (
    ATTRIBUTES,
    COUNTING_FUNCTIONS,
    PSEUDO_CLASSES,
    PSEUDO_ELEMENTS,
    SELECTOR_FUNCTIONS,
)
from app.kit.design.theme_css.bounds import OWN
from app.kit.design.theme_css.tokens import RefusedCss

_COMBINATORS: Final = (">", "+", "~")
WITH_ICON: Final = frozenset({"row", "method", "empty", "back"})
"""Our classes whose elements have an icon beside their text; each link in `tabs` has one, too."""


@dataclass
class SelectorSubject:
    """The last compound of a selector: the elements that get the rule's declarations."""

    element: str = ""
    classes: set[str] = field(default_factory=set)
    pseudo_element: str = ""
    is_narrowed: bool = False
    """Whether `:is()` or `:where()` leaves only elements other than the root."""
    is_empty: bool = True
    before: SelectorSubject | None = None
    """The compound from which a combinator leads to it: an element around it, or one that precedes it. The root has neither."""
    combinator: str = ""
    """`>`, `+`, `~` or a space."""

    @property
    def own_classes(self) -> frozenset[str]:
        return frozenset(name for name in self.classes if name.startswith(OWN))

    @property
    def is_root(self) -> bool:
        """Whether it can be the root element, whose font size is `rem`."""
        if self.pseudo_element or self.before is not None:
            return False
        return self.element == "html" or (not self.classes and not self.is_narrowed and self.element in ("", "*"))

    @property
    def is_icon(self) -> bool:
        """Whether it is an icon beside a text, which says the same."""
        if self.element != "svg" or self.pseudo_element or self.before is None:
            return False
        return (self.combinator == ">" and bool(WITH_ICON & self.before.classes)) or "tabs" in self.around

    @property
    def around(self) -> frozenset[str]:
        """Its own classes and those of the elements around it."""
        is_within = self.before is not None and self.combinator in (">", " ")
        return frozenset(self.classes) | (self.before.around if is_within and self.before else frozenset())


def _after(before: SelectorSubject, combinator: str) -> SelectorSubject:
    return SelectorSubject(before=before, combinator=combinator)


def subjects(owner: Node, tokens: Sequence[Node], *, is_relative: bool = False) -> list[SelectorSubject]:
    """Return the subject of each selector of a list. Raises RefusedCss.

    Args:
        owner: the rule or function that has the list.
        is_relative: whether a selector may begin with a combinator, as in `:has()`.
    """
    found, is_next, may_lead = [SelectorSubject()], False, is_relative
    position = 0
    while position < len(tokens):
        token = tokens[position]
        if token.type == "whitespace":
            is_next = is_next or not found[-1].is_empty
        elif token in _COMBINATORS or token == ",":
            if found[-1].is_empty and (token == "," or not may_lead):
                raise RefusedCss(token, f"expected a selector before {token.value}; found none: finish or delete it")
            is_after = token != "," and not found[-1].is_empty
            found[len(found) - (token != ",") :] = [_after(found[-1], token.value) if is_after else SelectorSubject()]
            is_next, may_lead = False, is_relative and token == ","
        else:
            if is_next:
                found[-1], is_next = _after(found[-1], " "), False
            position += _simple(found[-1], token, tokens[position + 1 : position + 3])
            found[-1].is_empty = may_lead = False
        position += 1
    if found[-1].is_empty:
        raise RefusedCss(owner, "expected a selector such as .button; found none: finish or delete it")
    return found


def _simple(subject: SelectorSubject, token: Node, following: Sequence[Node]) -> int:
    """Add a simple selector to a compound and return how many further tokens it has. Raises RefusedCss."""
    if token == "." and following and following[0].type == "ident":
        subject.classes.add(following[0].value)
        return 1
    if token == ":" and following:
        return _pseudo(subject, following)
    if (token.type == "ident" or token == "*") and subject.is_empty:
        subject.element = token.value.lower()
        return 0
    if token.type == "[] block":
        return _attribute(token)
    if token.type == "hash":
        raise RefusedCss(
            token, f"expected a class or an element; found the id #{token.value}: ids change, select by class"
        )
    if token == "&":
        raise RefusedCss(
            token, "expected rules one after the other; found &: write the whole selector, such as .button:hover"
        )
    found = token.value if token.type == "literal" else token.type
    raise RefusedCss(
        token,
        f"expected a selector such as .button or .{OWN}hero > p; found {found}: delete it, or close what is before it",
    )


def _pseudo(subject: SelectorSubject, following: Sequence[Node]) -> int:
    first = following[0]
    if first == ":" and len(following) > 1:
        name = following[1]
        if name.type == "ident" and name.lower_value in PSEUDO_ELEMENTS:
            subject.pseudo_element = name.lower_value
            return 2
        raise RefusedCss(
            first,
            f"expected one of ::{', ::'.join(sorted(PSEUDO_ELEMENTS))}; found ::{_name(name)}: select the element itself",
        )
    if first.type == "function":
        return _pseudo_function(subject, first)
    if first.type == "ident" and first.lower_value in PSEUDO_ELEMENTS:
        raise RefusedCss(
            first, f"expected two colons before a pseudo-element; found :{first.value}: write ::{first.value}"
        )
    if first.type != "ident" or first.lower_value not in PSEUDO_CLASSES:
        raise RefusedCss(
            first,
            "expected a state such as :hover, :focus-visible, :checked or :disabled; "
            f"found :{_name(first)}: themes cannot read what people type",
        )
    return 1


def _pseudo_function(subject: SelectorSubject, token: Node) -> int:
    if token.lower_name in SELECTOR_FUNCTIONS:
        inner = subjects(token, token.arguments, is_relative=token.lower_name == "has")
        if token.lower_name in ("is", "where"):
            subject.is_narrowed = subject.is_narrowed or not any(one.is_root for one in inner)
    elif token.lower_name not in COUNTING_FUNCTIONS:
        raise RefusedCss(
            token, f"expected :is(), :not(), :where(), :has() or :nth-child(); found :{token.name}(): write it without"
        )
    elif any(
        part.type not in ("whitespace", "ident", "number", "dimension") and part not in ("+", "-")
        for part in token.arguments
    ):
        raise RefusedCss(
            token, f"expected a number or a language in :{token.name}(), such as 2n+1; found more: select by class"
        )
    return 1


def _attribute(token: Node) -> int:
    name = next((part for part in token.content if part.type != "whitespace"), None)
    if name is None or name.type != "ident" or name.lower_value not in ATTRIBUTES:
        raise RefusedCss(
            token,
            f"expected one of [{'], ['.join(sorted(ATTRIBUTES))}]; found [{_name(name)}]: "
            "other attributes hold what people typed, select by class",
        )
    return 0


def _name(node: Node | None) -> str:
    return str(getattr(node, "name", "") or getattr(node, "value", "")) if node is not None else ""
