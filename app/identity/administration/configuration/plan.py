"""The plan of a configuration file: its changes, which never show a secret, and the writes that carry them out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from app.identity.administration.configuration.file.document import Path


class ChangeAction(StrEnum):
    """The change of one item."""

    CREATE = "create"
    CHANGE = "change"
    REMOVE = "remove"
    UNCHANGED = "unchanged"


_DONE = {
    ChangeAction.CREATE: "created", ChangeAction.CHANGE: "changed", ChangeAction.REMOVE: "removed", ChangeAction.UNCHANGED: "unchanged"
}  # fmt: skip


@dataclass(frozen=True)
class Change:
    """One line of a plan.

    Args:
        write: carries it out. An unchanged item has one where only what is stored of the file changes.
    """

    action: ChangeAction
    tenant: str
    kind: str  # tenant, application, account
    name: str
    details: tuple[str, ...] = ()
    write: Callable[[], object] | None = field(default=None, repr=False, compare=False)
    path: Path = field(default=(), repr=False, compare=False)  # where the file has the item

    def __str__(self) -> str:
        indent = "" if self.kind == "tenant" else "  "
        lines = [f"{indent}{self.kind} {self.name}".ljust(48) + f" {self.action}"]
        return "\n".join([*lines, *(f"{indent}    {detail}" for detail in self.details)])


@dataclass(frozen=True)
class Made:
    """A key or secret that was made because the file brings none: shown once."""

    owner: str
    key: str
    value: str = field(repr=False)

    def __str__(self) -> str:
        return f"{self.owner} {self.key}: {self.value}"


@dataclass
class ChangePlan:
    """The parts in the order of the file, and what was made on the way."""

    changes: list[Change] = field(default_factory=list)
    made: list[Made] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    @property
    def is_empty(self) -> bool:
        """Whether the file changes nothing."""
        return all(change.action is ChangeAction.UNCHANGED for change in self.changes)

    def count(self, action: ChangeAction) -> int:
        return Counter(change.action for change in self.changes)[action]

    def __str__(self) -> str:
        return self._shown(
            "Plan", {action: f"to {action}" for action in ChangeAction} | {ChangeAction.UNCHANGED: "unchanged"}
        )

    def as_done(self) -> str:
        """Return the text for a plan that was carried out."""
        return self._shown("Done", _DONE)

    def _shown(self, title: str, words: Mapping[ChangeAction, str]) -> str:
        counts = ", ".join(f"{self.count(action)} {words[action]}" for action in ChangeAction)
        return "\n".join([*map(str, self.changes), f"{title}: {counts}."])


def differences(before: Mapping[str, Any], after: Mapping[str, Any], prefix: str = "") -> Iterator[str]:
    """Yield `key: before -> after` for all that differs, members of maps one by one."""
    for key in sorted({*before, *after}):
        old, new = before.get(key), after.get(key)
        if old == new:
            continue
        if isinstance(old, Mapping) and isinstance(new, Mapping):
            yield from differences(old, new, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}: {shown(old)} -> {shown(new)}"


def shown(value: Any) -> str:
    """Return a value as plans show it."""
    if value is None:
        return "default"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(shown, value)) + "]"
    text = str(value)
    return text if len(text) <= 60 else text[:57] + "..."
