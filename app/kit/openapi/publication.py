"""The texts that a published document adds to its declarations: chapters, introduction, field descriptions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from app.kit.operations.operation import AnyOperation


@dataclass(frozen=True)
class Chapter:
    """A tag: the operations of some areas."""

    name: str
    description: str
    areas: tuple[str, ...]
    below: tuple[str, ...] = ("/",)
    """Only the operations whose path starts with one of these."""

    def holds(self, operation: AnyOperation) -> bool:
        return operation.area in self.areas and operation.path.startswith(self.below)


@dataclass(frozen=True)
class ChapterGroup:
    """Chapters under one heading, in their order; `description` is the sentence below it."""

    name: str
    chapters: tuple[Chapter, ...]
    description: str


@dataclass(frozen=True)
class Publication:
    """The texts of a document.

    Args:
        info: members of the Info Object (OpenAPI 3.1 section 4.8.2) beside title and version.
        groups: the chapters, in their order; an operation belongs to the first that holds it.
        describe: returns the description of a schema's property, or of a parameter (`Schema.name`), that has none; or "". The schema
            of an object within a field is `Schema.Field`.
        describe_schema: returns the description of a schema that has none; or "".
        extra: members of the document's root.
    """

    title: str = "Gatehouse"
    info: Mapping[str, Any] = field(default_factory=dict)
    groups: tuple[ChapterGroup, ...] = ()
    describe: Callable[[str, str], str] = lambda _model, _name: ""
    describe_schema: Callable[[str], str] = lambda _model: ""
    extra: Mapping[str, Any] = field(default_factory=dict)

    def tag_of(self, operation: AnyOperation) -> str:
        """Return the chapter of an operation; its area if no chapter holds it."""
        found = (chapter.name for group in self.groups for chapter in group.chapters if chapter.holds(operation))
        return next(found, operation.area)

    def tags(self, operations: Iterable[AnyOperation]) -> dict[str, Any]:
        """Return the document's `tags` and `x-tagGroups`, of those chapters that have operations."""
        used = {self.tag_of(operation) for operation in operations}
        chapters = [chapter for group in self.groups for chapter in group.chapters if chapter.name in used]
        rest = sorted(used - {chapter.name for chapter in chapters})
        tags: list[dict[str, str]] = [
            {"name": chapter.name, "description": chapter.description} for chapter in chapters
        ]
        grouped = [
            {
                "name": group.name,
                "description": group.description,
                "tags": [chapter.name for chapter in group.chapters if chapter.name in used],
            }
            for group in self.groups
        ]
        grouped = [group for group in grouped if group["tags"]]
        return {
            "tags": tags + [{"name": name} for name in rest],
            **({"x-tagGroups": grouped} if grouped else {}),
        }
