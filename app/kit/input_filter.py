"""What no request may hold (error 1214 of the interface): the one place that says which values are dangerous (decisions/0051).

Everywhere: control characters, and halves of a character, which no store keeps.
In an address, which never holds ordinary text: whatever opens a tag.
In a body, whose texts are people's own: what a browser would run or load, that is a script or a style element, or a tag
with an attribute that runs or loads. A `<` or a `&` alone is ordinary.
Never in a secret: nobody is shown it, and its letters are its owner's choice.

This is a tripwire. What keeps pages safe is that every output is escaped.
"""

from __future__ import annotations

import re
from typing import Any

_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")
_ANY_TAG = re.compile(r"<[A-Za-z!/?]")
_TAG = re.compile(r"<[A-Za-z]")
_ELEMENT = re.compile(r"</?(?:script|style)(?=[\s/>]|\Z)", re.IGNORECASE)
_ATTRIBUTE = re.compile(
    r"""[\s/"'](?:on[a-z]{3,}+|src|srcdoc|srcset|(?:xlink:)?href|action|formaction|data|style|background|poster|http-equiv
    |attributename)\s*+=""",
    re.IGNORECASE | re.VERBOSE,
)
_SECRET = re.compile(
    r"password|passwd|passphrase|secret|answer|(?:\A|_)(?:old|new|current|confirm)?_?pin\Z", re.IGNORECASE
)


def has_control_character(text: str) -> bool:
    """Return whether the text holds a character that none may hold."""
    return _CONTROL.search(text) is not None


def opens_tag(text: str) -> bool:
    """Return whether the text opens a tag of any kind."""
    return _ANY_TAG.search(text) is not None


def has_active_markup(text: str) -> bool:
    """Return whether a browser that took the text for HTML would run or load something. One pass, whatever the text."""
    if "<" not in text:
        return False
    tag = _TAG.search(text)
    return _ELEMENT.search(text) is not None or (tag is not None and _ATTRIBUTE.search(text, tag.end()) is not None)


def may_be_dangerous(body: bytes) -> bool:
    """Return whether a JSON text is worth a walk through its members."""
    return (
        b"<" in body
        or b"\\u00" in body
        or b"\\ud" in body.lower()
        or has_control_character(body.decode("utf-8", "replace"))
    )


def is_dangerous(value: Any, *, with_markup: bool) -> bool:
    """Return whether a body's member, or anything within it, is dangerous; `with_markup`: control characters are not all."""
    if isinstance(value, str):
        return has_control_character(value) or (with_markup and has_active_markup(value))
    if isinstance(value, dict):
        return any(
            is_dangerous(name, with_markup=with_markup)
            or is_dangerous(item, with_markup=with_markup and not _SECRET.search(name))
            for name, item in value.items()
        )
    return isinstance(value, list) and any(is_dangerous(item, with_markup=with_markup) for item in value)
