"""Finds texts of pages and messages by words, for people who do not know their keys."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Final, NamedTuple

from app.kit.text.source_texts import text_keys
from app.kit.text.tenant_texts import Wording, our_wording
from app.kit.text.text_places import OTHER, PLACES, text_places

MAX_FOUND: Final = 7
"""Texts at once: with them the page fits into the first flight."""


class FoundTexts(NamedTuple):
    """Some of the texts that were looked for, by their places."""

    keys: list[str]
    start: int
    """How many of the texts are before these."""
    total: int
    """How many there are."""


def found_keys(tag: str, words: str, own: Mapping[str, Wording], place: str = "", start: int = 0) -> FoundTexts:
    """Return the texts that have all words, in our wording, the tenant's, or the key; without words and place, those that the tenant
    changed. At most `MAX_FOUND`, from the one at `start` on.

    Args:
        place: one of `PLACES`; any other for all texts.
    """
    parts, within = words.casefold().split(), text_places().get(place)
    if not parts and within is None:
        found = [key for key in own if key in text_keys().current]
    else:
        known = (key for key in _folded(tag) if within is None or key in within)
        found = [key for key in known if _has(parts, f"{_folded(tag)[key]} {_joined(own.get(key, ''))}".casefold())]
    found.sort(key=lambda key: PLACES.index(place_of(key)))
    start = start if 0 <= start < len(found) else 0
    return FoundTexts(found[start : start + MAX_FOUND], start, len(found))


def place_of(key: str, chosen: str = "") -> str:
    """Return the chosen place if it has a text, and the first one that has it otherwise."""
    return next((place for place in (chosen, *PLACES) if key in text_places().get(place, ())), OTHER)


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
