"""The rules of custom objects as a resource: their ids, and when they were created and changed."""

from __future__ import annotations

from typing import Final

from app.contract.custom_objects import custom_object_type_operations
from app.identity.platform.context import Context
from app.identity.platform.resource_storage.items import Item
from app.identity.platform.resource_storage.rules import Rules
from app.kit import randomness
from app.kit.clock import iso


def complete(context: Context, before: Item | None, after: Item) -> None:
    """Give a new custom object its id, and each its times."""
    now = iso(context.now)
    after.content["modified_at"] = now
    if before is None:
        after.content.setdefault("id", randomness.guid())
        after.content["created_at"] = now


RULES: Final = {
    custom_object_type_operations.TYPES: Rules(before_write=complete),
}
