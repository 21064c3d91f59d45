"""What the sections of a file share: the run that plans them, and the tenant that they are of."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import NoReturn

from app.contract import errors
from app.contract.tenants.file import TenantFile
from app.identity.administration.configuration.file.read_configuration import Configuration
from app.identity.administration.configuration.file.yaml_document import ConfigurationError, KeyPath
from app.identity.administration.configuration.plan import Change, ChangeAction, GeneratedSecret, TenantPlan
from app.identity.administration.resource_operations.write_resources import Writer
from app.identity.directory.tenants.tenant_writes import TenantRow
from app.identity.platform.context import Context
from app.identity.platform.resource_storage.items import FILE, Item
from app.identity.platform.services import IdentityServices
from app.identity.platform.store.unit_of_work import UnitOfWork
from app.kit.operations.errors import ApiError
from app.kit.resources.resource import Resource


@dataclass(frozen=True)
class Run:
    """One pass over a configuration file. `hashes`: those of new passwords, by where the file has the account."""

    services: IdentityServices
    work: UnitOfWork
    configuration: Configuration
    prune: bool
    hashes: Mapping[KeyPath, str] = field(default_factory=dict)

    @property
    def now(self) -> datetime:
        return self.services.clock.now()


@dataclass
class FileSection:
    """One part of a tenant in the file.

    Args:
        stored: the tenant's row; None if this run adds the tenant.
        planned: what `plan` fills. Planning writes nothing.
    """

    run: Run
    declared: TenantFile
    path: KeyPath
    stored: TenantRow | None
    planned: TenantPlan

    @property
    def work(self) -> UnitOfWork:
        return self.run.work

    def refuse(self, path: KeyPath, sentence: str) -> NoReturn:
        """Raise ConfigurationError with a problem at a key of the file."""
        raise ConfigurationError([self.run.configuration.document.problem_at(path, sentence)])

    def add_problem(self, path: KeyPath, sentence: str) -> None:
        """Add a problem to the plan, which goes on: an operator sees all problems at once."""
        self.planned.problems.append(self.run.configuration.document.problem_at(path, sentence))

    @contextmanager
    def collecting_problems(self) -> Generator[None, None, None]:
        """Add what the block refuses to the problems of the plan, which goes on after the block."""
        try:
            yield
        except ConfigurationError as refusal:
            self.planned.problems.extend(refusal.problems)

    def note(
        self,
        action: ChangeAction,
        kind: str,
        name: str,
        *details: str,
        write: Callable[[], object] | None = None,
        path: KeyPath = (),
    ) -> None:
        """Add a change to the plan."""
        self.planned.changes.append(Change(action, self.declared.name, kind, name, details, write, path or self.path))

    def note_change(
        self, kind: str, name: str, details: Sequence[str], *notes: str, write: Callable[[], object], path: KeyPath = ()
    ) -> None:
        """Add the change of a stored item to the plan: unchanged if no details differ. `notes` are shown, but change nothing."""
        action = ChangeAction.CHANGE if details else ChangeAction.UNCHANGED
        self.note(action, kind, name, *details, *notes, write=write if details else None, path=path)

    def note_left(self, kind: str, name: str, *, write: Callable[[], object]) -> None:
        """Add to the plan what happens to a stored item that the file does not list: with `prune`, `write` removes it."""
        if self.run.prune:
            self.note(ChangeAction.REMOVE, kind, name, write=write)
        else:
            self.note(ChangeAction.UNCHANGED, kind, name, "not in the file; remove it with --prune")

    def note_generated(self, owner: str, key: str, value: str) -> None:
        """Add a key or secret to the plan that was made because the file brings none."""
        self.planned.generated.append(GeneratedSecret(owner, key, value))


@dataclass
class ItemSection(FileSection):
    """A section whose items are checked and written as by operations.

    Args:
        context: of the tenant as it is after this run.
    """

    context: Context

    def writer(self, resource: Resource) -> Writer:
        """Return the writer of a resource, which requests use too."""
        return Writer(
            self.context,
            resource,
            errors.BadField,
            errors.BadField("is already taken"),
            FILE,
            is_new_tenant=self.stored is None,
        )

    def check(self, writer: Writer, path: KeyPath, before: Item | None, after: Item) -> None:
        """Check an item as an operation does. Raises ConfigurationError for what an operation refuses, too."""
        try:
            writer.check(after)
            writer.complete(before, after)
        except ApiError as refusal:
            self.refuse(path, refusal.description)
