"""Which store keeps a resource."""

from __future__ import annotations

from app.identity.administration.resources.settings_store import SettingsStore
from app.identity.platform.context import Context
from app.identity.platform.resources.hooks import rules_of
from app.identity.platform.resources.items import Store, StoreAccess
from app.identity.platform.resources.store import SHARED_TABLE
from app.kit.resource import InSettings, InTable, Resource


def store_of(resource: Resource) -> Store:
    """Return the store; raises LookupError where the area hung none on a resource with a store of its own."""
    if isinstance(resource.backing, InSettings):
        return SettingsStore(resource.backing)
    if isinstance(resource.backing, InTable):
        return SHARED_TABLE
    own = rules_of(resource).store
    if own is None:
        raise LookupError(f"no store was hung on {resource.kind}")
    return own


def access_of(context: Context) -> StoreAccess:
    """Return what the store needs of a request."""
    return StoreAccess(context.work, context.services.encryption, context.now)
