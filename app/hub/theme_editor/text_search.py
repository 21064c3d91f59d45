"""Finds texts of pages and messages by words, for people who do not know their keys."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Final

from app.kit.text.source_texts import text_keys
from app.kit.text.tenant_texts import Wording, our_wording

MAX_FOUND: Final = 25
"""Texts of one search."""


def found_keys(tag: str, words: str, own: Mapping[str, Wording]) -> list[str]:
    """Return the keys of texts that have all words, in our wording, the tenant's, or the key; without words, those that the tenant
    changed. At most `MAX_FOUND`.
    """
    parts = words.casefold().split()
    if not parts:
        return [key for key in own if key in text_keys().current][:MAX_FOUND]
    found = (key for key, ours in _folded(tag).items() if _has(parts, f"{ours} {_joined(own.get(key, ''))}".casefold()))
    return [key for key, _ in zip(found, range(MAX_FOUND), strict=False)]


def forms_of(wording: Wording) -> Iterator[tuple[str, str]]:
    """Yield the plural categories of a text, each with its form; an empty category for a text without forms."""
    yield from (("", wording),) if isinstance(wording, str) else wording.items()


def _has(parts: list[str], text: str) -> bool:
    return all(part in text for part in parts)


def _joined(wording: Wording) -> str:
    return " ".join(form for _, form in forms_of(wording))


@lru_cache(maxsize=8)
def _folded(tag: str) -> dict[str, str]:
    """Return what each text says in a language, with its key, in lower case."""
    return {key: f"{key} {_joined(our_wording(source, tag))}".casefold() for key, source in text_keys().current.items()}
