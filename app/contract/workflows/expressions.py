"""Parsed conditions, and their evaluation.

Evaluation never raises. A fact that is unknown, or of another type than declared, is absent; every comparison with an absent
value is false, `!=` and `not in` included. A flag that is absent is false.
"""

from __future__ import annotations

import math
import operator
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network, ip_address
from typing import Any, Final

from app.contract.workflows.facts import ADDRESS, FACTS, FLAG, NUMBER, TEXT, ValueType

Facts = Mapping[str, object]
"""The known facts of a sign-in by name."""
Value = str | int | float | bool | tuple[str, ...] | tuple[int | float, ...]
Network = IPv4Network | IPv6Network


class Expression(ABC):
    """A part of a condition."""

    @abstractmethod
    def value(self, facts: Facts) -> Value | None:
        """Return the value; None if it is absent."""

    def is_true(self, facts: Facts) -> bool:
        """Return whether the value is true; an absent one is not."""
        return self.value(facts) is True

    def names(self) -> Iterator[str]:
        """Yield the names of facts in the expression."""
        yield from ()


@dataclass(frozen=True)
class Literal(Expression):
    """A value in the condition's text."""

    content: Value

    def value(self, facts: Facts) -> Value:  # noqa: ARG002 - Expression
        return self.content


@dataclass(frozen=True)
class Name(Expression):
    """A fact."""

    name: str

    def value(self, facts: Facts) -> Value | None:
        return _typed(facts.get(self.name), FACTS[self.name].type)

    def names(self) -> Iterator[str]:
        yield self.name


@dataclass(frozen=True)
class Comparison(Expression):
    """Two values compared by an operator of COMPARISONS."""

    left: Expression
    operator: str
    right: Expression

    def value(self, facts: Facts) -> bool:
        left, right = self.left.value(facts), self.right.value(facts)
        return left is not None and right is not None and COMPARISONS[self.operator](left, right)

    def names(self) -> Iterator[str]:
        yield from self.left.names()
        yield from self.right.names()


@dataclass(frozen=True)
class InNetworks(Expression):
    """Whether an address is in one of the networks."""

    address: Expression
    networks: tuple[Network, ...]

    def value(self, facts: Facts) -> bool:
        text = self.address.value(facts)
        try:
            address = ip_address(str(text))
        except ValueError:
            return False
        address = getattr(address, "ipv4_mapped", None) or address
        return any(address in network for network in self.networks)

    def names(self) -> Iterator[str]:
        yield from self.address.names()


@dataclass(frozen=True)
class Not(Expression):
    """True where the part is not."""

    part: Expression

    def value(self, facts: Facts) -> bool:
        return not self.part.is_true(facts)

    def names(self) -> Iterator[str]:
        yield from self.part.names()


@dataclass(frozen=True)
class Junction(Expression):
    """True where all parts are (`and`), or any (`or`)."""

    parts: tuple[Expression, ...]
    needs_all: bool

    def value(self, facts: Facts) -> bool:
        decide = all if self.needs_all else any
        return decide(part.is_true(facts) for part in self.parts)

    def names(self) -> Iterator[str]:
        for part in self.parts:
            yield from part.names()


def _contains(left: object, right: object) -> bool:
    return isinstance(right, tuple) and left in right


def _contains_not(left: object, right: object) -> bool:
    return isinstance(right, tuple) and left not in right


COMPARISONS: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "in": _contains,
    "not in": _contains_not,
}


def _typed(fact: object, declared_type: ValueType) -> Value | None:
    """Return a fact if it has its declared type; None otherwise."""
    if declared_type in (TEXT, ADDRESS):
        return fact if isinstance(fact, str) else None
    if declared_type is FLAG:
        return fact if isinstance(fact, bool) else None
    if declared_type is NUMBER:
        is_number = isinstance(fact, int | float) and not isinstance(fact, bool)
        return fact if is_number and not (isinstance(fact, float) and math.isnan(fact)) else None  # type: ignore[return-value] # as checked
    if not isinstance(fact, list | tuple | set | frozenset):
        return None
    return tuple(item for item in fact if isinstance(item, str))
