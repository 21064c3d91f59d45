"""A hostile response: what it is, and the rule that must refuse it. Most are hostile in the same way at other entrances."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from app.identity.platform.saml.expectations import ExpectedResponse
from app.identity.platform.saml.saml_rules import SamlRule
from tests.support.saml.responses import expected, response

Translate = Callable[[bytes], bytes]
"""Takes a text of the good response, and returns what another good message has in its place."""
Edit = Callable[[bytes, Translate], bytes]
"""Takes the bytes of a good message, and returns a hostile one."""


class PartMissing(AssertionError):
    """A good message has no part that a case changes."""


@dataclass(frozen=True)
class Case:
    """A response that differs from a good one by one change."""

    rule: SamlRule
    name: str
    content: Callable[[], bytes]
    expected: Callable[[], ExpectedResponse] = field(default=expected)
    arguments: Mapping[str, Any] | None = None
    """Those of `response_tree` that make it, where nothing else does."""
    edit: Edit | None = None
    """What makes it of a good response, where nothing else does."""

    def __str__(self) -> str:
        return f"{self.rule}: {self.name}"


def case(rule: SamlRule, name: str, **arguments: Any) -> Case:
    """Return the case of a response that these arguments of `response_tree` make."""
    return Case(rule, name, lambda: response(**arguments), arguments=arguments)


def edited(rule: SamlRule, name: str, edit: Edit) -> Case:
    """Return the case of a good response whose bytes are changed."""
    return Case(rule, name, lambda: edit(response(), bytes), edit=edit)


def replaced(rule: SamlRule, name: str, old: bytes, new: bytes) -> Case:
    """Return the case of a good response in which some bytes are others."""

    def edit(good: bytes, translate: Translate) -> bytes:
        if translate(old) not in good:
            raise PartMissing(old)
        return good.replace(translate(old), translate(new), 1)

    return edited(rule, name, edit)


def prefixed(rule: SamlRule, name: str, prefix: bytes) -> Case:
    """Return the case of a good response behind some bytes."""
    return edited(rule, name, lambda good, translate: translate(prefix) + good)
