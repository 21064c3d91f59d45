"""The language of conditions: parses a text into an expression, and checks its types.

    account.created_days_ago < 7 and not account.email_domain in ['acme.example', 'acme.test']
    sign_in.is_new_country or request.ip in_network '203.0.113.0/24'

Comparison: `==`, `!=` of two values of one type; `<`, `<=`, `>`, `>=` of numbers; `in` and `not in` of a value and a list;
`in_network` of an address and a network, or a list of networks. Then `not`, `and`, `or`, in this order, and parentheses. Values are
texts in single or double quotes, numbers, `true`, `false`, lists, and the names of FACTS. There are no functions and no patterns:
the time of an evaluation is linear in the length of the text.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from ipaddress import ip_network
from typing import Any, Final, NamedTuple

from app.contract.workflows.expressions import (
    Comparison,
    Expression,
    InNetworks,
    Junction,
    Literal,
    Name,
    Network,
    Not,
)
from app.contract.workflows.facts import ADDRESS, FACTS, FLAG, NUMBER, NUMBERS, TEXT, TEXTS, ValueType

MAX_LENGTH: Final = 2_000
MAX_TOKENS: Final = 200
MAX_DEPTH: Final = 20
"""Of parentheses and `not` within one another."""
_TOKEN: Final = re.compile(
    r"""[ \t\n]*+(?:
      (?P<text>'[^'\n]*+'|"[^"\n]*+")
    | (?P<number>-?[0-9]{1,15}(?:\.[0-9]{1,6})?(?![\w.]))
    | (?P<word>[A-Za-z_][A-Za-z0-9_]*+(?:\.[A-Za-z0-9_]++)*+)
    | (?P<sign>==|!=|<=|>=|[<>()\[\],])
    | (?P<end>\Z)
    )""",
    re.VERBOSE,
)
_ORDERED: Final = frozenset({"<", "<=", ">", ">="})
_EQUAL: Final = frozenset({"==", "!="})
_KEYWORDS: Final = frozenset({"and", "or", "not", "in", "in_network", "true", "false"})
_ELEMENT: Final = {TEXTS: TEXT, NUMBERS: NUMBER}
_LIST: Final = {TEXT: TEXTS, NUMBER: NUMBERS}


class MalformedCondition(ValueError):
    """The condition has no meaning. `position` is the character, counted from 1."""

    def __init__(self, position: int, expected: str) -> None:
        super().__init__(f"at character {position}, {expected}")
        self.position = position
        self.expected = expected


class ConditionToken(NamedTuple):
    kind: str
    text: str
    position: int

    @property
    def shown(self) -> str:
        return f"'{self.text[:40]}'" if self.kind != "end" else "the end"


class Typed(NamedTuple):
    """An expression with its type and its place."""

    expression: Expression
    type: ValueType
    position: int


def parse(text: str) -> Expression:
    """Return the condition of a text. Raises MalformedCondition."""
    parser = _Parser(_tokens(text))
    condition = parser.flag(parser.disjunction)
    token = parser.next()
    if token.kind != "end":
        raise MalformedCondition(token.position, f"expected and, or, or the end; found {token.shown}")
    return condition.expression


def _tokens(text: str) -> list[ConditionToken]:
    if len(text) > MAX_LENGTH:
        raise MalformedCondition(MAX_LENGTH + 1, f"expected the end: a condition has at most {MAX_LENGTH} characters")
    tokens: list[ConditionToken] = []
    place = 0
    while not tokens or tokens[-1].kind != "end":
        found = _TOKEN.match(text, place)
        if found is None or found.lastgroup is None:
            start = place + len(text[place:]) - len(text[place:].lstrip(" \t\n"))
            raise MalformedCondition(start + 1, f"expected a name, a value or an operator; found {text[start]!r}")
        if len(tokens) == MAX_TOKENS:
            raise MalformedCondition(
                found.start(found.lastgroup) + 1, f"expected the end: a condition has at most {MAX_TOKENS} parts"
            )
        tokens.append(ConditionToken(found.lastgroup, found[found.lastgroup], found.start(found.lastgroup) + 1))
        place = found.end()
    return tokens


@dataclass
class _Parser:
    """A recursive descent over the tokens; the last one is the end."""

    tokens: list[ConditionToken]
    at: int = 0
    depth: int = 0

    def next(self) -> ConditionToken:
        """Return the next token and go on; the end stays."""
        token = self.tokens[self.at]
        self.at = min(self.at + 1, len(self.tokens) - 1)
        return token

    def takes(self, *texts: str) -> ConditionToken | None:
        """Return the next token and go on, if it is one of these words or signs."""
        token = self.tokens[self.at]
        return self.next() if token.kind in ("word", "sign") and token.text in texts else None

    def disjunction(self) -> Typed:
        return self._junction(self.conjunction, "or")

    def conjunction(self) -> Typed:
        return self._junction(self.negation, "and")

    def _junction(self, part: Callable[[], Typed], word: str) -> Typed:
        first = part()
        if not self._is_next(word):
            return first
        parts = [_require_flag(first)]
        while self.takes(word):
            parts.append(self.flag(part))
        return Typed(Junction(tuple(item.expression for item in parts), needs_all=word == "and"), FLAG, first.position)

    def negation(self) -> Typed:
        if (token := self.takes("not")) is None:
            return self.comparison()
        self._enter(token)
        part = self.flag(self.negation)
        self.depth -= 1
        return Typed(Not(part.expression), FLAG, token.position)

    def comparison(self) -> Typed:
        left = self.operand()
        if (token := self.takes(*_EQUAL, *_ORDERED, "in", "in_network", "not")) is None:
            return left
        if token.text == "in_network":
            return self._in_network(left)
        sign = token.text
        if sign == "not":
            if self.takes("in") is None:
                raise MalformedCondition(token.position, "expected and, or, an operator or the end; found 'not'")
            sign = "not in"
        right = self.operand()
        check = _check_in if sign in ("in", "not in") else _check_ordered if sign in _ORDERED else _check_equal
        check(left, right)
        return Typed(Comparison(left.expression, sign, right.expression), FLAG, left.position)

    def operand(self) -> Typed:
        token = self.next()
        if token.kind == "text":
            return Typed(Literal(token.text[1:-1]), TEXT, token.position)
        if token.kind == "number":
            return Typed(Literal(_number(token.text)), NUMBER, token.position)
        if token.kind == "word" and token.text in ("true", "false"):
            return Typed(Literal(token.text == "true"), FLAG, token.position)
        if token.text == "(" and token.kind == "sign":
            return self._parenthesis(token)
        if token.text == "[" and token.kind == "sign":
            return self._list(token)
        if token.kind == "word" and token.text not in _KEYWORDS:
            return _fact(token)
        raise MalformedCondition(token.position, f"expected a name or a value; found {token.shown}")

    def flag(self, part: Callable[[], Typed]) -> Typed:
        """Parse a part, and require that it is true or false."""
        return _require_flag(part())

    def _parenthesis(self, opening: ConditionToken) -> Typed:
        self._enter(opening)
        inner = self.disjunction()
        self._close(")")
        self.depth -= 1
        return inner._replace(position=opening.position)

    def _list(self, opening: ConditionToken) -> Typed:
        items = [self._element()]
        while self.takes(","):
            items.append(self._element())
            if items[-1].type is not items[0].type:
                raise _expected(items[-1], items[0].type.value)
        self._close("]")
        values: Any = tuple(item.expression.value({}) for item in items)
        return Typed(Literal(values), _LIST[items[0].type], opening.position)

    def _element(self) -> Typed:
        item = self.operand()
        if not isinstance(item.expression, Literal) or item.type not in _LIST:
            raise _expected(item, "a text in quotes or a number")
        return item

    def _in_network(self, left: Typed) -> Typed:
        if left.type is not ADDRESS:
            raise _expected(left, "request.ip before in_network")
        right = self.operand()
        content = right.expression.value({}) if isinstance(right.expression, Literal) else None
        texts = (content,) if isinstance(content, str) else content if right.type is TEXTS else None
        if not isinstance(texts, tuple):
            raise _expected(right, "a network in quotes, or a list of them")
        networks = tuple(_network(str(text), right) for text in texts)
        return Typed(InNetworks(left.expression, networks), FLAG, left.position)

    def _close(self, sign: str) -> None:
        token = self.next()
        if token.text != sign or token.kind != "sign":
            raise MalformedCondition(token.position, f"expected '{sign}'; found {token.shown}")

    def _enter(self, token: ConditionToken) -> None:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise MalformedCondition(token.position, f"expected at most {MAX_DEPTH} levels of parentheses and not")

    def _is_next(self, word: str) -> bool:
        token = self.tokens[self.at]
        return token.kind == "word" and token.text == word


def _fact(token: ConditionToken) -> Typed:
    fact = FACTS.get(token.text)
    if fact is None:
        raise MalformedCondition(token.position, f"expected the name of a fact; found {token.shown}")
    return Typed(Name(token.text), fact.type, token.position)


def _number(text: str) -> int | float:
    return float(text) if "." in text else int(text)


def _network(text: str, at: Typed) -> Network:
    try:
        return ip_network(text)
    except ValueError:
        raise _expected(
            at, "a network such as '192.0.2.0/24', '192.0.2.7' or '2001:db8::/32'", repr(text[:40])
        ) from None


def _require_flag(part: Typed) -> Typed:
    if part.type is not FLAG:
        raise _expected(part, "a comparison, or a fact that is true or false")
    return part


def _check_equal(left: Typed, right: Typed) -> None:
    for side in (left, right):
        if side.type not in (TEXT, NUMBER, FLAG):
            hint = "in_network instead of ==" if side.type is ADDRESS else "in instead of =="
            raise _expected(side, hint)
    if left.type is not right.type:
        raise _expected(right, left.type.value)


def _check_ordered(left: Typed, right: Typed) -> None:
    for side in (left, right):
        if side.type is not NUMBER:
            raise _expected(side, NUMBER.value)


def _check_in(left: Typed, right: Typed) -> None:
    element = _ELEMENT.get(right.type)
    if element is None:
        raise _expected(right, "a list after in")
    if left.type is not element:
        raise _expected(left, element.value)


def _expected(part: Typed, expected: str, found: str = "") -> MalformedCondition:
    return MalformedCondition(part.position, f"expected {expected}; found {found or part.type.value}")
