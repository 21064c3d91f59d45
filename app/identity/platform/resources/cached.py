"""Reads the items of a resource for the areas that act on them, once for each version of the tenant."""

from __future__ import annotations

from collections.abc import Mapping

from app.identity.platform.context import Context
from app.identity.platform.resources.hooks import rules_of
from app.identity.platform.resources.items import Item, StoreAccess
from app.identity.platform.resources.store import SHARED_TABLE
from app.kit.resource import InSettings, Resource


def items_of(context: Context, resource: Resource) -> Mapping[tuple[str, ...], Item]:
    """Return a resource's items by id, with their secrets. What is kept in the settings is read from there instead.

    A change is seen at once in this process, within 5 seconds elsewhere, as the tenant itself is. Raises TypeError for a resource
    that is kept in the settings.
    """
    if isinstance(resource.backing, InSettings):
        raise TypeError(f"{resource.kind} is kept in the settings: read context.tenant.settings")
    key = (context.tenant.tenant_id, context.tenant.version, resource.kind)
    cached: Mapping[tuple[str, ...], Item] | None = context.services.resource_items.get(key)
    if cached is not None:
        return cached
    access = StoreAccess(context.work, context.services.encryption, context.now)
    store = rules_of(resource).store or SHARED_TABLE
    items = {item.id: item for item in store.items(access, resource)}
    if not context.work.is_writing:  # what may be rolled back is not cached
        context.services.resource_items.put(key, items)
    return items
