"""The source texts of pages and messages by key, the stable name by which a tenant's theme replaces a text.

`translations/keys.json` has the keys; `python -m tools.translations update` keeps it true to the sources.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

from app.kit.package_files import TRANSLATIONS

KEYS_FILE: Final = TRANSLATIONS / "keys.json"
_PLACEHOLDER: Final = re.compile(r"%\((\w+)\)[sd]")


def readable(text: str) -> str:
    """Return a format string as themes write it: `Sign in to {name}`."""
    return _PLACEHOLDER.sub(r"{\1}", text.replace("{", "{{").replace("}", "}}")).replace("%%", "%")


@dataclass(frozen=True, slots=True)
class SourceText:
    """A text in the source language, as the code names it."""

    text: str
    """In a plural, the text of one."""
    plural: str = ""
    """The text of other counts; empty for a text without forms."""
    context: str = ""
    """Distinguishes texts with the same words."""

    @property
    def placeholders(self) -> frozenset[str]:
        """The names of the values in the text."""
        return frozenset(_PLACEHOLDER.findall(self.text + self.plural))

    @property
    def readable(self) -> str:
        """The text as themes write it."""
        return readable(self.text)

    def to_json(self) -> Any:
        """Return the text alone, or an object if it has a plural or a context."""
        parts = {"text": self.text, "plural": self.plural, "context": self.context}
        return (
            self.text if not self.plural and not self.context else {name: part for name, part in parts.items() if part}
        )


@dataclass(frozen=True, slots=True, eq=False)
class TextKeys:
    """The content of `keys.json`. Only the same object is equal, so that it can be part of the key of a cache."""

    current: Mapping[str, SourceText]
    retired: Mapping[str, str]
    """Keys of texts that no page has any more, each with the key of the text in its place, or with nothing."""


def read_keys(path: Path = KEYS_FILE) -> TextKeys:
    """Return the keys in a file."""
    content = json.loads(path.read_text(encoding="utf-8"))
    current = {
        key: SourceText(**value) if isinstance(value, dict) else SourceText(value)
        for key, value in content["texts"].items()
    }
    return TextKeys(current, content["retired"])


@cache
def text_keys() -> TextKeys:
    """Return the keys of this version."""
    return read_keys()
