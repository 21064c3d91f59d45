"""The rules of one resource beside its declaration, as functions that its operations and `gatehouse apply` call."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from app.contract.tenants.settings import TenantSettings
from app.identity.platform import powers
from app.identity.platform.context import Context
from app.identity.platform.powers import Power
from app.identity.platform.resource_storage.items import Item, Store
from app.kit import randomness
from app.kit.operations.wire import Wire
from app.kit.resources.resource_values import ItemInput

OnItem = Callable[[Context, Item], None]
OnChange = Callable[[Context, Item | None, Item], None]
"""Takes the stored item, or None before a creation, and the item to write."""
Change = tuple[Item | None, Item | None]
"""The stored item, or None before a creation, and the item to write, or None before a deletion."""
Act = Callable[[Context, Item, Any], Item | Wire | None]
"""Runs an action; returns the changed item, a response, or nothing."""


@dataclass(frozen=True)
class Rules:
    """The functions that an area adds to a resource; each is optional."""

    on_input: Callable[[Context, ItemInput], None] | None = None
    """Changes or refuses a request's values before validation."""
    from_file: OnChange | None = None
    """Completes an item of a configuration file before validation: a file may omit values that a request must send."""
    on_output: Callable[[Context, Any, dict[str, Any]], None] | None = None
    """Changes a response's values, by field name; gets the content as its model."""
    problems: Callable[[Any, TenantSettings | None], Iterable[tuple[str, str]]] | None = None
    """Yields (key, expected value) for invalid content of requests and configuration files."""
    warnings: Callable[[Item], Iterable[str]] | None = None
    """Yields a warning for each risky value of an item in a configuration file."""
    powers: Callable[[Context, Item], Iterable[Power]] | None = None
    """Yields the powers that a program needs to write an item (decision 0315); called for the item before and after each change."""
    before_lock: OnChange | None = None
    """Calls other systems for a request, before the tenant is locked; the calls may take time."""
    generate: Callable[[], str] = randomness.token
    """Returns a new value of a field marked ONCE."""
    before_write: OnChange | None = None
    """Completes or refuses an item while the tenant is locked; writes nothing, because a dry run calls it too."""
    together: Callable[[Context, Sequence[Change]], None] | None = None
    """Refuses what the items of a resource come to after all changes of a request or of a configuration file."""
    number: Callable[[Context, Item | None, Item], int] | None = None
    """Returns the VERSION of an item that is written; without it, each write counts one more."""
    after_write: OnChange | None = None
    """Changes the outbox because of a stored item, of a request or of a configuration file, in its transaction."""
    after_request: OnChange | None = None
    """Writes the dependent values of other areas, in the request's transaction; a configuration file states those values itself."""
    before_delete: OnItem | None = None
    """Refuses to delete an item, while the tenant is locked."""
    after_delete: OnItem | None = None
    """Changes the outbox because of a deleted item, in the transaction of its deletion."""
    actions: Mapping[str, Act] = field(default_factory=dict)
    actions_before_lock: Mapping[str, OnItem] = field(default_factory=dict)
    """Calls other systems for an action, before the tenant is locked."""
    store: Store | None = None
    """The resource's own store, if it does not use the shared table."""

    def problems_of(self, content: Any, settings: TenantSettings | None) -> Iterable[tuple[str, str]]:
        """Return the problems of content."""
        return self.problems(content, settings) if self.problems is not None else ()

    def warnings_of(self, item: Item) -> Iterable[str]:
        """Return the warnings about an item."""
        return self.warnings(item) if self.warnings is not None else ()

    def require_powers(self, context: Context, *items: Item) -> None:
        """Refuse a write to a program that lacks a power of an item before or after it. Raises MachineRefused."""
        if self.powers is not None and not powers.has_all(context):
            required = [self.powers(context, item) for item in items]
            powers.require_powers(context, (power for found in required for power in found))


def may_lack_secrets(context: Context) -> bool:
    """Return whether a configuration file is applied: it may omit secrets, which a program sets later."""
    return context.operation is None
