"""Descriptions as paragraphs of plain, code and bold words: the only Markdown that descriptions of operations use."""

from __future__ import annotations

import re
from dataclasses import dataclass

_MARKED = re.compile(r"`([^`]+)`|\*\*(.+?)\*\*")


@dataclass(frozen=True)
class Words:
    """Some words of a paragraph, with their mark: "", `code` or `bold`."""

    text: str
    mark: str = ""


Paragraph = tuple[Words, ...]


def paragraphs(text: str) -> tuple[Paragraph, ...]:
    """Return the paragraphs of a description."""
    return tuple(_paragraph(part) for part in re.split(r"\n\s*\n", text.strip()) if part)


def _paragraph(text: str) -> Paragraph:
    words, done = [], 0
    for found in _MARKED.finditer(text):
        words.append(Words(text[done : found.start()]))
        words.append(Words(found[1], "code") if found[1] else Words(found[2], "bold"))
        done = found.end()
    return tuple(word for word in (*words, Words(text[done:])) if word.text)
