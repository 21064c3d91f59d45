"""Writes items of resources, for requests and for configuration files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy.exc import IntegrityError

from app.identity.administration.resource_operations.resource_registry import rules_of, store_of
from app.identity.administration.settings_store import SettingsRefused
from app.identity.directory.tenants import tenant_writes
from app.identity.platform.context import Context
from app.identity.platform.resource_storage.items import Item, Store, StoreAccess
from app.identity.platform.resource_storage.rules import Change, Rules
from app.kit.operations.errors import ApiError
from app.kit.resources import resource_values
from app.kit.resources.resource import Resource
from app.kit.resources.resource_values import value_at


@dataclass(frozen=True)
class Writer:
    """Validates, completes, stores and audits the items of one resource. The tenant is locked."""

    context: Context
    resource: Resource
    bad: type[ApiError]
    """The error of a malformed field."""
    taken: ApiError
    """The error of an id or of unique values that another item has."""
    source: str | None = None
    """Where a change comes from, for the audit log, if not from a request."""
    is_new_tenant: bool = False
    """Whether the same transaction adds the tenant: no cache has it, so that its version stays."""

    @property
    def rules(self) -> Rules:
        return rules_of(self.resource)

    @property
    def store(self) -> Store:
        return store_of(self.resource)

    @property
    def access(self) -> StoreAccess:
        return StoreAccess.of(self.context)

    def refuse_taken(self, item: Item) -> None:
        """Refuse a new item whose id or unique values another item has. Raises `taken`."""
        if self.store.item(self.access, self.resource, item.id) is not None:
            raise self.taken
        self.refuse_duplicate(item)

    def refuse_duplicate(self, item: Item) -> None:
        """Refuse unique values that another item has. Raises `taken`."""
        if self.resource.unique:
            same = self.store.find_by_unique_key(self.access, self.resource, item)
            if same is not None and same.id != item.id:
                raise self.taken

    def write(self, before: Item | None, after: Item, event: str = "changed") -> None:
        """Add a checked item, or replace the item that was stored before."""
        self.complete(before, after)
        self.check_together([(before, after)])
        self._refuse_values_of_others(after)
        self.put(before, after, event)

    def remove(self, item: Item) -> None:
        """Delete an item."""
        self.refuse_removal(item)
        try:
            self.store.remove(self.access, self.resource, item.id)
        except SettingsRefused as problem:
            raise self.bad(f"{problem}.") from None
        self._note("removed", item)
        if self.rules.after_delete is not None:
            self.rules.after_delete(self.context, item)

    def check(self, item: Item) -> None:
        """Refuse malformed content; the error names each problem, and the fields as requests spell them."""
        content = resource_values.checked(self.resource, item.content, self.bad)
        problems = self.rules.problems_of(content, self.context.tenant.settings)
        refusals = [
            resource_values.refusal(self.resource, tuple(key.split(".")), f"expected {sentence}.", self.bad)
            for key, sentence in problems
        ]
        if refusals and isinstance(refusals[0], self.bad):
            raise self.bad(" ".join(error.description for error in refusals if isinstance(error, self.bad)))
        if refusals:
            raise refusals[0]

    def complete(self, before: Item | None, after: Item) -> None:
        """Complete a checked item by its rules, or refuse it. Writes nothing that a dry run must not.

        Raises MachineRefused for a program that lacks a power of the item, and what the rules say.
        """
        items = (after,) if before is None else (before, after)
        self.rules.require_powers(self.context, *items)
        if self.rules.before_write is not None:
            self.rules.before_write(self.context, before, after)

    def check_together(self, changes: Sequence[Change]) -> None:
        """Refuse what all items come to after these changes; raises what the rules say."""
        if changes and self.rules.together is not None:
            self.rules.together(self.context, changes)

    def put(self, before: Item | None, after: Item, event: str = "changed") -> None:
        """Store a completed item, tell every cache, and audit the write."""
        if (version := self.resource.version) is not None:
            resource_values.put_at(after.content, version.path, self._number(before, after))
        try:
            (self.store.add if before is None else self.store.change)(self.access, self.resource, after)
        except IntegrityError:
            raise self.taken from None
        except SettingsRefused as problem:
            raise resource_values.refusal(self.resource, problem.path, f"{problem}.", self.bad) from None
        self._note("added" if before is None else event, after)
        if self.rules.after_write is not None:
            self.rules.after_write(self.context, before, after)

    def _number(self, before: Item | None, after: Item) -> int:
        """Return the VERSION of an item that is written."""
        if self.rules.number is not None:
            return self.rules.number(self.context, before, after)
        return 1 + (resource_values.version_of(self.resource, before.content) if before is not None else 0)

    def put_origin(self, item: Item) -> None:
        """Store which values of an unchanged item a file named."""
        self.store.change(self.access, self.resource, item)

    def refuse_removal(self, item: Item) -> None:
        """Refuse to delete an item."""
        self.rules.require_powers(self.context, item)
        if self.rules.before_delete is not None:
            self.rules.before_delete(self.context, item)

    def _refuse_values_of_others(self, item: Item) -> None:
        """Raises the refusal of a distinct value that another item has."""
        for member in self.resource.members:
            value = value_at(item.content, member.path) if member.distinct else None
            if member.distinct is None or value is None:
                continue
            others = self.store.items(self.access, self.resource)
            if any(other.id != item.id and value_at(other.content, member.path) == value for other in others):
                raise member.distinct.refusal

    def _note(self, event: str, item: Item) -> None:
        """Audit a write, and tell every cache."""
        resource, audit = self.resource, self.context.audit
        if not (self.store.raises_version or self.is_new_tenant):
            tenant_writes.change(self.context.work)
        source = {"source": self.source} if self.source is not None else {}
        if resource.is_singleton:
            audit.record("settings.changed", what=resource.audit or resource.kind, **source)
        else:
            names = resource.audit_names or tuple(member.path[-1] for member in resource.keys)
            ids = dict(zip(names, item.id, strict=True))
            audit.record(f"{resource.audit or resource.kind}.{event}", **ids, **source)
        self.context.services.directory.clear_cache()
