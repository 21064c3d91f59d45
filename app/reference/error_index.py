"""The errors of an OpenAPI document: what each means, and which operations answer it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

Object = dict[str, Any]

_COMMON_SHARE: Final = 5
"""An error that one operation in so many answers says nothing about a single one."""
_OWN: Final = 8


@dataclass(frozen=True)
class PublishedError:
    """An error with its statuses and the names of the operations that answer it; `meaning` says how to mend it, too."""

    code: str
    message: str
    meaning: str
    statuses: tuple[str, ...]
    operations: tuple[str, ...]


@dataclass(frozen=True)
class ErrorIndex:
    """The errors by name, in the order of their codes."""

    errors: Mapping[str, PublishedError]
    operation_count: int

    @cached_property
    def by_code(self) -> dict[str, tuple[PublishedError, ...]]:
        """The errors of each code: several where one code has several meanings."""
        found: dict[str, tuple[PublishedError, ...]] = {}
        for error in self.errors.values():
            found[error.code] = (*found.get(error.code, ()), error)
        return found

    @cached_property
    def _of_operations(self) -> dict[str, list[PublishedError]]:
        found: dict[str, list[PublishedError]] = {}
        for error in self.errors.values():
            for operation in error.operations:
                found.setdefault(operation, []).append(error)
        return found

    def of_operation(self, operation: str) -> tuple[list[PublishedError], list[PublishedError]]:
        """Return the errors that say most about an operation, those that few others answer, and the rest."""
        ranked = sorted(self._of_operations.get(operation, ()), key=lambda error: len(error.operations))
        own = [error for error in ranked if len(error.operations) * _COMMON_SHARE <= self.operation_count][:_OWN]
        by_code = self._of_operations.get(operation, ())
        return [error for error in by_code if error in own], [error for error in by_code if error not in own]


def error_index(document: Object) -> ErrorIndex:
    """Return the errors of a document; those that no operation answers are left out."""
    entries = [entry for methods in document["paths"].values() for entry in methods.values()]
    places: dict[str, dict[str, None]] = {}
    statuses: dict[str, set[str]] = {}
    for entry in entries:
        for status, name in _answered(entry):
            places.setdefault(name, {})[entry["operationId"]] = None
            statuses.setdefault(name, set()).add(status)
    examples = document["components"]["examples"]
    errors = {
        name: _error(example, sorted(statuses[name]), places[name])
        for name, example in examples.items()
        if name in places
    }
    return ErrorIndex(errors, len(entries))


def _answered(entry: Object) -> Iterator[tuple[str, str]]:
    for status, response in entry["responses"].items():
        for content in response.get("content", {}).values():
            for example in content.get("examples", {}).values():
                if "$ref" in example:
                    yield status, example["$ref"].rpartition("/")[2]


def _error(example: Object, statuses: Iterable[str], operations: Iterable[str]) -> PublishedError:
    """Return the error; its summary is its code and its message."""
    code, _, message = example["summary"].partition(" ")
    return PublishedError(code, message, example["description"], tuple(statuses), tuple(operations))
