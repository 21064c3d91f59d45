"""Rules of a resource's own, hung on it by the area that owns them.

rules = rules_of(contract.WEBHOOKS)

@rules.before_create
def refuse_unknown_event(context: Context, item: Item) -> None: ...
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from app.contract.configuration import TenantSettings
from app.identity.platform.context import Context
from app.identity.platform.resources.items import Item, Store
from app.kit.resource import Resource
from app.kit.resource_values import Given
from app.kit.wire import Wire

Given_ = Callable[[Context, Given], None]
Shown = Callable[[Context, Any, dict[str, Any]], None]
Problems = Callable[[Any, TenantSettings | None], Iterable[tuple[str, str]]]
OnItem = Callable[[Context, Item], None]
OnChange = Callable[[Context, Item | None, Item], None]
Act = Callable[[Context, Item, Any], "Item | Wire | None"]
Hook = TypeVar("Hook", bound=Callable[..., Any])


@dataclass
class Rules:
    """The hooks of one resource; each is a decorator, and all functions under one name run in the order of their definition.

    given: changes or refuses what a request states, before it is checked.
    shown: changes an answer's values, by field name; gets the content as its model.
    problems: yields (key, what was expected there) for content that is wrong, of requests and configuration files alike.
    before_create, before_update, before_delete: refuse a write, whose tenant is locked.
    after_create, after_update, after_delete: go on after a write, within its transaction.
    """

    hooks: dict[str, list[Callable[..., Any]]] = field(default_factory=dict)
    actions: dict[str, Act] = field(default_factory=dict)
    store: Store | None = None
    """A store of its own."""

    def given(self, hook: Given_) -> Given_:
        return self._hang("given", hook)

    def shown(self, hook: Shown) -> Shown:
        return self._hang("shown", hook)

    def problems(self, hook: Problems) -> Problems:
        return self._hang("problems", hook)

    def before_create(self, hook: OnItem) -> OnItem:
        return self._hang("before_create", hook)

    def before_update(self, hook: OnChange) -> OnChange:
        return self._hang("before_update", hook)

    def before_delete(self, hook: OnItem) -> OnItem:
        return self._hang("before_delete", hook)

    def after_create(self, hook: OnItem) -> OnItem:
        return self._hang("after_create", hook)

    def after_update(self, hook: OnChange) -> OnChange:
        return self._hang("after_update", hook)

    def after_delete(self, hook: OnItem) -> OnItem:
        return self._hang("after_delete", hook)

    def action(self, name: str) -> Callable[[Act], Act]:
        """Return the decorator of the function that does an action: it returns the changed item, an answer, or nothing."""

        def keep(hook: Act) -> Act:
            self.actions[name] = hook
            return hook

        return keep

    def run(self, name: str, *arguments: Any) -> None:
        """Run the hooks of one name."""
        for hook in self.hooks.get(name, ()):
            hook(*arguments)

    def wrong(self, content: Any, settings: TenantSettings | None) -> Iterable[tuple[str, str]]:
        """Yield what the hooks find wrong with content."""
        for hook in self.hooks.get("problems", ()):
            yield from hook(content, settings)

    def _hang(self, name: str, hook: Hook) -> Hook:
        self.hooks.setdefault(name, []).append(hook)
        return hook


_RULES: dict[Resource, Rules] = {}


def rules_of(resource: Resource) -> Rules:
    """Return the rules of a resource."""
    return _RULES.setdefault(resource, Rules())
