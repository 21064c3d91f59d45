"""The plan of a configuration file: its changes, which never show a secret, the writes that carry them out, and its problems."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from app.contract.applications.settings import ApplicationSettings
from app.contract.tenants.settings import Argon2
from app.identity.administration.configuration.file.yaml_document import ConfigurationProblem, KeyPath
from app.identity.platform.audit import AuditLog


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
    path: KeyPath = field(default=(), repr=False, compare=False)  # where the file has the item

    def __str__(self) -> str:
        indent = "" if self.kind == "tenant" else "  "
        lines = [f"{indent}{self.kind} {self.name}".ljust(48) + f" {self.action}"]
        return "\n".join([*lines, *(f"{indent}    {detail}" for detail in self.details)])


@dataclass(frozen=True)
class GeneratedSecret:
    """A key or secret that was made because the file brings none: shown once."""

    owner: str
    key: str
    value: str = field(repr=False)

    def __str__(self) -> str:
        return f"{self.owner} {self.key}: {self.value}"


@dataclass(frozen=True)
class NewPassword:
    """A password of the file that an account gets, to be hashed as the tenant's settings say."""

    password: str = field(repr=False)
    parameters: Argon2


@dataclass
class TenantPlan:
    """The plan of one tenant, filled by its sections. Without problems, the changes can be carried out in their order."""

    tenant_id: str
    named: dict[str, Any]
    """The keys that files named (`value_origins.Marks`): those of earlier files, and what the sections add."""
    named_before: dict[str, Any] | None
    """Those that are stored."""
    changes: list[Change] = field(default_factory=list)
    generated: list[GeneratedSecret] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    problems: list[ConfigurationProblem] = field(default_factory=list)
    sectors: list[tuple[KeyPath, ApplicationSettings]] = field(default_factory=list)
    """Applications whose `sector_identifier_uri` is to be fetched, and where the file has them."""
    workflow_choices: list[tuple[KeyPath, str]] = field(default_factory=list)
    """The workflows that applications name after the run, and where the file has them."""
    passwords: dict[KeyPath, NewPassword] = field(default_factory=dict)
    """By where the file has the account."""
    audits: list[AuditLog] = field(default_factory=list)
    """Where the changes record their events."""


@dataclass(frozen=True)
class ChangePlan:
    """The changes in the order of the file, and what was made on the way."""

    changes: list[Change]
    generated: list[GeneratedSecret]
    warnings: list[str]

    @classmethod
    def of(cls, tenants: Sequence[TenantPlan]) -> ChangePlan:
        return cls(
            [change for tenant in tenants for change in tenant.changes],
            [generated for tenant in tenants for generated in tenant.generated],
            [warning for tenant in tenants for warning in tenant.warnings],
        )

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


def changed_values(before: Mapping[str, Any], after: Mapping[str, Any], prefix: str = "") -> Iterator[str]:
    """Yield `key: before -> after` for all that differs, members of maps one by one."""
    for key in sorted({*before, *after}):
        old, new = before.get(key), after.get(key)
        if old == new:
            continue
        if isinstance(old, Mapping) and isinstance(new, Mapping):
            yield from changed_values(old, new, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}: {display_value(old)} -> {display_value(new)}"


def display_value(value: Any) -> str:
    """Return a value as plans show it."""
    if value is None:
        return "default"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(display_value, value)) + "]"
    text = str(value)
    return text if len(text) <= 60 else text[:57] + "..."
