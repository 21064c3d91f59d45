"""Typography of texts that people read: apostrophes in published texts, and what stays on one line."""

from __future__ import annotations

import re
from typing import Any

_CODE = re.compile(r"(```.*?```|`[^`\n]*`)", re.DOTALL)
_APOSTROPHE = re.compile(r"(?<=\w)'")
_VALUES = frozenset({"value", "example", "default", "enum", "const"})


def typographic(text: str) -> str:
    """Return Markdown with typographic apostrophes, except in code."""
    parts = _CODE.split(text)
    return "".join(part if part.startswith("`") else _APOSTROPHE.sub("\u2019", part) for part in parts)


def unbroken(text: str) -> str:
    """Return a duration or a date with non-breaking spaces: a line never ends between a number and its unit."""
    return text.replace(" ", "\u00a0")


def with_typographic_descriptions(document: Any) -> Any:
    """Return an OpenAPI document with typographic apostrophes in descriptions. Values and summaries of examples stay as they are."""
    if isinstance(document, list):
        return [with_typographic_descriptions(item) for item in document]
    if not isinstance(document, dict):
        return document
    return {key: _typographic_member(key, item) for key, item in document.items()}


def _typographic_member(key: str, value: Any) -> Any:
    if key == "description" and isinstance(value, str):
        return typographic(value)
    if key == "properties" and isinstance(value, dict):
        return {name: with_typographic_descriptions(item) for name, item in value.items()}
    return value if key in _VALUES else with_typographic_descriptions(value)
