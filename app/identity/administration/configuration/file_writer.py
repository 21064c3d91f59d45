"""Writes the items of a configuration file by the writer of requests, or checks them alone where a run plans."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from app.contract import errors as e
from app.identity.administration.configuration.file.document import Path
from app.identity.administration.configuration.plan import Run
from app.identity.administration.resources.writing import Writer
from app.identity.platform.context import Context
from app.identity.platform.resources.items import FILE, Item
from app.kit.operations.errors import ApiError
from app.kit.resources.resource import Resource


@dataclass(frozen=True)
class FileWriter:
    """Writes the items of one resource of one tenant. `is_new_tenant`: whether this run adds the tenant."""

    run: Run
    context: Context
    resource: Resource
    is_new_tenant: bool

    @cached_property
    def writer(self) -> Writer:
        taken = e.BadField("is already taken")
        return Writer(self.context, self.resource, e.BadField, taken, FILE, self.is_new_tenant)

    def write(self, path: Path, before: Item | None, after: Item) -> None:
        """Add an item, or change it from what it was before. Raises ConfigurationError for what an operation refuses, too."""
        try:
            self.writer.check(after)
            self.writer.complete(before, after)
            if self.run.writes:
                self.writer.put(before, after)
        except ApiError as refusal:
            self.run.refuse(path, refusal.description)

    def remove(self, item: Item) -> None:
        """Delete an item."""
        if self.run.writes:
            self.writer.remove(item)
