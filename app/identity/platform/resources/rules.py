"""The rules of one resource beside its declaration, as functions that its operations and `gatehouse apply` call."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from app.contract.tenants.settings import TenantSettings
from app.identity.platform import powers
from app.identity.platform.context import Context
from app.identity.platform.powers import Power
from app.identity.platform.resources.items import Item, Store
from app.kit.operations.wire import Wire
from app.kit.resources.values import ItemInput

OnItem = Callable[[Context, Item], None]
OnChange = Callable[[Context, Item | None, Item], None]
"""Gets the item as it was, None for a new one, and as it is to be."""
Act = Callable[[Context, Item, Any], Item | Wire | None]
"""Returns the changed item, a response, or nothing."""


@dataclass(frozen=True)
class Rules:
    """What an area adds to a resource; a resource without rules has none of them."""

    given: Callable[[Context, ItemInput], None] | None = None
    """Changes or refuses a request's values before validation."""
    from_file: OnChange | None = None
    """Completes an item of a configuration file before validation: a file may leave out what a request must have."""
    shown: Callable[[Context, Any, dict[str, Any]], None] | None = None
    """Changes a response's values, by field name; gets the content as its model."""
    problems: Callable[[Any, TenantSettings | None], Iterable[tuple[str, str]]] | None = None
    """Yields (key, expected value) for invalid content of requests and configuration files."""
    warnings: Callable[[Item], Iterable[str]] | None = None
    """Yields what is allowed and risky about an item that a tenant of a configuration file has."""
    powers: Callable[[Context, Item], Iterable[Power]] | None = None
    """Yields what a program needs to write an item (decision 0315); asked before and after each change."""
    before_lock: OnChange | None = None
    """Asks other systems, which may take time, for a request."""
    before_write: OnChange | None = None
    """Completes an item, or refuses it; the tenant is locked. It writes nothing that a dry run must not."""
    after_request: OnChange | None = None
    """What a request's write entails elsewhere, in its transaction; a configuration file states all of it itself."""
    before_delete: OnItem | None = None
    """Refuses to delete an item; the tenant is locked."""
    actions: Mapping[str, Act] = field(default_factory=dict)
    actions_before_lock: Mapping[str, OnItem] = field(default_factory=dict)
    """What an action asks of other systems before the tenant is locked."""
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
            powers.require(context, (power for found in required for power in found))


def may_lack_secrets(context: Context) -> bool:
    """Return whether a configuration file is applied: it may leave out secrets, and the item works once a program gives them."""
    return context.operation is None
