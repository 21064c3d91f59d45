"""The plan of a configuration file, which never shows a secret, and the run that plans or writes it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, NoReturn

from app.contract.applications.settings import ApplicationSettings
from app.identity.administration.configuration.file.document import ConfigurationError, Path
from app.identity.administration.configuration.file.reader import Configuration
from app.identity.platform.services import IdentityServices
from app.identity.platform.store.unit_of_work import UnitOfWork


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
    """One line of a plan."""

    action: ChangeAction
    tenant: str
    kind: str  # tenant, application, account
    name: str
    details: tuple[str, ...] = ()

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


@dataclass
class Run:
    """One pass over a configuration file; with `writes` each difference is written when it is found, else only planned."""

    services: IdentityServices
    work: UnitOfWork
    configuration: Configuration
    prune: bool
    writes: bool
    hashes: Mapping[tuple[str, str], str] = field(default_factory=dict)  # of passwords, by tenant and account
    plan: ChangePlan = field(default_factory=ChangePlan)
    sectors: list[tuple[Path, ApplicationSettings]] = field(default_factory=list)
    """Applications whose `sector_identifier_uri` is to be fetched, and where the file has them."""

    @property
    def now(self) -> datetime:
        return self.services.clock.now()

    def note(self, action: ChangeAction, tenant: str, kind: str, name: str, *details: str) -> None:
        """Add a line to the plan."""
        self.plan.changes.append(Change(action, tenant, kind, name, details))

    def refuse(self, path: Path, sentence: str) -> NoReturn:
        """Raise ConfigurationError with a problem at a key of the file."""
        document = self.configuration.document
        document.problem(path, sentence)
        raise ConfigurationError(document.problems)
