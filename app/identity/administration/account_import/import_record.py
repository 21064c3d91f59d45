"""One line of an import: a record of a file, read as an account."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import ValidationError

from app.contract.accounts.import_file import ImportedAccount
from app.identity.administration.configuration.file.validation_messages import sentence_of
from app.identity.administration.configuration.file.yaml_document import key_of
from app.kit.text.input_filter import has_control_character


class RecordRefused(Exception):
    """The record cannot be imported; the text has the reason."""


@dataclass(frozen=True)
class RecordPosition:
    """Where a record is: a line of an NDJSON file, or the number of an element."""

    number: int  # of the record in the whole import, from 1
    file: str
    line: int
    unit: str = "line"
    name: str = ""
    """The record's username, email or other name, so that an operator finds it; may be empty."""

    def __str__(self) -> str:
        return f"{self.file}: {self.unit} {self.line}" + (f" ({self.name})" if self.name else "")


@dataclass(frozen=True)
class MappedRecord:
    """The options that rename what a file names: roles, and connections of identities. An empty name leaves one out."""

    roles: Mapping[str, str] = field(default_factory=dict)
    connections: Mapping[str, str] = field(default_factory=dict)

    def role(self, name: str) -> str:
        return self.roles.get(name, name)

    def connection(self, name: str) -> str:
        return self.connections.get(name, name)


@dataclass
class ImportDraft:
    """The keys of an account as a translator reads them, and notes on omitted keys."""

    keys: dict[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def put(self, key: str, value: Any) -> None:
        """Set a key unless the value is missing or empty."""
        if value not in (None, "", [], ()):
            self.keys[key] = value


@dataclass(frozen=True)
class RecordReader:
    """A record, read: the account, or the sentence that refuses it."""

    place: RecordPosition
    account: ImportedAccount | None
    refusal: str = ""
    notes: tuple[str, ...] = ()


def refuse_unstorable(name: str, value: Any) -> None:
    """Raise RecordRefused where a text has characters that a database or another reader refuses; `value` is at most 64 levels deep."""
    if isinstance(value, str) and has_control_character(value):
        raise RecordRefused(f"{name}: expected text without control characters")
    if isinstance(value, dict):
        for key, item in value.items():
            refuse_unstorable(name, key)
            refuse_unstorable(f"{name}.{key}" if name else key, item)
    if isinstance(value, list | tuple):
        for number, item in enumerate(value):
            refuse_unstorable(f"{name}[{number}]", item)


def checked(place: RecordPosition, draft: ImportDraft) -> RecordReader:
    """Return the account of a draft, or raise RecordRefused with its problems; never names the value of a secret."""
    refuse_unstorable("", draft.keys)
    try:
        return RecordReader(place, ImportedAccount.model_validate(draft.keys), notes=tuple(draft.notes))
    except ValidationError as problem:
        return RecordReader(place, None, "; ".join(_sentences(problem)))


def _sentences(problem: ValidationError) -> Iterator[str]:
    for error in problem.errors()[:3]:
        path, sentence = sentence_of(dict(error))
        yield f"{key_of(path)}: {sentence}"
