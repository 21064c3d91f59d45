"""The chapters and operations of an OpenAPI document, as the pages show them."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

from app.reference.error_index import ErrorIndex, error_index
from app.reference.markdown import operation_key
from app.reference.operation_document import excerpt

Object = dict[str, Any]

CREDENTIALS = {
    "ApiKey": "API key",
    "ApiSecret": "API secret",
    "AccessToken": "Access token",
    "MachineToken": "Machine token",
    "ClientCredentials": "Client credentials",
    "ClientId": "Client ID",
    "ClientSecret": "Client secret",
}
"""What people call the security schemes."""


@dataclass(frozen=True)
class PublishedOperation:
    """An operation."""

    name: str
    method: str
    path: str
    summary: str
    description: str
    auth_alternatives: tuple[tuple[str, ...], ...]
    """The names of the credentials that are needed together, for each way to authenticate; an empty one needs none."""
    also: tuple[str, ...]
    is_at_tenant: bool

    @property
    def schemes(self) -> tuple[str, ...]:
        """Every credential of any way, once."""
        return tuple(dict.fromkeys(name for alternative in self.auth_alternatives for name in alternative))


@dataclass(frozen=True)
class PublishedChapter:
    """A tag of the document, with its operations."""

    name: str
    slug: str
    description: str
    entries: tuple[PublishedOperation, ...]
    packed: bytes
    """The part of the document that describes these operations, compressed: the whole takes tens of megabytes of memory."""

    def document(self) -> Object:
        """Return that part; do not change it, the next operation of the chapter gets the same."""
        return _unpacked(self.packed)


@dataclass(frozen=True)
class PublishedGroup:
    """Chapters under one heading, with the sentence below it."""

    name: str
    description: str
    chapters: tuple[PublishedChapter, ...]


@dataclass(frozen=True)
class Book:
    """The document's chapters, by their groups."""

    info: Object
    schemes: Mapping[str, Object]
    groups: tuple[PublishedGroup, ...]
    errors: ErrorIndex

    @cached_property
    def chapters(self) -> dict[str, PublishedChapter]:
        """The chapters by slug, in their order."""
        return {chapter.slug: chapter for group in self.groups for chapter in group.chapters}

    @cached_property
    def places(self) -> dict[str, tuple[PublishedChapter, PublishedOperation]]:
        """Each operation and its chapter, by the operation's name."""
        return {entry.name: (chapter, entry) for chapter in self.chapters.values() for entry in chapter.entries}

    @cached_property
    def addresses(self) -> dict[str, str]:
        """The address of each operation's page, by the operation's name."""
        return {name: f"/docs/{chapter.slug}/{name}" for name, (chapter, _) in self.places.items()}

    @cached_property
    def by_code_span(self) -> dict[str, str]:
        """The address of the operation that a text names by method and path, or by a path that no other operation has."""
        found: dict[str, set[str]] = {}
        for name, (_, entry) in self.places.items():
            for named in (f"{entry.method} {entry.path}", *entry.also):
                for key in (named, named.partition(" ")[2]):
                    found.setdefault(operation_key(key), set()).add(self.addresses[name])
        return {key: next(iter(addresses)) for key, addresses in found.items() if len(addresses) == 1}


@lru_cache(maxsize=1)
def _unpacked(packed: bytes) -> Object:
    unpacked: Object = json.loads(zlib.decompress(packed))
    return unpacked


def book(document: Object) -> Book:
    """Return the chapters of a document."""
    stored = {tag["name"]: _chapter(document, tag) for tag in document["tags"]}
    groups = tuple(
        PublishedGroup(group["name"], group["description"], tuple(stored[name] for name in group["tags"]))
        for group in document["x-tagGroups"]
    )
    return Book(document["info"], document["components"]["securitySchemes"], groups, error_index(document))


def _chapter(document: Object, tag: Object) -> PublishedChapter:
    found = list(_tagged(document["paths"], tag["name"]))
    part = excerpt(document, {path: methods for path, methods, _ in found})
    text = json.dumps(part, ensure_ascii=False, separators=(",", ":")).encode()
    entries = tuple(entry for _, _, entries in found for entry in entries)
    slug = tag["name"].lower().replace(" ", "-")
    return PublishedChapter(tag["name"], slug, tag.get("description", ""), entries, zlib.compress(text, 6))


def _tagged(paths: Object, tag: str) -> Iterator[tuple[str, Object, list[PublishedOperation]]]:
    for path, methods in paths.items():
        ours = {method: entry for method, entry in methods.items() if entry["tags"][0] == tag}
        if ours:
            yield path, ours, [_entry(path, method, entry) for method, entry in ours.items()]


def _entry(path: str, method: str, entry: Object) -> PublishedOperation:
    return PublishedOperation(
        name=entry["operationId"],
        method=method.upper(),
        path=path,
        summary=entry["summary"],
        description=entry.get("description", ""),
        auth_alternatives=tuple(tuple(requirement) for requirement in entry["security"]),
        also=tuple(entry.get("x-also-at", ())),
        is_at_tenant="servers" in entry,
    )
