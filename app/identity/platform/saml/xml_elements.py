"""Reads children, texts, attributes and instants of verified elements. What is missing, doubled or of another form is refused."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from app.identity.platform.saml.saml_rules import SamlRefusal, SamlRule

if TYPE_CHECKING:
    from lxml.etree import _Element

_INSTANT: Final = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,12}))?Z", re.ASCII)
_MICROSECOND_DIGITS: Final = 6
_MAX_ATTRIBUTE_LENGTH: Final = 2_048


def children(parent: _Element, tag: str) -> list[_Element]:
    return [child for child in parent if child.tag == tag]


def only_child(parent: _Element, tag: str) -> _Element:
    """Return the child of this name. Raises SamlRefusal unless there is exactly one."""
    child = optional_child(parent, tag)
    if child is None:
        raise SamlRefusal(
            SamlRule.STRUCTURE, "An element is missing.", expected=f"{local_name(tag)} in {local_name(parent.tag)}"
        )
    return child


def optional_child(parent: _Element, tag: str) -> _Element | None:
    """Return the child of this name, or None. Raises SamlRefusal if there are several."""
    found = children(parent, tag)
    if len(found) > 1:
        raise SamlRefusal(
            SamlRule.STRUCTURE,
            "An element occurs more than once.",
            expected=f"one {local_name(tag)} in {local_name(parent.tag)}",
            received=str(len(found)),
        )
    return found[0] if found else None


def whole_text(element: _Element, max_length: int = 1_024) -> str:
    """Return the text of an element that has nothing but text, exactly as it stands.

    Text beside a child would be cut off by one reader and joined by another one. Space around it would make two subjects of one.
    """
    text = element.text or ""
    if len(element):
        raise SamlRefusal(
            SamlRule.TEXT, "An element that must have text alone has other nodes.", received=local_name(element.tag)
        )
    if not text or text != text.strip() or not text.isprintable():
        raise SamlRefusal(
            SamlRule.TEXT,
            "A text is empty, has space around it or control characters.",
            received=local_name(element.tag),
        )
    if len(text) > max_length:
        raise SamlRefusal(
            SamlRule.TEXT,
            "A text is too long.",
            expected=f"{local_name(element.tag)} of at most {max_length} characters",
            received=f"{len(text)} characters",
        )
    return text


def attribute(element: _Element, name: str) -> str:
    """Return an attribute. Raises SamlRefusal if it is missing or empty."""
    value = optional_attribute(element, name)
    if not value:
        raise SamlRefusal(
            SamlRule.STRUCTURE,
            "An attribute is missing.",
            expected=f"{name} of {local_name(element.tag)}",
            received=None,
        )
    return value


def optional_attribute(element: _Element, name: str, default: str = "") -> str:
    """Return an attribute, or the default if it is missing. Raises SamlRefusal for a long one, or one with control characters."""
    value = str(element.get(name, default))
    if len(value) > _MAX_ATTRIBUTE_LENGTH or not value.isprintable():
        raise SamlRefusal(
            SamlRule.TEXT,
            "An attribute is too long or has control characters.",
            expected=f"{name} of {local_name(element.tag)} of at most {_MAX_ATTRIBUTE_LENGTH} characters",
            received=f"{len(value)} characters",
        )
    return value


def instant(element: _Element, name: str) -> datetime:
    """Return the instant of an attribute, in UTC (saml-core-2.0 section 1.3.3). Raises SamlRefusal."""
    found = optional_instant(element, name)
    if found is None:
        raise SamlRefusal(
            SamlRule.CONDITIONS, "An instant is missing.", expected=f"{name} of {local_name(element.tag)}"
        )
    return found


def optional_instant(element: _Element, name: str) -> datetime | None:
    text = element.get(name)
    if text is None:
        return None
    match = _INSTANT.fullmatch(str(text))
    try:
        if match:
            fraction = (match[2] or "").ljust(_MICROSECOND_DIGITS, "0")[:_MICROSECOND_DIGITS]
            return datetime.fromisoformat(match[1]).replace(microsecond=int(fraction), tzinfo=UTC)
    except ValueError:
        pass  # a day or an hour that does not exist
    raise SamlRefusal(
        SamlRule.CONDITIONS,
        "An instant isn’t an XML date and time in UTC.",
        expected=f"{name} of {local_name(element.tag)} such as 2026-01-31T12:00:00Z",
        received=str(text),
    )


def boolean(element: _Element, name: str) -> bool:
    """Return an optional truth value; False if it is missing. Raises SamlRefusal."""
    value = element.get(name, "false")
    if value not in {"true", "false", "1", "0"}:
        raise SamlRefusal(SamlRule.REQUEST, f"{name} isn’t true or false.", received=value)
    return value in {"true", "1"}


def local_name(tag: object) -> str:
    return str(tag).rpartition("}")[2]
