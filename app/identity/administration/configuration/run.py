"""One pass over a configuration file: what its parts share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import NoReturn

from app.identity.administration.configuration.plan import Action, Change, Plan
from app.identity.administration.configuration.problems import ConfigurationError, Path
from app.identity.administration.configuration.reading import Configuration
from app.identity.platform.services import Services
from app.identity.platform.store.unit import UnitOfWork


@dataclass
class Run:
    """With `writes` every difference is written where it is found; without, only told."""

    services: Services
    work: UnitOfWork
    configuration: Configuration
    prune: bool
    writes: bool
    hashes: Mapping[tuple[str, str], str] = field(default_factory=dict)  # of passwords, by tenant and account
    plan: Plan = field(default_factory=Plan)

    @property
    def now(self) -> datetime:
        return self.services.clock.now()

    def note(self, action: Action, tenant: str, kind: str, name: str, *details: str) -> None:
        """Add a line to the plan."""
        self.plan.changes.append(Change(action, tenant, kind, name, details))

    def refuse(self, path: Path, sentence: str) -> NoReturn:
        """Give up at a key of the file."""
        document = self.configuration.document
        document.problem(path, sentence)
        raise ConfigurationError(document.problems)
