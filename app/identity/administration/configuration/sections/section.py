"""What the sections of a file share: the run that plans them, and the tenant that they are of."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import NoReturn

from app.contract import errors as e
from app.contract.applications.settings import ApplicationSettings
from app.contract.tenants.file import TenantFile
from app.identity.administration.configuration.file.document import ConfigurationError, Path
from app.identity.administration.configuration.file.reader import Configuration
from app.identity.administration.configuration.plan import Change, ChangeAction, ChangePlan
from app.identity.administration.configuration.value_origins import Marks
from app.identity.administration.resources.writing import Writer
from app.identity.platform.context import Context
from app.identity.platform.resources.items import FILE, Item
from app.identity.platform.services import IdentityServices
from app.identity.platform.store.unit_of_work import UnitOfWork
from app.kit.operations.errors import ApiError
from app.kit.resources.resource import Resource


@dataclass
class Run:
    """One pass over a configuration file. `hashes`: those of passwords, by tenant and account."""

    services: IdentityServices
    work: UnitOfWork
    configuration: Configuration
    prune: bool
    hashes: Mapping[tuple[str, str], str] = field(default_factory=dict)
    plan: ChangePlan = field(default_factory=ChangePlan)
    sectors: list[tuple[Path, ApplicationSettings]] = field(default_factory=list)
    """Applications whose `sector_identifier_uri` is to be fetched, and where the file has them."""

    @property
    def now(self) -> datetime:
        return self.services.clock.now()

    def refuse(self, path: Path, sentence: str) -> NoReturn:
        """Raise ConfigurationError with a problem at a key of the file."""
        document = self.configuration.document
        document.problem(path, sentence)
        raise ConfigurationError(document.problems)


@dataclass
class FileSection:
    """One part of a tenant in the file.

    Args:
        context: of the tenant, with its settings after this run.
        named: the keys that files named, this one's included once it is planned.
        is_new: whether this run adds the tenant.
    """

    run: Run
    declared: TenantFile
    path: Path
    context: Context
    named: Marks
    is_new: bool

    @property
    def work(self) -> UnitOfWork:
        return self.run.work

    def note(
        self,
        action: ChangeAction,
        kind: str,
        name: str,
        *details: str,
        write: Callable[[], object] | None = None,
        path: Path = (),
    ) -> None:
        """Add a change to the plan."""
        change = Change(action, self.declared.name, kind, name, details, write, path or self.path)
        self.run.plan.changes.append(change)

    def note_change(
        self, kind: str, name: str, details: Sequence[str], *notes: str, write: Callable[[], object], path: Path = ()
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

    def writer(self, resource: Resource) -> Writer:
        """Return the writer of a resource, which requests use too."""
        return Writer(self.context, resource, e.BadField, e.BadField("is already taken"), FILE, self.is_new)

    def check(self, writer: Writer, path: Path, before: Item | None, after: Item) -> None:
        """Check an item as an operation does. Raises ConfigurationError for what an operation refuses, too."""
        try:
            writer.check(after)
            writer.complete(before, after)
        except ApiError as refusal:
            self.run.refuse(path, refusal.description)
