"""Search over operations, guides, errors and fields, for the search page and for the list that scripts show below its field."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from app.reference.document_index import Book
from app.reference.guides import Guide

Object = dict[str, Any]

CHAPTER: Final = "Chapter"
OPERATION: Final = "Operation"
GUIDE: Final = "Guide"
ERROR: Final = "Error"
FIELD: Final = "Field"
_KIND_SCORES: Final = {CHAPTER: 12, OPERATION: 12, GUIDE: 6, ERROR: 1, FIELD: 0}
_TITLE, _TITLE_START, _TITLE_PART, _DETAIL, _TEXT = 15, 11, 6, 4, 1
_EXACT: Final = {ERROR: 40, OPERATION: 40, CHAPTER: 10, GUIDE: 10, FIELD: 10}
MAX_QUERY: Final = 100
"""Characters of a query that are read."""


@dataclass(frozen=True)
class Entry:
    """What a search finds; `text` is searched but not shown."""

    kind: str
    title: str
    detail: str
    address: str
    text: str = ""
    method: str = ""
    _all: str = field(init=False, repr=False, compare=False, default="")

    def __post_init__(self) -> None:
        object.__setattr__(self, "_all", f"{self.title} {self.method} {self.detail} {self.text}".lower())

    def score(self, words: Mapping[str, re.Pattern[str]], query: str) -> int:
        """Return how well the entry fits; 0 if one of the words isn't in it.

        Args:
            words: the words of the query, each with the pattern that finds it at the beginning of a word, and what follows it there.
        """
        if not all(word in self._all for word in words):
            return 0
        title, detail = self.title.lower(), f"{self.method} {self.detail}".lower()
        points = sum(_points(word, begins, title, detail) for word, begins in words.items())
        is_exact = query in (title, title.partition(" ")[0], detail)
        return points + _KIND_SCORES[self.kind] + (_EXACT[self.kind] if is_exact else 0)


def _points(word: str, begins: re.Pattern[str], title: str, detail: str) -> int:
    if found := begins.search(title):
        return _TITLE_START if found[1] else _TITLE
    if word in title:
        return _TITLE_PART
    return _DETAIL if word in detail else _TEXT


class SearchIndex:
    """Everything that a search can find."""

    def __init__(self, entries: Iterable[Entry]) -> None:
        self._entries = tuple(entries)
        self.field_names: Final = frozenset(entry.title for entry in self._entries if entry.kind == FIELD)

    def find(self, query: str, limit: int) -> list[Entry]:
        """Return the entries that have all words of the query, the best first."""
        wanted = " ".join(query[:MAX_QUERY].lower().split())
        words = {word: re.compile(rf"(?:^|[^a-z0-9]){re.escape(word)}([a-z0-9]?)") for word in wanted.split()}
        if not words:
            return []
        scored = [(entry.score(words, wanted), entry) for entry in self._entries]
        found = sorted((pair for pair in scored if pair[0]), key=lambda pair: (-pair[0], len(pair[1].title)))
        return [entry for _, entry in found[:limit]]


def search_index(document: Object, book: Book, guides: Iterable[Guide]) -> SearchIndex:
    """Return the index over a document and the guides."""
    return SearchIndex([*_operations(book), *_guides(guides), *_errors(book), *_fields(document, book)])


def _operations(book: Book) -> Iterator[Entry]:
    for chapter in book.chapters.values():
        yield Entry(CHAPTER, chapter.name, chapter.description.partition("\n\n")[0], f"/docs/{chapter.slug}")
    for name, (chapter, entry) in book.places.items():
        text = " ".join((name, chapter.name, entry.description, *entry.also))
        yield Entry(OPERATION, entry.summary, entry.path, book.addresses[name], text, entry.method)


def _guides(guides: Iterable[Guide]) -> Iterator[Entry]:
    for guide in guides:
        for section in guide.sections:
            is_whole = section.level == 1
            address = guide.address if is_whole else f"{guide.address}#{section.anchor}"
            yield Entry(GUIDE, section.title, "" if is_whole else guide.title, address, section.text)


def _errors(book: Book) -> Iterator[Entry]:
    for code, errors in book.errors.by_code.items():
        meaning = " ".join(error.meaning for error in errors)
        yield Entry(ERROR, f"{code} {errors[0].message}", meaning, f"/docs/errors#{code}")


def _fields(document: Object, book: Book) -> Iterator[Entry]:
    """Yield each name of a field once, with the description that most operations give it and the first of these operations."""
    found: dict[str, dict[str, list[str]]] = {}
    schemas = document["components"]["schemas"]
    closures: dict[str, frozenset[str]] = {}
    stated = {entry["operationId"]: entry for methods in document["paths"].values() for entry in methods.values()}
    for name in book.places:
        entry = stated[name]
        answers = [answer for status, answer in entry["responses"].items() if status < "4"]
        used = _closures([entry.get("requestBody", {}), *answers], schemas, closures)
        own = {(item["name"], item.get("description", "")) for item in entry["parameters"]}
        for field_name, description in own.union(*(_properties(schemas[schema]) for schema in used)):
            found.setdefault(field_name, {}).setdefault(description, []).append(name)
    for field_name, places in sorted(found.items()):
        description, names = max(places.items(), key=lambda item: len(item[1]))
        first, more = book.places[names[0]][1].summary, sum(map(len, places.values())) - 1
        where = f"In “{first}”{f' and {more} more' if more else ''}."
        yield Entry(FIELD, field_name, f"{description} {where}".strip(), book.addresses[names[0]], " ".join(places))


def _closures(value: Any, schemas: Object, known: dict[str, frozenset[str]]) -> frozenset[str]:
    """Return the names of all schemas that a part of the document refers to, directly or through others."""
    return frozenset().union(*(_closure(name, schemas, known) for name in _references(value)))


def _closure(name: str, schemas: Object, known: dict[str, frozenset[str]]) -> frozenset[str]:
    """Return a schema's name and those of all schemas below it."""
    if name not in known:
        found, waiting = {name}, [name]
        while waiting:
            new = set(_references(schemas[waiting.pop()])) - found
            found |= new
            waiting += new
        known[name] = frozenset(found)
    return known[name]


def _references(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        target = value.get("$ref")
        if isinstance(target, str) and "/schemas/" in target:
            yield target.rpartition("/")[2]
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from _references(item)


def _properties(schema: Object) -> set[tuple[str, str]]:
    return {
        (name, item["description"]) for name, item in schema.get("properties", {}).items() if item.get("description")
    }
