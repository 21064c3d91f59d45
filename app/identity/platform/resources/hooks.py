"""Hooks of a resource, registered by the area that owns its rules.

rules = rules_of(contract.WEBHOOKS)

@rules.before_create
def refuse_unknown_event(context: Context, item: Item) -> None: ...
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypeVar

from app.contract.configuration import TenantSettings
from app.identity.platform import powers
from app.identity.platform.context import Context
from app.identity.platform.powers import Power
from app.identity.platform.resources.items import Item, Store
from app.kit.resource import Resource
from app.kit.resource_values import ItemInput
from app.kit.wire import Wire

OnGiven = Callable[[Context, ItemInput], None]
OnShown = Callable[[Context, Any, dict[str, Any]], None]
OnProblems = Callable[[Any, TenantSettings | None], Iterable[tuple[str, str]]]
OnItem = Callable[[Context, Item], None]
OnChange = Callable[[Context, Item | None, Item], None]
OnPowers = Callable[[Context, Item], Iterable[Power]]
OnWarnings = Callable[[Item], Iterable[str]]
OnApply = Callable[[datetime, Item | None, Item], None]
Act = Callable[[Context, Item, Any], "Item | Wire | None"]
Hook = TypeVar("Hook", bound=Callable[..., Any])


@dataclass
class Rules:
    """The hooks of one resource, each registered by a decorator. Hooks of one name run in the order of their definition.

    given: changes or refuses a request's values before validation.
    shown: changes a response's values, by field name; gets the content as its model.
    problems: yields (key, expected value) for invalid content of requests and configuration files.
    powers: yields what a program needs to write an item (decisions/0315); asked before and after each change.
    before_lock: requests to other systems, which may take time, with the item before (None: it is new) and after the request.
    before_create: completes the new item, or refuses it; the tenant is locked.
    before_update, before_delete: refuse a write; the tenant is locked.
    after_create, after_update, after_delete: run after a write, in its transaction.
    before_apply: completes an item of a configuration file, in place of before_create and before_update.
    warnings: yields what is allowed and risky about an item that a tenant of a configuration file has.
    """

    hooks: dict[str, list[Callable[..., Any]]] = field(default_factory=dict)
    actions: dict[str, Act] = field(default_factory=dict)
    preparations: dict[str, OnItem] = field(default_factory=dict)
    store: Store | None = None
    """The resource's own store, if it does not use the shared table."""

    def given(self, hook: OnGiven) -> OnGiven:
        return self._register("given", hook)

    def shown(self, hook: OnShown) -> OnShown:
        return self._register("shown", hook)

    def problems(self, hook: OnProblems) -> OnProblems:
        return self._register("problems", hook)

    def powers(self, hook: OnPowers) -> OnPowers:
        return self._register("powers", hook)

    def before_lock(self, hook: OnChange) -> OnChange:
        return self._register("before_lock", hook)

    def before_create(self, hook: OnItem) -> OnItem:
        return self._register("before_create", hook)

    def before_update(self, hook: OnChange) -> OnChange:
        return self._register("before_update", hook)

    def before_delete(self, hook: OnItem) -> OnItem:
        return self._register("before_delete", hook)

    def after_create(self, hook: OnItem) -> OnItem:
        return self._register("after_create", hook)

    def after_update(self, hook: OnChange) -> OnChange:
        return self._register("after_update", hook)

    def after_delete(self, hook: OnItem) -> OnItem:
        return self._register("after_delete", hook)

    def before_apply(self, hook: OnApply) -> OnApply:
        return self._register("before_apply", hook)

    def warnings(self, hook: OnWarnings) -> OnWarnings:
        return self._register("warnings", hook)

    def action(self, name: str) -> Callable[[Act], Act]:
        """Return the decorator for the function of an action, which returns the changed item, a response, or nothing."""

        def register(hook: Act) -> Act:
            self.actions[name] = hook
            return hook

        return register

    def preparation(self, name: str) -> Callable[[OnItem], OnItem]:
        """Return the decorator for what an action does before the tenant is locked: requests to other systems, which may take time."""

        def register(hook: OnItem) -> OnItem:
            self.preparations[name] = hook
            return hook

        return register

    def run(self, name: str, *arguments: Any) -> None:
        """Run the hooks of one name."""
        for hook in self.hooks.get(name, ()):
            hook(*arguments)

    def has(self, name: str) -> bool:
        """Return whether there is a hook of this name."""
        return name in self.hooks

    def problems_of(self, content: Any, settings: TenantSettings | None) -> Iterable[tuple[str, str]]:
        """Yield the problems that the hooks find in content."""
        for hook in self.hooks.get("problems", ()):
            yield from hook(content, settings)

    def require_powers(self, context: Context, *items: Item) -> None:
        """Refuse a write to a program that lacks a power of an item before or after it. Raises MachineRefused."""
        if not powers.has_all(context):
            asked = (hook(context, item) for hook in self.hooks.get("powers", ()) for item in items)
            powers.require(context, (power for found in asked for power in found))

    def warnings_of(self, item: Item) -> Iterable[str]:
        """Yield the warnings of the hooks about an item."""
        for hook in self.hooks.get("warnings", ()):
            yield from hook(item)

    def _register(self, name: str, hook: Hook) -> Hook:
        self.hooks.setdefault(name, []).append(hook)
        return hook


_RULES: dict[Resource, Rules] = {}


def rules_of(resource: Resource) -> Rules:
    """Return the rules of a resource."""
    return _RULES.setdefault(resource, Rules())
