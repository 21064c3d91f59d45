"""The rules of custom objects as a resource: their ids, and when they were created and changed."""

from __future__ import annotations

from app.contract import custom_object_types as contract
from app.identity.platform.context import Context
from app.identity.platform.resources.hooks import rules_of
from app.identity.platform.resources.items import Item
from app.kit import randomness
from app.kit.clock import iso

rules = rules_of(contract.TYPES)


@rules.before_create
def complete(context: Context, item: Item) -> None:
    """Give a new custom object its id."""
    item.content.setdefault("id", randomness.guid())
    now = iso(context.now)
    item.content.update(created_at=now, modified_at=now)


@rules.before_update
def note_change(context: Context, before: Item | None, after: Item) -> None:  # noqa: ARG001 - the hook's signature
    after.content["modified_at"] = iso(context.now)
