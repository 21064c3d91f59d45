"""A hostile response: what it is, and the rule that must refuse it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from app.identity.platform.saml.expectations import ExpectedResponse
from app.identity.platform.saml.saml_rules import SamlRule
from tests.support.saml.responses import expected, response


@dataclass(frozen=True)
class Case:
    """A response that differs from a good one by one change."""

    rule: SamlRule
    name: str
    content: Callable[[], bytes]
    expected: Callable[[], ExpectedResponse] = field(default=expected)

    def __str__(self) -> str:
        return f"{self.rule}: {self.name}"


def case(rule: SamlRule, name: str, **arguments: Any) -> Case:
    """Return the case of a response that these arguments of `response_tree` make."""
    return Case(rule, name, lambda: response(**arguments))


def replaced(rule: SamlRule, name: str, old: bytes, new: bytes, **arguments: Any) -> Case:
    """Return the case of a good response in which some bytes are others."""

    def content() -> bytes:
        good = response(**arguments)
        assert old in good
        return good.replace(old, new, 1)

    return Case(rule, name, content)
